import { textInput } from './codec-grammar.ts';
import type { Dice } from './dice.ts';

/** One reader under test. */
export interface CodecTarget {
  readonly name: string;
  /** How many inputs it gets, relative to other targets: readers that check signatures are slow and get fewer. */
  readonly weight: number;
  readonly make: (dice: Dice) => string | Uint8Array;
  /**
   * Reads the input. Returns the two values that must be equal, before and after writing and reading again; null when
   * the reader finds the input invalid.
   */
  readonly read: (input: never) => readonly [unknown, unknown] | null;
}

/** Makes inputs from seeds with {@link textInput}. */
export const texts =
  (seeds: readonly string[], grammar: (dice: Dice, seed: string) => string) => (dice: Dice) =>
    textInput(dice, seeds, grammar);

/** Creates a target whose reader gets the inputs of its maker. */
export function target<Input extends string | Uint8Array>(
  name: string,
  weight: number,
  make: (dice: Dice) => Input,
  read: (input: Input) => readonly [unknown, unknown] | null,
): CodecTarget {
  return { name, weight, make, read };
}
