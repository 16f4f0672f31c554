import type { Database } from 'bun:sqlite';
import { idOf, isFinal, type Payment } from '../../model/payment.ts';
import { hiddenPayment } from '../hidden-payment.ts';
import type {
  GaveWay,
  JournalRow,
  MatchCandidates,
  ObservationRules,
  ObservationStore,
  ObservedPayment,
} from '../ports.ts';
import type { RowSigner } from '../row-signer.ts';
import { SIGNED } from '../signed-tables.ts';
import type { FetchedInvoiceRows } from './fetched-invoices.ts';
import type { IdempotencyRows } from './idempotency.ts';
import type { JournalRows } from './journal.ts';
import type { NameInvoiceRows } from './names.ts';
import type { SpendingRows } from './spending.ts';
import type { SpendRows } from './spends.ts';
import type { WatchRows } from './watches.ts';
import type { WebhookEndpointRows } from './webhook-endpoints.ts';
import type { WriteQueue } from './write-queue.ts';

/** The tables that an observation's transaction touches. */
interface ObservationParts {
  readonly journal: JournalRows;
  readonly spends: SpendRows;
  readonly fetched: FetchedInvoiceRows;
  readonly watches: WatchRows;
  readonly spending: SpendingRows;
  readonly nameInvoices: NameInvoiceRows;
  readonly endpoints: WebhookEndpointRows;
  readonly keys: IdempotencyRows;
  readonly signer: RowSigner;
}

