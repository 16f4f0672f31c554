import type { Payment } from '../model/payment.ts';
import type { JournalRow } from './ports.ts';

/** The payment of a row that readers were not shown yet, which an observation shows them, changed or not. */
export function hiddenPayment(row: JournalRow | null): Payment | null {
  return row?.isHidden ? row.payment : null;
}
