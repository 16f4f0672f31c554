import type { SQL } from 'bun';
import { idOf } from '../../model/payment.ts';
import { idOfIndex, type PaymentId, type PaymentIndex } from '../../model/payment-index.ts';
import type { JournalRow, MatchCandidates, ObservedPayment } from '../ports.ts';
import type { JournalRows } from './journal.ts';
import type { SpendRows } from './spends.ts';

/**
 * What is stored of the payments that a batch of observations is about: read once, and kept up with what is written.
 */
export interface ObservedRows {
  candidates(seen: ObservedPayment): MatchCandidates;
  /** Whether the journal has a row with that index, which is of a payment of the batch. */
  isTaken(index: PaymentIndex): boolean;
  /** Whether the payment may have a watch of its own. One that has none gets none in the batch. */
  isWatched(index: PaymentIndex): boolean;
  /** Whether the payment has a spend that may not say yet what the node has shown. */
  isUnshown(index: PaymentIndex): boolean;
  /** Called with each row that is written. */
  put(row: JournalRow): void;
  /** Called with the payment whose spend says that the node has shown this attempt of it. */
  shown(index: PaymentIndex): void;
  /** Called with the payment whose spend and watches are removed. */
  end(index: PaymentIndex): void;
}

/** Reads rows of the journal, where every row of a payment is of its id. */
export async function observedInJournal(
  tx: SQL,
  walletId: string,
  observations: readonly ObservedPayment[],
  journal: JournalRows,
): Promise<ObservedRows> {
  const byId = new Map<PaymentId, JournalRow[]>();
  const watched = new Set<PaymentIndex>();
  const unshown = new Set<PaymentIndex>();
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
  for (const { row, isWatched, isUnshown } of await journal.ofIds(tx, walletId, ids)) {
    put(row);
    if (isWatched) watched.add(row.payment.index);
    if (isUnshown) unshown.add(row.payment.index);
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
        latest: rows.findLast((row) => row.payment.status !== 'failed') ?? rows.at(-1) ?? null,
      };
    },
    isTaken: (index) => at(index) !== null,
    isWatched: (index) => watched.has(index),
    isUnshown: (index) => unshown.has(index),
    put,
    shown: (index) => void unshown.delete(index),
    end(index) {
      watched.delete(index);
      unshown.delete(index);
    },
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
    isWatched: (index) => byIndex.has(index),
    isUnshown: (index) => byIndex.has(index),
    put: () => undefined,
    shown: () => undefined,
    end: (index) => void byIndex.delete(index),
  };
}
