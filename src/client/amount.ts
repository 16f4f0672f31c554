declare const SATS: unique symbol;

/**
 * An amount in satoshis, as the sidecar writes it: a string such as `'1000'` or `'0.5'`. Its type hides that it is a
 * string, because adding two strings writes one behind the other: `'10' + '5'` would be 105 sats. Print it as
 * `${amount}`; calculate and compare with {@link toMsat} and {@link fromMsat}.
 */
export interface Amount {
  readonly [SATS]: true;
}

/** An amount of a request, in satoshis: an `Amount`, a string with up to three decimals, or a whole number. */
export type Sats = Amount | string | number;

const AMOUNT = /^(\d{1,16})(?:\.(\d{1,3}))?$/;
const MSAT_PER_SAT = 1000n;
/** 21 million BTC. */
const MAX_MSAT = 21_000_000n * 100_000_000n * MSAT_PER_SAT;

/** Returns an amount in millisatoshis. Throws a `RangeError` for what is no amount. */
export function toMsat(amount: Sats): bigint {
  const isInexact = typeof amount === 'number' && !Number.isSafeInteger(amount);
  const [, whole, decimals = ''] = AMOUNT.exec(isInexact ? '' : String(amount)) ?? [];
  if (whole !== undefined) {
    const amountMsat = BigInt(whole) * MSAT_PER_SAT + BigInt(decimals.padEnd(3, '0'));
    if (amountMsat <= MAX_MSAT) return amountMsat;
  }
  throw new RangeError(
    `${String(amount)} is not an amount: give satoshis with up to three decimals, such as '1000' or '0.5', at most 21 million BTC.`,
  );
}

/**
 * Returns millisatoshis as an amount, in the form that the sidecar writes. Throws a `RangeError` for what is below zero
 * or above 21 million BTC.
 */
export function fromMsat(amountMsat: bigint): Amount {
  if (amountMsat < 0n || amountMsat > MAX_MSAT) {
    throw new RangeError(
      `${amountMsat} msat are not an amount: it must be from 0 to 21 million BTC.`,
    );
  }
  const decimals = String(amountMsat % MSAT_PER_SAT).padStart(3, '0');
  const text = `${amountMsat / MSAT_PER_SAT}.${decimals}`.replace(/\.?0+$/, '');
  return text as unknown as Amount;
}
