import { CodecError } from '../codec-error.ts';

/** The even feature bits that this program supports: those that BOLT 9 allows in field `9`. */
const UNDERSTOOD: ReadonlySet<number> = new Set([8, 14, 16, 24, 48]);
/** What people call features that are not supported, by their even bits. */
const NAMES: ReadonlyMap<number, string> = new Map([[30, 'AMP']]);
/** Features and the one that each depends on, by their even bits: basic_mpp needs payment_secret (BOLT 9). */
const DEPENDENCIES: readonly (readonly [feature: number, needs: number])[] = [[16, 14]];

/**
 * Reads field `9`. Returns the bits that are set. Throws CodecError('bolt11') for a required feature that is not
 * supported, and for a feature without the one that it depends on (BOLT 11, Feature Bits).
 */
export function readFeatures(words: readonly number[]): ReadonlySet<number> {
  const bits = new Set<number>();
  words.toReversed().forEach((word, index) => {
    for (let bit = 0; bit < 5; bit++) if ((word >> bit) & 1) bits.add(index * 5 + bit);
  });
  for (const bit of bits) {
    if (bit % 2 === 0 && !UNDERSTOOD.has(bit)) {
      const name = NAMES.get(bit);
      const feature = name === undefined ? `feature ${bit}` : `${name} (feature ${bit})`;
      invalid(`requires ${feature}, which is not supported`);
    }
  }
  const offers = (feature: number) => bits.has(feature) || bits.has(feature + 1);
  for (const [feature, needs] of DEPENDENCIES) {
    if (offers(feature) && !offers(needs))
      invalid(`has feature ${feature} without feature ${needs}`);
  }
  return bits;
}

/** Returns the words of field `9` for the bits to set: as few as needed, and none when there are no bits. */
export function featureWords(bits: readonly number[]): number[] {
  const words: number[] = new Array(Math.ceil((Math.max(-1, ...bits) + 1) / 5)).fill(0);
  for (const bit of bits) {
    const at = words.length - 1 - Math.floor(bit / 5);
    words[at] = (words[at] ?? 0) | (1 << (bit % 5));
  }
  return words;
}

function invalid(rule: string): never {
  throw new CodecError(
    'bolt11',
    `The invoice cannot be paid: it ${rule}; ask the receiver for a simpler one.`,
  );
}
