import type { SQL } from 'bun';
import { idOf, isFinal, type Payment } from '../../model/payment.ts';
import type {
  JournalRow,
  MatchCandidates,
  ObservationRules,
  ObservationStore,
  ObservedPayment,
} from '../ports.ts';
import type { Database } from './database.ts';
import { fetchedInvoiceRows } from './fetched-invoices.ts';
import { journalRows } from './journal.ts';
import { nameInvoiceRows } from './names.ts';
import { spendingRows } from './spending.ts';
import type { SpendRows } from './spends.ts';
import { textJson, textOf } from './values.ts';
import { watchRows } from './watches.ts';
import type { WebhookEndpointRows } from './webhook-endpoints.ts';

/** The tables of an observation's transaction that hold sealed values. */
interface ObservationParts {
  readonly spends: SpendRows;
  readonly endpoints: WebhookEndpointRows;
}

/** Returns the {@link ObservationStore} over PostgreSQL. */
export function postgresObservations(db: Database, parts: ObservationParts): ObservationStore {
  return {
    async cursor(walletId) {
      const [row] = await db.read(
        (sql) => sql<{ cursor_json: string }[]>`
          SELECT cursor_json FROM feed_cursor WHERE wallet = ${walletId}`,
      );
      return row ? textOf(row.cursor_json) : undefined;
    },
    startAt: (walletId, cursor) =>
      db.write(walletId, async (tx) => {
        await tx`INSERT INTO feed_cursor (wallet, cursor_json) VALUES (${walletId}, ${textJson(cursor)})
          ON CONFLICT DO NOTHING`;
      }),
    apply: (walletId, { observations, cursor, journaled, nowMs }, rules) =>
      db.write(walletId, async (tx) => {
        const one = oneObservation({ tx, walletId, journaled, nowMs, rules, parts });
        const changed: Payment[] = [];
        let deliveries = 0;
        for (const seen of observations) {
          const applied = await one(seen);
          if (applied === null) continue;
          changed.push(applied.payment);
          deliveries += applied.deliveries;
        }
        if (cursor !== null) {
          await tx`INSERT INTO feed_cursor (wallet, cursor_json) VALUES (${walletId}, ${textJson(cursor)})
            ON CONFLICT (wallet) DO UPDATE SET cursor_json = excluded.cursor_json`;
        }
        return { changed, deliveries };
      }),
  };
}

interface Batch {
  readonly tx: SQL;
  readonly walletId: string;
  readonly journaled: boolean;
  readonly nowMs: number;
  readonly rules: ObservationRules;
  readonly parts: ObservationParts;
}

/** Returns the function that applies one observation; null when it changes nothing. */
function oneObservation(batch: Batch) {
  const { tx, walletId, journaled, nowMs, rules, parts } = batch;
  return async (
    seen: ObservedPayment,
  ): Promise<{ payment: Payment; deliveries: number } | null> => {
    const match = rules.match(await candidates(batch, seen), seen);
    const row = match && !seen.ownWord ? await recognize(batch, match, seen.attempt) : match;
    const next = rules.transition(row?.payment ?? null, seen);
    if (!next) {
      // A repeat of the request may have added the watch again.
      if (row && isFinal(row.payment)) {
        await watchRows.endPayment(tx, walletId, row.payment.index);
      }
      return null;
    }
    const payment = journaled ? await journal(batch, { row, next, seen }, nowMs) : next;
    const deliveries = isFinal(payment)
      ? await finalize(batch, payment, parts)
      : await announceMilestone(batch, payment);
    return { payment, deliveries };
  };
}

/** The candidates are read together, since the rules look at them while they run. */
async function candidates(
  { tx, walletId, journaled, parts }: Batch,
  { payment, attempt }: ObservedPayment,
): Promise<MatchCandidates> {
  if (!journaled) {
    const sameIndex = await parts.spends.get(tx, walletId, payment.index);
    return { sameIndex, sameAttempt: null, latest: null };
  }
  const id = idOf(payment);
  const [sameIndex, sameAttempt, latest] = await Promise.all([
    journalRows.get(tx, walletId, payment.index),
    attempt === null ? null : journalRows.ofAttempt(tx, walletId, id, attempt),
    journalRows.latest(tx, walletId, id),
  ]);
  return { sameIndex, sameAttempt, latest };
}

/** Stores that the node has shown this row's attempt, also when the rules reject what the node says of it. */
async function recognize(
  { tx, walletId, parts }: Batch,
  row: JournalRow,
  attempt: number | null,
): Promise<JournalRow> {
  const { index } = row.payment;
  await parts.spends.known(tx, walletId, index, attempt);
  if (attempt === null || row.attempt !== null) return row;
  await journalRows.setAttempt(tx, walletId, index, attempt);
  return { ...row, attempt };
}

async function journal(
  { tx, walletId, rules }: Batch,
  { row, next, seen }: { row: JournalRow | null; next: Payment; seen: ObservedPayment },
  nowMs: number,
): Promise<Payment> {
  const atMs = Math.min(nowMs, seen.payment.updatedAtMs);
  if (row) return journalRows.put(tx, walletId, { ...row, payment: next }, atMs);
  // The rule asks about indexes of this payment's id alone.
  const taken = await journalRows.indexesOf(tx, walletId, idOf(next));
  const payment = rules.atFreeIndex(next, (index) => taken.has(index));
  return journalRows.put(
    tx,
    walletId,
    { payment, attempt: seen.attempt, afterAttempt: null },
    atMs,
  );
}

async function finalize(
  batch: Batch,
  payment: Payment,
  { spends }: ObservationParts,
): Promise<number> {
  const { tx, walletId, rules } = batch;
  const { index } = payment;
  const costMsat = rules.costMsat(payment);
  if (costMsat !== null) {
    await spendingRows.close(tx, walletId, index, costMsat, rules.periodStart);
  }
  await spends.remove(tx, walletId, index);
  // Of a completed payment it is kept, for payer proofs.
  if (payment.status === 'failed') await fetchedInvoiceRows.remove(tx, walletId, index);
  await nameInvoiceRows.remove(tx, walletId, idOf(payment));
  if (!(await watchRows.hasAny(tx, walletId, rules.watchesOf(payment)))) return 0;
  await watchRows.endPayment(tx, walletId, index);
  return deliver(batch, payment);
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
  const earlier = await tx`SELECT 1 FROM delivery WHERE id = ${id} LIMIT 1`;
  if (earlier.length > 0) return 0;
  for (const endpoint of draft.endpoints) {
    await tx`INSERT INTO delivery (id, endpoint, event, wallet, idx, state, body, due_at, created_at)
      VALUES (${id}, ${endpoint}, ${event}, ${walletId}, ${payment.index}, 'pending', ${body}, ${createdAtMs},
        ${createdAtMs})`;
  }
  return draft.endpoints.length;
}
