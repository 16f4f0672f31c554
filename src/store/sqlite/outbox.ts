import type { Database, SQLQueryBindings } from 'bun:sqlite';
import { randomBytes } from 'node:crypto';
import { hex } from '@scure/base';
import { CONFIGURED_ENDPOINT } from '../../model/webhooks/webhook-endpoint.ts';
import { CHANGED_IN_DATABASE, type DeliveryStanding, deliveryJson } from '../columns/delivery.ts';
import type { DueDelivery, Outbox, QueuedEndpoint } from '../ports.ts';
import type { RowSigner } from '../row-signer.ts';
import { SIGNED } from '../signed-tables.ts';
import type { DeliveryAttemptRows } from './delivery-attempts.ts';
import type { Stored } from './signed-table.ts';
import type { WriteQueue } from './write-queue.ts';

type Row = Stored<DeliveryStanding>;

const COLUMNS =
  'id, endpoint, event, wallet, idx, state, body, attempts, last_error, due_at, delivered_at, created_at, mac';

/** The `seq` of the newest settled delivery; with OFFSET, of an older one. */
const NEWEST_SETTLED = `SELECT seq FROM delivery WHERE body IS NOT NULL AND state != 'pending'
       ORDER BY seq DESC LIMIT 1`;

/** Whether the endpoint of a row is there, so that it can be sent again. */
const IS_THERE = `(endpoint = '${CONFIGURED_ENDPOINT}' OR EXISTS (SELECT 1 FROM webhook_endpoint e WHERE e.id = endpoint))`;

/** Makes a row due with all its attempts. */
const SEND_AGAIN = "SET state = 'pending', attempts = 0, due_at = ?1, lease_owner = NULL";

/**
 * Returns the {@link Outbox} over SQLite. A lease is a due time in the future, so it ends by itself. It carries the id
 * of its process, which is drawn at each opening. One process owns the file, so any other id is of a process that is
 * gone (docs/decisions.md 92).
 */
