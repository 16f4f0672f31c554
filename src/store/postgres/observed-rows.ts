import { idOf } from '../../model/payment.ts';
import { idOfIndex, type PaymentId, type PaymentIndex } from '../../model/payment-index.ts';
import { type JournalColumns, journalRowOf } from '../columns/journal.ts';
import type { JournalRow, ObservedPayment, Spend } from '../ports.ts';
import { ID } from '../rows/journal.ts';
import { candidatesIn, type ObservedRows, type ObservedRowsOf } from '../rows/observed-rows.ts';
import type { RawRow, Rows } from '../rows/rows.ts';
import { type SpendRows, selectSpends } from '../rows/spends.ts';
import { done, type Steps } from '../rows/steps.ts';
import { tableOf } from '../rows/table.ts';
import { SIGNED } from '../signed-tables.ts';

/** Returns how rows of observations are read: all of a batch by one statement, since each takes a way to the server. */
export function postgresObserved(
  rows: Rows,
  { spends }: { readonly spends: SpendRows },
): ObservedRowsOf {
  const { read } = tableOf<JournalColumns>(rows, SIGNED.journal);
  // In this form each id is looked up in the index. With `= ANY` PostgreSQL reads all rows of the wallet by a plan that
  // it made when the table was small, and otherwise plans anew each time.
  const ofIds = rows.prepare<FoundRow>(
    `SELECT found.* FROM jsonb_array_elements_text(CAST(? AS TEXT)::jsonb) AS wanted (id)
     CROSS JOIN LATERAL (
       SELECT j.*,
         EXISTS (SELECT 1 FROM wallet_sidecar.spend s WHERE s.wallet = j.wallet AND s.idx = j.idx
           AND (s.state <> 'known' OR s.attempt IS NULL)) AS unshown,
         EXISTS (SELECT 1 FROM wallet_sidecar.watch w
           WHERE w.wallet = j.wallet AND w.kind IN ('payment', 'held') AND w.key = j.idx) AS watched
       FROM wallet_sidecar.journal j WHERE wallet = ? AND ${ID} = wanted.id OFFSET 0) found`,
  );
  const ofIndexes = selectSpends(
    rows,
    'WHERE wallet = ? AND idx = ANY(ARRAY(SELECT jsonb_array_elements_text(CAST(? AS TEXT)::jsonb)))',
  );
  return function* (walletId, observations, journaled) {
    const wanted = (of: (payment: ObservedPayment['payment']) => string) =>
      JSON.stringify([...new Set(observations.map(({ payment }) => of(payment)))]);
    if (!journaled) {
      const indexes = wanted(({ index }) => index);
      return observedInSpends(yield* ofIndexes.all(walletId, indexes));
    }
    const found = yield* ofIds.all(wanted(idOf), walletId);
    const rowsFound = found.flatMap((raw) => {
      const columns = read(raw);
      if (columns === null) return [];
      return [{ row: journalRowOf(columns), isWatched: raw.watched, isUnshown: raw.unshown }];
    });
    return observedInJournal(rowsFound, (index) => spends.get(walletId, index));
  };
}

type FoundRow = RawRow & { readonly watched: boolean; readonly unshown: boolean };

/** A row, whether its payment has a watch of its own, and whether it has a spend that does not say what is known. */
interface Found {
  readonly row: JournalRow;
  readonly isWatched: boolean;
  readonly isUnshown: boolean;
}

/** A row, with what tells it apart from others of its id. */
type Kept = Pick<JournalColumns, 'idx' | 'status' | 'attempt'> & { readonly row: JournalRow };

/** Keeps rows of the journal, where every row of a payment is of its id. */
function observedInJournal(
  found: readonly Found[],
  spendOf: (index: PaymentIndex) => Steps<Spend | null>,
): ObservedRows {
  const byId = new Map<PaymentId, Kept[]>();
  const watched = new Set<PaymentIndex>();
  const unshown = new Set<PaymentIndex>();
  const put = (row: JournalRow) => {
    const { index: idx, status } = row.payment;
    const others = byId.get(idOfIndex(idx))?.filter((other) => other.idx !== idx) ?? [];
    const rows = [...others, { idx, status, attempt: row.attempt, row }];
    byId.set(
      idOfIndex(idx),
      rows.sort((a, b) => (a.idx < b.idx ? -1 : 1)),
    );
  };
  for (const { row, isWatched, isUnshown } of found) {
    put(row);
    if (isWatched) watched.add(row.payment.index);
    if (isUnshown) unshown.add(row.payment.index);
  }
  return {
    candidates: (seen) => candidatesIn(byId.get(idOf(seen.payment)) ?? [], seen, ({ row }) => row),
    isTaken: (index) => byId.get(idOfIndex(index))?.some(({ idx }) => idx === index) ?? false,
    isWatched: (index) => watched.has(index),
    unshown: (index) => (unshown.has(index) ? spendOf(index) : null),
    put,
    shown: (index) => void unshown.delete(index),
    end(index) {
      watched.delete(index);
      unshown.delete(index);
    },
  };
}

/** Keeps spends, for a node that keeps the history itself. */
function observedInSpends(found: readonly Spend[]): ObservedRows {
  const byIndex = new Map(found.map((spend) => [spend.payment.index, spend]));
  return {
    candidates: ({ payment }) => ({
      sameIndex: byIndex.get(payment.index) ?? null,
      sameAttempt: null,
      latest: null,
    }),
    isTaken: () => false,
    isWatched: (index) => byIndex.has(index),
    unshown(index) {
      const spend = byIndex.get(index);
      return spend === undefined ? null : done(spend);
    },
    put: () => undefined,
    shown: () => undefined,
    end: (index) => void byIndex.delete(index),
  };
}
