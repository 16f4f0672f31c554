/** Millionths of a millionth of a bitcoin, in which BOLT 11 counts, in a millisatoshi. */
export const PICO_PER_MSAT = 10n;

/** The units of an amount with the letter that follows it, the largest first (BOLT 11, Human-Readable Part). */
export const AMOUNT_UNITS: readonly (readonly [pico: bigint, letter: string])[] = [
  [1_000_000_000_000n, ''],
  [1_000_000_000n, 'm'],
  [1_000_000n, 'u'],
  [1_000n, 'n'],
  [1n, 'p'],
];
