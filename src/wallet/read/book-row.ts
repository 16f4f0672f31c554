import { parseAmountMsat } from '../../model/amount.ts';
import type { PaymentJson } from '../../model/payment.ts';

/** A row of the books that is no payment (docs/decisions.md 192). */
export interface Notice {
  readonly kind: 'balance_forward' | 'difference' | 'unchecked' | 'incomplete';
  readonly atMs: number;
  /** Why the row is there, in words. */
  readonly reason: string;
}

/** A row of the books: a completed payment or a notice, what it changes, and the sum of all rows up to it. */
export interface BookRow {
  readonly entry: PaymentJson | Notice;
  readonly changeMsat: bigint;
  readonly balanceMsat: bigint;
}

/**
 * What a completed payment changed, in millisatoshis: an inbound amount is net of its fees, an outbound one is without
 * them, and of a row for information only its fees have left the wallet.
 */
export function changeOf({ direction, amount, fees }: PaymentJson): bigint {
  const amountMsat = parseAmountMsat(amount ?? '0') ?? 0n;
  const feesMsat = parseAmountMsat(fees) ?? 0n;
  if (direction === 'inbound') return amountMsat;
  return direction === 'info' ? -feesMsat : -amountMsat - feesMsat;
}