/** Returns the {@link ObservationStore} over SQLite. */
export function sqliteObservations(
  db: Database,
  queue: WriteQueue,
  parts: ObservationParts,
): ObservationStore {
  const { journal, spends, fetched, watches, spending, nameInvoices, endpoints, keys, signer } =
    parts;
  const readCursor = db.prepare<{ cursor: string | null }, [string]>(
    'SELECT cursor FROM feed_cursor WHERE wallet = ?',
  );
  const startCursor = db.prepare(
    'INSERT INTO feed_cursor (wallet, cursor) VALUES (?, ?) ON CONFLICT DO NOTHING',
  );
  const moveCursor = db.prepare(
    `INSERT INTO feed_cursor (wallet, cursor) VALUES (?, ?)
     ON CONFLICT (wallet) DO UPDATE SET cursor = excluded.cursor`,
  );
  const findDelivery = db.prepare<{ seq: number }, [string]>(
    'SELECT seq FROM delivery WHERE id = ? LIMIT 1',
  );
  const insertDelivery = db.prepare(
    `INSERT INTO delivery (id, endpoint, event, wallet, idx, state, body, due_at, created_at, mac)
     VALUES (?1, ?2, ?3, ?4, ?5, 'pending', ?6, ?7, ?7, ?8)`,
  );

  function candidates(
    walletId: string,
    { payment, attempt }: ObservedPayment,
    journaled: boolean,
  ): MatchCandidates {
    if (!journaled) {
      const sameIndex = spends.get(walletId, payment.index);
      return { sameIndex, sameAttempt: null, latest: null };
    }
    const id = idOf(payment);
    return {
      get sameIndex() {
        return journal.get(walletId, payment.index);
      },
      get sameAttempt() {
        return attempt === null ? null : journal.ofAttempt(walletId, id, attempt);
      },
      get latest() {
        return journal.latest(walletId, id);
      },
    };
  }

  /** Stores that the node has shown this row's attempt, also when the rules reject what the node says of it. */
  function recognize(walletId: string, row: JournalRow, attempt: number | null): JournalRow {
    const { index } = row.payment;
    spends.known(walletId, index, attempt);
    if (attempt === null || row.attempt !== null) return row;
    journal.setAttempt(walletId, index, attempt);
    return { ...row, attempt };
  }

  /** See {@link ObservationStore.apply}. Null where no spend gives way to the payment. */
  function giveWay(
    walletId: string,
    { answers }: ObservedPayment,
    to: Payment,
    { periodStart }: ObservationRules,
  ): GaveWay | null {
    if (answers === undefined || (!answers.isTaken && answers.index === to.index)) return null;
    const { index: from } = answers;
    const spend = spends.get(walletId, from);
    // A spend that is over gives way only where its own row took the attempt of the other program.
    if (spend === null && from !== to.index) return null;
    spending.undo(walletId, from, periodStart);
    spends.remove(walletId, from);
    fetched.remove(walletId, from);
    if (spend?.idempotencyKey != null) {
      const { caller, idempotencyKey: key } = spend;
      keys.unbind({ walletId, caller, key }, from);
    }
    const gave = { from, to };
    if (from === to.index) return gave;
    const own = { kind: 'payment', index: from } as const;
    if (watches.hasAny(walletId, [own])) watches.add(walletId, { ...own, index: to.index });
    watches.endPayment(walletId, from);
    journal.giveWay(walletId, from, to.index);
    return gave;
  }

  function finalize(walletId: string, payment: Payment, rules: ObservationRules): number {
    const { index } = payment;
    const costMsat = rules.costMsat(payment);
    if (costMsat !== null) spending.close(walletId, index, costMsat, rules.periodStart);
    spends.remove(walletId, index);
    // Of a completed payment it is kept, for payer proofs.
    if (payment.status === 'failed') fetched.remove(walletId, index);
    nameInvoices.remove(walletId, idOf(payment));
    if (!watches.hasAny(walletId, rules.watchesOf(payment))) return 0;
    watches.endPayment(walletId, index);
    return deliver(walletId, payment, rules);
  }

  function announceMilestone(walletId: string, payment: Payment, rules: ObservationRules): number {
    const watch = rules.milestoneOf(payment);
    if (watch === null || !watches.end(walletId, watch)) return 0;
    return deliver(walletId, payment, rules);
  }

  function deliver(walletId: string, payment: Payment, rules: ObservationRules): number {
    const draft = rules.deliver(payment, walletId, endpoints.list(walletId));
    // Rows stay when a delivery is pruned or canceled, so an observation that comes again is not delivered again, and
    // not to an endpoint that was made later either.
    if (draft === null || findDelivery.get(draft.id) !== null) return 0;
    const { id, event, body, createdAtMs } = draft;
    for (const endpoint of draft.endpoints) {
      const { index: idx } = payment;
      const row = { id, endpoint, event, wallet: walletId, idx, body, created_at: createdAtMs };
      insertDelivery.run(...Object.values(row), signer.mac(SIGNED.delivery, row));
    }
    return draft.endpoints.length;
  }

  return {
    async cursor(walletId) {
      const row = readCursor.get(walletId);
      return row ? row.cursor : undefined;
    },
    startAt: (walletId, cursor) => queue.write(() => void startCursor.run(walletId, cursor)),
    apply: (walletId, { observations, cursor, journaled, nowMs }, rules) =>
      queue.write(() => {
        const isTaken = (index: string) => journal.get(walletId, index) !== null;
        const changed: Payment[] = [];
        const gaveWay: GaveWay[] = [];
        let deliveries = 0;
        let beforeMs: number | undefined;
        for (const seen of observations) {
          const match = rules.match(candidates(walletId, seen, journaled), seen);
          const row = match && !seen.ownWord ? recognize(walletId, match, seen.attempt) : match;
          const next = rules.transition(row?.payment ?? null, seen) ?? hiddenPayment(row);
          if (!next) {
            if (row === null) continue;
            const gave = giveWay(walletId, seen, row.payment, rules);
            if (gave) gaveWay.push(gave);
            if (!isFinal(row.payment)) continue;
            // A repeat of the request may have added the watch again.
            if (gave) deliveries += finalize(walletId, row.payment, rules);
            else watches.endPayment(walletId, row.payment.index);
            continue;
          }
          const payment = journaled
            ? journal.put(
                walletId,
                row
                  ? { ...row, payment: next }
                  : {
                      payment: rules.atFreeIndex(next, isTaken),
                      attempt: seen.attempt,
                      afterAttempt: null,
                    },
                Math.min(nowMs, seen.payment.updatedAtMs),
                beforeMs,
              )
            : next;
          beforeMs = payment.updatedAtMs;
          changed.push(payment);
          const gave = giveWay(walletId, seen, payment, rules);
          if (gave) gaveWay.push(gave);
          deliveries += isFinal(payment)
            ? finalize(walletId, payment, rules)
            : announceMilestone(walletId, payment, rules);
        }
        if (cursor !== null) moveCursor.run(walletId, cursor);
        return { changed, deliveries, gaveWay };
      }),
  };
}
