import type { SQL } from 'bun';
import { idOf, isFinal, type Payment } from '../../model/payment.ts';
import { hiddenPayment } from '../hidden-payment.ts';
import type {
  GaveWay,
  JournalRow,
  ObservationRules,
  ObservationStore,
  ObservedPayment,
} from '../ports.ts';
import { SIGNED } from '../signed-tables.ts';
import type { Database } from './database.ts';
import type { FetchedInvoiceRows } from './fetched-invoices.ts';
import type { IdempotencyRows } from './idempotency.ts';
import type { JournalRows, JournalWriter } from './journal.ts';
import { nameInvoiceRows } from './names.ts';
import { type ObservedRows, observedInJournal, observedInSpends } from './observed-rows.ts';
import type { SignedRows } from './signed-rows.ts';
import type { SpendingRows } from './spending.ts';
import type { SpendRows } from './spends.ts';
import { type Sending, sending, together } from './together.ts';
import { textJson, textOf } from './values.ts';
import { watchRows } from './watches.ts';
import type { WebhookEndpointRows } from './webhook-endpoints.ts';

/** The tables that an observation's transaction touches. */
interface ObservationParts {
  readonly spends: SpendRows;
  readonly fetched: FetchedInvoiceRows;
  readonly journal: JournalRows;
  readonly spending: SpendingRows;
  readonly keys: IdempotencyRows;
  readonly signed: SignedRows;
  readonly endpoints: WebhookEndpointRows;
}

/** Returns the {@link ObservationStore} over PostgreSQL. */
export function postgresObservations(db: Database, parts: ObservationParts): ObservationStore {
  return {
    async cursor(walletId) {
      const [row] = await db.read(
        (sql) => sql<{ cursor_json: string }[]>`
          SELECT cursor_json FROM wallet_sidecar.feed_cursor WHERE wallet = ${walletId}`,
      );
      return row ? textOf(row.cursor_json) : undefined;
    },
    startAt: (walletId, cursor) =>
      db.write(walletId, async (tx) => {
        await tx`INSERT INTO wallet_sidecar.feed_cursor (wallet, cursor_json) VALUES (${walletId}, ${textJson(cursor)})
          ON CONFLICT DO NOTHING`;
      }),
    apply: (walletId, { observations, cursor, journaled, nowMs }, rules) =>
      db.write(walletId, async (tx) => {
        const [rows, journal] = await together([
          journaled
            ? observedInJournal(tx, walletId, observations, parts.journal)
            : observedInSpends(tx, walletId, observations, parts.spends),
          journaled ? parts.journal.writer(tx, walletId) : null,
        ]);
        const { send, answered } = sending();
        const one = oneObservation({ tx, walletId, rows, journal, send, nowMs, rules, parts });
        const changed: Payment[] = [];
        const gaveWay: GaveWay[] = [];
        let deliveries = 0;
        try {
          for (const seen of observations) {
            const applied = await one(seen);
            if (applied.changed) changed.push(applied.changed);
            if (applied.gaveWay) gaveWay.push(applied.gaveWay);
            deliveries += applied.deliveries;
          }
        } catch (error) {
          // What was sent is waited for first. It may say why this failed.
          await answered(Promise.reject(error));
        }
        if (cursor !== null) {
          send(tx`INSERT INTO wallet_sidecar.feed_cursor (wallet, cursor_json) VALUES (${walletId}, ${textJson(cursor)})
            ON CONFLICT (wallet) DO UPDATE SET cursor_json = excluded.cursor_json`);
        }
        await answered();
        return { changed, deliveries, gaveWay };
      }),
  };
}

interface Batch {
  readonly tx: SQL;
  readonly walletId: string;
  readonly rows: ObservedRows;
  /** Null where the node keeps the history. */
  readonly journal: JournalWriter | null;
  /** Sends a statement whose answer is looked at when all observations were applied. */
  readonly send: Sending['send'];
  readonly nowMs: number;
  readonly rules: ObservationRules;
  readonly parts: ObservationParts;
}

/** What an observation changed. */
interface Applied {
  readonly changed: Payment | null;
  readonly gaveWay: GaveWay | null;
  readonly deliveries: number;
}

/** Returns the function that applies one observation. */
function oneObservation(batch: Batch) {
  const { tx, walletId, rows, send, rules } = batch;
  return async (seen: ObservedPayment): Promise<Applied> => {
    const match = rules.match(rows.candidates(seen), seen);
    const row = match && !seen.ownWord ? recognize(batch, match, seen.attempt) : match;
    const next = rules.transition(row?.payment ?? null, seen) ?? hiddenPayment(row);
    if (!next) {
      const gaveWay = row && (await giveWay(batch, seen, row.payment));
      if (row === null || !isFinal(row.payment)) return { changed: null, gaveWay, deliveries: 0 };
      if (gaveWay)
        return { changed: null, gaveWay, deliveries: await finalize(batch, row.payment) };
      // A repeat of the request may have added the watch again.
      if (rows.isWatched(row.payment.index)) {
        send(watchRows.endPayment(tx, walletId, row.payment.index));
      }
      return { changed: null, gaveWay, deliveries: 0 };
    }
    const payment = batch.journal === null ? next : record(batch, batch.journal, row, next, seen);
    const gaveWay = await giveWay(batch, seen, payment);
    const deliveries = isFinal(payment)
      ? await finalize(batch, payment)
      : await announceMilestone(batch, payment);
    return { changed: payment, gaveWay, deliveries };
  };
}

