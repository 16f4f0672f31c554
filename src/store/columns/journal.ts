import { storedPayment } from '../../model/description.ts';
import { encodePayment, type Payment } from '../../model/payment.ts';
import type { PaymentIndex } from '../../model/payment-index.ts';
import type { JournalRow } from '../ports.ts';
import { HIDDEN } from '../signed-tables.ts';

/** The columns of a row of the journal that are signed, the same in both engines. */
export interface JournalColumns {
  readonly wallet: string;
  readonly idx: PaymentIndex;
  readonly updated_at: number;
  readonly status: string;
  readonly json: string;
  readonly attempt: number | null;
  readonly after_attempt: number | null;
}

/** Returns the columns of a row. Its payment has the `updated_at` that the row gets, unless it is hidden. */
export function columnsOfJournal(
  wallet: string,
  { payment, attempt, afterAttempt, isHidden = false }: JournalRow,
): JournalColumns {
  return {
    wallet,
    idx: payment.index,
    updated_at: isHidden ? HIDDEN : payment.updatedAtMs,
    status: payment.status,
    json: JSON.stringify(encodePayment(payment)),
    attempt,
    after_attempt: afterAttempt,
  };
}

/** Returns the payment of a row. */
export function paymentOf({ json }: JournalColumns): Payment {
  return storedPayment(json);
}

/** Returns the row of these columns. */
export function journalRowOf(columns: JournalColumns): JournalRow {
  return {
    payment: paymentOf(columns),
    attempt: columns.attempt,
    afterAttempt: columns.after_attempt,
    isHidden: columns.updated_at < 0,
  };
}