export function sqliteOutbox(
  db: Database,
  queue: WriteQueue,
  attempts: DeliveryAttemptRows,
  signer: RowSigner,
): Outbox {
  const owner = hex.encode(randomBytes(8));
  const due = db.prepare<Row, [string, number, number]>(
    `SELECT ${COLUMNS} FROM delivery
     WHERE endpoint = ? AND state = 'pending' AND due_at <= ? ORDER BY due_at LIMIT ?`,
  );
  const stranded = db.prepare<Row, [string, number, number]>(
    `SELECT ${COLUMNS} FROM delivery
     WHERE endpoint = ? AND state = 'pending' AND due_at > ? ORDER BY due_at LIMIT ?`,
  );
  const lease = db.prepare(
    "UPDATE delivery SET due_at = ?, lease_owner = ? WHERE id = ? AND endpoint = ? AND state = 'pending'",
  );
  const giveUp = db.prepare(
    `UPDATE delivery SET state = 'failed', last_error = '${CHANGED_IN_DATABASE}', due_at = NULL,
       lease_owner = NULL WHERE id = ? AND endpoint = ?`,
  );
  const release = db.prepare(
    `UPDATE delivery SET due_at = ?, lease_owner = NULL
     WHERE id = ? AND endpoint = ? AND lease_owner = ? AND state = 'pending'`,
  );
  const releaseAbandoned = db.prepare(
    `UPDATE delivery SET due_at = ?, lease_owner = NULL
     WHERE lease_owner IS NOT NULL AND lease_owner != ? AND state = 'pending'`,
  );
  const delivered = db.prepare(
    `UPDATE delivery SET state = 'delivered', attempts = attempts + 1, last_error = NULL, due_at = NULL,
       lease_owner = NULL, delivered_at = ? WHERE id = ? AND endpoint = ? AND state != 'canceled'`,
  );
  const failed = db.prepare(
    `UPDATE delivery SET state = iif(?2 IS NULL, 'failed', 'pending'), attempts = attempts + 1,
       last_error = ?1, due_at = ?2, lease_owner = NULL
     WHERE id = ?3 AND endpoint = ?4 AND state != 'canceled'`,
  );
  // SQLite finds each next endpoint by the index, so the time does not depend on how many deliveries are pending.
  const queued = db.prepare<QueuedEndpoint, []>(
    `WITH RECURSIVE waiting (endpoint) AS (
       SELECT min(endpoint) FROM delivery WHERE state = 'pending'
       UNION ALL
       SELECT (SELECT min(d.endpoint) FROM delivery d WHERE d.state = 'pending' AND d.endpoint > waiting.endpoint)
       FROM waiting WHERE waiting.endpoint IS NOT NULL
     )
     SELECT endpoint,
       (SELECT min(due_at) FROM delivery d WHERE d.state = 'pending' AND d.endpoint = waiting.endpoint) AS firstDueAtMs,
       (SELECT max(due_at) FROM delivery d WHERE d.state = 'pending' AND d.endpoint = waiting.endpoint) AS lastDueAtMs
     FROM waiting WHERE endpoint IS NOT NULL`,
  );
  const redeliverOne = db.prepare(
    `UPDATE delivery ${SEND_AGAIN}
     WHERE wallet = ?2 AND id = ?3 AND body IS NOT NULL AND (?4 IS NULL OR endpoint = ?4) AND ${IS_THERE}`,
  );
  const redeliverSince = db.prepare(
    `UPDATE delivery ${SEND_AGAIN}
     WHERE wallet = ?2 AND created_at >= ?3 AND body IS NOT NULL AND (?4 IS NULL OR endpoint = ?4) AND ${IS_THERE}`,
  );
  const pruneOld = db.prepare<{ seq: number }, [number, number]>(
    `UPDATE delivery SET body = NULL WHERE body IS NOT NULL AND state != 'pending' AND created_at < ?1
       AND seq <= (${NEWEST_SETTLED} OFFSET ?2) RETURNING seq`,
  );
  const pruneMany = db.prepare<{ seq: number }, [number]>(
    `UPDATE delivery SET body = NULL WHERE body IS NOT NULL AND state != 'pending'
       AND seq <= (${NEWEST_SETTLED} OFFSET ?) RETURNING seq`,
  );
  // Each count reads one partial index and no rows, which are large and many.
  const count = db.prepare<
    { pending: number; settled: number; failed: number; canceled: number },
    []
  >(
    `SELECT (SELECT count(*) FROM delivery WHERE state = 'pending') AS pending,
       (SELECT count(*) FROM delivery WHERE state != 'pending' AND body IS NOT NULL) AS settled,
       (SELECT count(*) FROM delivery WHERE state = 'failed' AND body IS NOT NULL) AS failed,
       (SELECT count(*) FROM delivery WHERE state = 'canceled' AND body IS NOT NULL) AS canceled`,
  );
  return {
    claim: ({ endpoint, nowMs, leaseUntilMs, lastPossibleMs, limit }) =>
      queue.write(() => {
        const rows = due.all(endpoint, nowMs, limit);
        rows.push(...stranded.all(endpoint, lastPossibleMs, limit - rows.length));
        const claimed: DueDelivery[] = [];
        for (const row of rows) {
          const { id, body, attempts: made } = row;
          if (signer.fits(SIGNED.delivery, row)) {
            lease.run(leaseUntilMs, owner, id, endpoint);
            claimed.push({ id, endpoint, body, attempts: made });
          } else giveUp.run(id, endpoint);
        }
        return claimed;
      }),
    delivered: ({ id, endpoint }, attempt) =>
      queue.write(() => {
        delivered.run(attempt.atMs + attempt.durationMs, id, endpoint);
        attempts.add({ id, endpoint }, attempt);
      }),
    release: ({ id, endpoint }, nowMs) =>
      queue.write(() => void release.run(nowMs, id, endpoint, owner)),
    releaseAbandoned: (nowMs) => queue.write(() => releaseAbandoned.run(nowMs, owner).changes),
    attemptFailed: ({ id, endpoint }, attempt, nextAttemptAtMs) =>
      queue.write(() => {
        failed.run(attempt.error, nextAttemptAtMs, id, endpoint);
        attempts.add({ id, endpoint }, attempt);
      }),
    queued: async () => queued.all(),
    async list({ walletId, state, endpoint, limit, before }) {
      const bindings: SQLQueryBindings[] = [walletId];
      let where = 'wallet = ? AND body IS NOT NULL';
      if (state !== null) {
        where += ' AND state = ?';
        bindings.push(state);
      }
      if (endpoint !== null) {
        where += ' AND endpoint = ?';
        bindings.push(endpoint);
      }
      if (before !== null) {
        where +=
          ' AND seq < (SELECT min(seq) FROM delivery WHERE id = ? AND endpoint = ifnull(?, endpoint))';
        bindings.push(before.id, before.endpoint);
      }
      const sql = `SELECT ${COLUMNS} FROM delivery WHERE ${where} ORDER BY seq DESC LIMIT ?`;
      const rows = db.query<Row, SQLQueryBindings[]>(sql).all(...bindings, limit);
      return rows.filter((row) => signer.fits(SIGNED.delivery, row)).map(deliveryJson);
    },
    attempts: async (query) => attempts.list(query),
    redeliver: (which) =>
      queue.write(() =>
        'id' in which
          ? redeliverOne.run(which.nowMs, which.walletId, which.id, which.endpoint).changes
          : redeliverSince.run(which.nowMs, which.walletId, which.sinceMs, which.endpoint).changes,
      ),
    prune: ({ beforeMs, least, most, mostAttempts }) =>
      queue.write(() => {
        const pruned = [...pruneOld.all(beforeMs, least), ...pruneMany.all(most)];
        for (const { seq } of pruned) attempts.removeOf(seq);
        attempts.prune(mostAttempts);
        return pruned.length;
      }),
    async counts() {
      const { pending = 0, settled = 0, failed: lost = 0, canceled = 0 } = count.get() ?? {};
      return { pending, delivered: settled - lost - canceled, failed: lost, canceled };
    },
  };
}
