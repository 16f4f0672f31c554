import { randomFrom } from '../tests/support/random.ts';

/** Repeatable choices: the same seed and round give the same ones. */
export interface Dice {
  /** A whole number from 0 up to, not including, `count`. */
  below(count: number): number;
  /** True for `share` (0 to 1) of all calls. */
  chance(share: number): boolean;
  /** One of a list that is not empty. */
  pick<T>(list: readonly T[]): T;
  bytes(length: number): Uint8Array;
}

/** Returns the choices for one input of a run. They depend on no other input, so that it can be made again alone. */
export function diceOf(seed: number, round: number): Dice {
  const next = randomFrom(
    Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(round + 1, 0xc2b2ae35),
  );
  const below = (count: number) => Math.floor(next() * count);
  return {
    below,
    chance: (share) => next() < share,
    pick<T>(list: readonly T[]): T {
      const index = below(list.length);
      if (list.length === 0) throw new RangeError('nothing to pick from');
      return list[index] as T;
    },
    bytes: (length) => Uint8Array.from({ length }, () => below(256)),
  };
}
