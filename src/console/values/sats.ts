import { type Amount, toMsat } from '../../client/index.ts';

const MSAT_PER_SAT = 1000n;

/** Returns an amount in satoshis for people, such as `1,234.5`. Nothing is rounded. */
export function satsOfMsat(amountMsat: bigint): string {
  const sign = amountMsat < 0n ? '−' : '';
  const absolute = amountMsat < 0n ? -amountMsat : amountMsat;
  const whole = String(absolute / MSAT_PER_SAT).replace(/\B(?=(\d{3})+$)/g, ',');
  const decimals = String(absolute % MSAT_PER_SAT)
    .padStart(3, '0')
    .replace(/0+$/, '');
  return `${sign}${whole}${decimals === '' ? '' : `.${decimals}`}`;
}

/** Returns an amount of the API for people, such as `1,234.5`. */
export function satsOf(amount: Amount): string {
  return satsOfMsat(toMsat(amount));
}

/**
 * Reads what a person typed as satoshis: digits, with commas, spaces or apostrophes between them, and at most three
 * decimals. Returns millisatoshis; null for what is no amount, or none above zero.
 */
export function typedMsat(text: string): bigint | null {
  const plain = ungrouped(text);
  if (!/^\d{1,16}(\.\d{1,3})?$/.test(plain)) return null;
  try {
    const amountMsat = toMsat(plain);
    return amountMsat > 0n ? amountMsat : null;
  } catch {
    return null;
  }
}

/** Returns a typed number without what stands between groups of three digits. */
export function ungrouped(typed: string): string {
  return typed.trim().replace(/(?<=\d)[ ,'’\u202f](?=\d{3}(\D|$))/g, '');
}

/** Reads what a person typed as satoshis like {@link typedMsat}, where zero means something too. */
export function typedMsatOrZero(text: string): bigint | null {
  return /^\s*0+(\.0*)?\s*$/.test(text) ? 0n : typedMsat(text);
}

/** Returns how many percent of a whole a part is, exact to a tenth, from 0 to 100. A whole of nothing has no parts. */
export function percentOf(partMsat: bigint, wholeMsat: bigint): number {
  if (wholeMsat <= 0n) return 0;
  const share = Number((partMsat * 1000n) / wholeMsat) / 10;
  return Math.min(100, Math.max(0, share));
}
