import { formatAmountMsat } from '../../model/amount.ts';
import { rejected } from '../../model/errors.ts';
import type { SendWords } from '../../model/payment.ts';

interface AmountSides {
  /** The amount that the method asks for, in millisatoshis; null when the payer chooses. */
  readonly askedMsat: bigint | null;
  /** The amount that the caller gives; null when the caller leaves it out. */
  readonly givenMsat: bigint | null;
  /** The name of the request's field for the amount. */
  readonly field: string;
}

/** Returns the field in which the caller named the amount: its price, or the request's field for one. */
export function amountField({ price }: SendWords, field = 'amount'): string {
  return price ? 'price' : field;
}

/**
 * Returns the amount to pay, in millisatoshis. Throws error 7 for `field` when the method and the caller give different
 * amounts, or neither gives one.
 */
export function agreedAmountMsat({ askedMsat, givenMsat, field }: AmountSides): bigint {
  if (askedMsat === null) {
    if (givenMsat !== null) return givenMsat;
    throw rejected(field, 'is required, since the payee leaves it open: give it in satoshis');
  }
  if (givenMsat === null || givenMsat === askedMsat) return askedMsat;
  throw rejected(
    field,
    `the payee asks for ${formatAmountMsat(askedMsat)} sats: leave the amount out or give the same`,
  );
}

/** Throws error 7 for `field` when the amount is beyond the limits of the receiver or service, in millisatoshis. */
export function requireWithin(
  amountMsat: bigint,
  [leastMsat, mostMsat]: readonly [bigint, bigint],
  whose: 'receiver' | 'service',
  field: string,
): void {
  if (amountMsat >= leastMsat && amountMsat <= mostMsat) return;
  const [least, most] = [leastMsat, mostMsat].map(formatAmountMsat);
  throw rejected(field, `must be from ${least} to ${most} sats, the limits of the ${whose}`);
}
