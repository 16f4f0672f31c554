import { textInput } from './codec-grammar.ts';
import type { Dice } from './dice.ts';

/** One reader under test. */
export interface CodecTarget {
  readonly name: string;
  /** Share of the inputs compared with the other targets'; readers that check signatures are slow. */
  readonly weight: number;
  readonly make: (dice: Dice) => string | Uint8Array;
  /** Reads the input. Answers what is stable about it as [first, again], or null when the reader turned it down. */
  readonly read: (input: never) => readonly [unknown, unknown] | null;
}

/** Inputs made from seeds by {@link textInput}. */
export const texts =
  (seeds: readonly string[], grammar: (dice: Dice, seed: string) => string) => (dice: Dice) =>
    textInput(dice, seeds, grammar);

/** A target whose reader takes what its maker makes. */
export function target<Input extends string | Uint8Array>(
  name: string,
  weight: number,
  make: (dice: Dice) => Input,
  read: (input: Input) => readonly [unknown, unknown] | null,
): CodecTarget {
  return { name, weight, make, read };
}
