import { isOlderJson, storedPayment } from '../../model/description.ts';
import { encodePayment, type Payment } from '../../model/payment.ts';
import type { PaymentIndex } from '../../model/payment-index.ts';
import { searchWordsOf } from '../../model/payment-search.ts';

/** The columns of a cached payment that are signed, the same in both engines. */
export interface CachedColumns {
  readonly wallet: string;
  readonly idx: PaymentIndex;
  readonly status: Payment['status'];
  readonly direction: string;
  readonly rail: string;
  readonly json: string;
}

/** Returns the JSON of a cached payment with every field, also where an older version wrote it. */
export function wholeJsonOf({ json }: CachedColumns): string {
  return isOlderJson(json) ? JSON.stringify(encodePayment(storedPayment(json))) : json;
}

/** Returns the words by which a cached payment is found; none for a row that is damaged, which no list shows. */
export function searchWordsIn(json: string): string {
  try {
    return searchWordsOf(storedPayment(json));
  } catch {
    return '';
  }
}

/** Returns the columns of a payment. What is refunded of it is not among them: it changes without the payment. */
export function columnsOfCached(wallet: string, payment: Payment): CachedColumns {
  const { index: idx, status, direction, rail } = payment;
  const json = JSON.stringify(encodePayment({ ...payment, refundedMsat: null }));
  return { wallet, idx, status, direction, rail, json };
}
