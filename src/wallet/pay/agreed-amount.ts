import { formatAmountMsat } from '../../model/amount.ts';
import { rejected } from '../../model/errors.ts';

interface AmountSides {
  /** What the method itself asks for; null where the payer chooses. */
  readonly askedMsat: bigint | null;
  /** What the caller gives; null where the caller leaves it out. */
  readonly givenMsat: bigint | null;
  /** The caller's own name of the field that gives it. */
  readonly field: string;
}

/** The amount on which a payment method and the caller agree. Error 7 where they do not, or where neither names one. */
export function agreedAmountMsat({ askedMsat, givenMsat, field }: AmountSides): bigint {
  if (askedMsat === null) {
    if (givenMsat !== null) return givenMsat;
    throw rejected(field, 'is required, since what is paid names no amount: give it in satoshis');
  }
  if (givenMsat === null || givenMsat === askedMsat) return askedMsat;
  throw rejected(
    field,
    `what is paid asks for ${formatAmountMsat(askedMsat)} sats: leave the amount out or give the same`,
  );
}
