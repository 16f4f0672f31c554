import type { PaymentIndex } from '../../model/payment-index.ts';
import type { JournalColumns } from '../columns/journal.ts';
import type { JournalRow, MatchCandidates, ObservedPayment, Spend } from '../ports.ts';
import { latestOf } from './journal.ts';
import type { Steps } from './steps.ts';

/**
 * What is stored of the payments that a batch of observations is about. SQLite reads it when it is asked for;
 * PostgreSQL reads it once, and keeps it up with what is written.
 */
export interface ObservedRows {
  candidates(seen: ObservedPayment): MatchCandidates;
  /** Whether the journal has a row with that index, which is of a payment of the batch. */
  isTaken(index: PaymentIndex): boolean;
  /** Whether the payment may have a watch of its own. One that has none gets none in the batch. */
  isWatched(index: PaymentIndex): boolean;
  /** The payment's spend, unless it is known to have none, or one that says what the node has shown. */
  unshown(index: PaymentIndex): Steps<Spend | null> | null;
  /** Called with each row that is written. */
  put(row: JournalRow): void;
  /** Called with the payment whose spend says that the node has shown this attempt of it. */
  shown(index: PaymentIndex): void;
  /** Called with the payment whose spend and watches are removed. */
  end(index: PaymentIndex): void;
}

/**
 * What may match an observation, of all rows of its payment's id, oldest first. `read` is called for what is looked at.
 */
export function candidatesIn<Row extends Pick<JournalColumns, 'idx' | 'status' | 'attempt'>>(
  rows: readonly Row[],
  { payment: { index }, attempt }: ObservedPayment,
  read: (row: Row) => JournalRow,
): MatchCandidates {
  const readOne = (row: Row | null | undefined) => (row ? read(row) : null);
  return {
    get sameIndex() {
      return readOne(rows.find(({ idx }) => idx === index));
    },
    get sameAttempt() {
      return readOne(attempt === null ? null : rows.find((row) => row.attempt === attempt));
    },
    get latest() {
      return readOne(latestOf(rows));
    },
  };
}

/** Returns the rows for a batch, from the journal, or from the spends for a node that keeps the history itself. */
export type ObservedRowsOf = (
  walletId: string,
  observations: readonly ObservedPayment[],
  journaled: boolean,
) => Steps<ObservedRows>;