/** See {@link ObservationStore.apply}. Null where no spend gives way to the payment. */
async function giveWay(
  { tx, walletId, rules, parts, rows }: Batch,
  { answers }: ObservedPayment,
  to: Payment,
): Promise<GaveWay | null> {
  if (answers === undefined || (!answers.isTaken && answers.index === to.index)) return null;
  const { index: from } = answers;
  const spend = await parts.spends.get(tx, walletId, from);
  // A spend that is over gives way only where its own row took the attempt of the other program.
  if (spend === null && from !== to.index) return null;
  const key = spend?.idempotencyKey ?? null;
  await together([
    parts.spending.undo(tx, walletId, from, rules.periodStart),
    parts.spends.remove(tx, walletId, from),
    parts.fetched.remove(tx, walletId, from),
    spend !== null &&
      key !== null &&
      parts.keys.unbind(tx, { walletId, caller: spend.caller, key }, from),
  ]);
  rows.shown(from);
  if (from === to.index) return { from, to };
  if (await watchRows.endPayment(tx, walletId, from)) {
    await watchRows.add(tx, walletId, { kind: 'payment', index: to.index });
  }
  await parts.journal.giveWay(tx, walletId, from, to.index);
  return { from, to };
}

/** Stores that the node has shown this row's attempt, also when the rules reject what the node says of it. */
function recognize(
  { tx, walletId, rows, send, parts }: Batch,
  row: JournalRow,
  attempt: number | null,
): JournalRow {
  const { index } = row.payment;
  if (rows.isUnshown(index)) {
    send(parts.spends.known(tx, walletId, index, attempt));
    if (attempt !== null) rows.shown(index);
  }
  if (attempt === null || row.attempt !== null) return row;
  const recognized = { ...row, attempt };
  send(parts.journal.setAttempt(tx, walletId, recognized));
  rows.put(recognized);
  return recognized;
}

function record(
  { rows, send, nowMs, rules }: Batch,
  journal: JournalWriter,
  row: JournalRow | null,
  next: Payment,
  seen: ObservedPayment,
): Payment {
  const changed = row
    ? { ...row, payment: next, isHidden: false }
    : {
        payment: rules.atFreeIndex(next, rows.isTaken),
        attempt: seen.attempt,
        afterAttempt: null,
      };
  const { payment, stored } = journal.put(changed, Math.min(nowMs, seen.payment.updatedAtMs));
  send(stored);
  rows.put({ ...changed, payment });
  return payment;
}

async function finalize(batch: Batch, payment: Payment): Promise<number> {
  const { tx, walletId, rows, rules, parts } = batch;
  const { index } = payment;
  const costMsat = rules.costMsat(payment);
  rows.end(index);
  const others = rules.watchesOf(payment).filter(({ kind }) => kind !== 'payment');
  const [isWatched, areOthers] = await together([
    watchRows.endPayment(tx, walletId, index),
    watchRows.hasAny(tx, walletId, others),
    costMsat !== null && parts.spending.close(tx, walletId, index, costMsat, rules.periodStart),
    parts.spends.remove(tx, walletId, index),
    // Of a completed payment it is kept, for payer proofs.
    payment.status === 'failed' && parts.fetched.remove(tx, walletId, index),
    nameInvoiceRows.remove(tx, walletId, idOf(payment)),
  ]);
  return isWatched || areOthers ? deliver(batch, payment) : 0;
}

async function announceMilestone(batch: Batch, payment: Payment): Promise<number> {
  const watch = batch.rules.milestoneOf(payment);
  if (watch === null || !(await watchRows.end(batch.tx, batch.walletId, watch))) return 0;
  return deliver(batch, payment);
}

async function deliver({ tx, walletId, rules, parts }: Batch, payment: Payment): Promise<number> {
  const draft = rules.deliver(payment, walletId, await parts.endpoints.list(tx, walletId));
  if (draft === null) return 0;
  const { id, event, body, createdAtMs } = draft;
  // Rows stay when a delivery is pruned or canceled, so an observation that comes again is not delivered again, and
  // not to an endpoint that was made later either.
  const { index: idx } = payment;
  const macs = draft.endpoints.map((endpoint) =>
    parts.signed.mac(SIGNED.delivery, {
      id,
      endpoint,
      event,
      wallet: walletId,
      idx,
      body,
      created_at: createdAtMs,
    }),
  );
  const { count } = await tx`
    INSERT INTO wallet_sidecar.delivery (id, endpoint, event, wallet, idx, state, body, due_at, created_at, mac)
    SELECT ${id}::text, endpoint, ${event}::text, ${walletId}::text, ${idx}::text, 'pending', ${body}::text,
      ${createdAtMs}::bigint, ${createdAtMs}::bigint, mac
    FROM unnest(${tx.array([...draft.endpoints], 'text')}::text[], ${tx.array(macs, 'text')}::text[])
      WITH ORDINALITY AS given (endpoint, mac, place)
    WHERE NOT EXISTS (SELECT 1 FROM wallet_sidecar.delivery WHERE id = ${id}) ORDER BY place`;
  return count;
}
