const ALPHABET = 'ybndrfg8ejkmcpqxot1uwisza345h769';

/**
 * Decodes z-base-32 without padding; leftover bits that make no whole byte must be zero. Throws RangeError for invalid
 * input.
 */
export function decodeZbase32(text: string): Uint8Array {
  const bytes: number[] = [];
  let value = 0;
  let bits = 0;
  for (const character of text) {
    const digit = ALPHABET.indexOf(character);
    if (digit < 0) throw new RangeError('not z-base-32');
    value = (value << 5) | digit;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push(value >> bits);
    value &= (1 << bits) - 1;
  }
  if (value !== 0 || bits >= 5) throw new RangeError('not z-base-32');
  return Uint8Array.from(bytes);
}
