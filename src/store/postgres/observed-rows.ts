import type { SQL } from 'bun';
import { idOf } from '../../model/payment.ts';
import { idOfIndex, type PaymentId, type PaymentIndex } from '../../model/payment-index.ts';
import type { JournalRow, MatchCandidates, ObservedPayment } from '../ports.ts';
import { journalRows } from './journal.ts';
import type { SpendRows } from './spends.ts';

/**
 * What is stored of the payments that a batch of observations is about: read once, and kept up with what is written.
 */
export interface ObservedRows {
  candidates(seen: ObservedPayment): MatchCandidates;
  /** Whether the journal has a row with that index, which is of a payment of the batch. */
  isTaken(index: PaymentIndex): boolean;
  /** Whether the payment may have a spend, or a watch of its own. One that has neither gets none in the batch. */
  isOpen(index: PaymentIndex): boolean;
  /** Called with each row that is written. */
  put(row: JournalRow): void;
  /** Called with the payment whose spend is removed. */
  removeSpend(index: PaymentIndex): void;
}

/** Reads rows of the journal, where every row of a payment is of its id. */
export async function observedInJournal(
  tx: SQL,
  walletId: string,
  observations: readonly ObservedPayment[],
): Promise<ObservedRows> {
  const byId = new Map<PaymentId, JournalRow[]>();
  const open = new Set<PaymentIndex>();
  const put = (row: JournalRow) => {
    const { index } = row.payment;
    const others = byId.get(idOfIndex(index))?.filter(({ payment }) => payment.index !== index);
    const rows = [...(others ?? []), row];
    byId.set(
      idOfIndex(index),
      rows.sort((a, b) => (a.payment.index < b.payment.index ? -1 : 1)),
    );
  };
  const ids = [...new Set(observations.map(({ payment }) => idOf(payment)))];
  for (const { row, isOpen } of await journalRows.ofIds(tx, walletId, ids)) {
    put(row);
    if (isOpen) open.add(row.payment.index);
  }
  const at = (index: PaymentIndex) =>
    byId.get(idOfIndex(index))?.find(({ payment }) => payment.index === index) ?? null;
  return {
    candidates({ payment, attempt }) {
      const rows = byId.get(idOf(payment)) ?? [];
      const sameAttempt = attempt === null ? null : rows.find((row) => row.attempt === attempt);
      return {
        sameIndex: at(payment.index),
        sameAttempt: sameAttempt ?? null,
        latest: rows.at(-1) ?? null,
      };
    },
    isTaken: (index) => at(index) !== null,
    isOpen: (index) => open.has(index),
    put,
    removeSpend: () => undefined,
  };
}

/** Reads spends, for a node that keeps the history itself. */
export async function observedInSpends(
  tx: SQL,
  walletId: string,
  observations: readonly ObservedPayment[],
  spends: SpendRows,
): Promise<ObservedRows> {
  const indexes = [...new Set(observations.map(({ payment }) => payment.index))];
  const found = await spends.ofIndexes(tx, walletId, indexes);
  const byIndex = new Map(found.map((spend) => [spend.payment.index, spend]));
  return {
    candidates: ({ payment }) => ({
      sameIndex: byIndex.get(payment.index) ?? null,
      sameAttempt: null,
      latest: null,
    }),
    isTaken: () => false,
    isOpen: (index) => byIndex.has(index),
    put: () => undefined,
    removeSpend: (index) => void byIndex.delete(index),
  };
}
