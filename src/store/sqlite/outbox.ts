import type { Database, SQLQueryBindings } from 'bun:sqlite';
import { randomBytes } from 'node:crypto';
import { hex } from '@scure/base';
import type { DeliveryJson } from '../../model/delivery.ts';
import type { Outbox } from '../ports.ts';
import type { WriteQueue } from './write-queue.ts';

/** The columns of the delivery log: everything but the body. */
const COLUMNS =
  'id, idx AS "index", state, attempts, last_error, due_at AS next_attempt_at, delivered_at, created_at';

/** The `seq` of the newest settled delivery; with OFFSET, of an older one. */
const NEWEST_SETTLED = `SELECT seq FROM delivery WHERE body IS NOT NULL AND state != 'pending'
       ORDER BY seq DESC LIMIT 1`;

/**
 * Returns the {@link Outbox} over SQLite. A lease is a due time in the future, so it ends by itself. It carries the id
 * of its process, which is drawn at each opening. One process owns the file, so any other id is of a process that is
 * gone (docs/decisions.md 92).
 */
export function sqliteOutbox(db: Database, queue: WriteQueue): Outbox {
  const owner = hex.encode(randomBytes(8));
  const due = db.prepare<{ id: string; body: string; attempts: number }, [number, number]>(
    `SELECT id, body, attempts FROM delivery
     WHERE state = 'pending' AND due_at <= ? ORDER BY due_at LIMIT ?`,
  );
  const stranded = db.prepare<{ id: string; body: string; attempts: number }, [number, number]>(
    `SELECT id, body, attempts FROM delivery
     WHERE state = 'pending' AND due_at > ? ORDER BY due_at LIMIT ?`,
  );
  const lease = db.prepare(
    "UPDATE delivery SET due_at = ?, lease_owner = ? WHERE id = ? AND state = 'pending'",
  );
  const release = db.prepare(
    `UPDATE delivery SET due_at = ?, lease_owner = NULL
     WHERE id = ? AND lease_owner = ? AND state = 'pending'`,
  );
  const releaseAbandoned = db.prepare(
    `UPDATE delivery SET due_at = ?, lease_owner = NULL
     WHERE lease_owner IS NOT NULL AND lease_owner != ? AND state = 'pending'`,
  );
  const delivered = db.prepare(
    `UPDATE delivery SET state = 'delivered', attempts = attempts + 1, last_error = NULL, due_at = NULL,
       lease_owner = NULL, delivered_at = ? WHERE id = ?`,
  );
  const failed = db.prepare(
    `UPDATE delivery SET state = iif(?2 IS NULL, 'failed', 'pending'), attempts = attempts + 1,
       last_error = ?1, due_at = ?2, lease_owner = NULL WHERE id = ?3`,
  );
  const next = db.prepare<{ at: number | null }, []>(
    "SELECT min(due_at) AS at FROM delivery WHERE state = 'pending'",
  );
  const redeliverOne = db.prepare(
    `UPDATE delivery SET state = 'pending', attempts = 0, due_at = ?1, lease_owner = NULL
     WHERE wallet = ?2 AND id = ?3 AND body IS NOT NULL`,
  );
  const redeliverSince = db.prepare(
    `UPDATE delivery SET state = 'pending', attempts = 0, due_at = ?1, lease_owner = NULL
     WHERE wallet = ?2 AND created_at >= ?3 AND body IS NOT NULL`,
  );
  const pruneOld = db.prepare(
    `UPDATE delivery SET body = NULL WHERE body IS NOT NULL AND state != 'pending' AND created_at < ?1
       AND seq <= (${NEWEST_SETTLED} OFFSET ?2)`,
  );
  const pruneMany = db.prepare(
    `UPDATE delivery SET body = NULL WHERE body IS NOT NULL AND state != 'pending'
       AND seq <= (${NEWEST_SETTLED} OFFSET ?)`,
  );
  // Each count reads one partial index and no rows, which are large and many.
  const count = db.prepare<{ pending: number; settled: number; failed: number }, []>(
    `SELECT (SELECT count(*) FROM delivery WHERE state = 'pending') AS pending,
       (SELECT count(*) FROM delivery WHERE state != 'pending' AND body IS NOT NULL) AS settled,
       (SELECT count(*) FROM delivery WHERE state = 'failed' AND body IS NOT NULL) AS failed`,
  );
  return {
    claim: ({ nowMs, leaseUntilMs, lastPossibleMs, limit }) =>
      queue.write(() => {
        const rows = due.all(nowMs, limit);
        rows.push(...stranded.all(lastPossibleMs, limit - rows.length));
        for (const { id } of rows) lease.run(leaseUntilMs, owner, id);
        return rows;
      }),
    delivered: (id, nowMs) => queue.write(() => void delivered.run(nowMs, id)),
    release: (id, nowMs) => queue.write(() => void release.run(nowMs, id, owner)),
    releaseAbandoned: (nowMs) => queue.write(() => releaseAbandoned.run(nowMs, owner).changes),
    attemptFailed: (id, error, nextAttemptAtMs) =>
      queue.write(() => void failed.run(error, nextAttemptAtMs, id)),
    nextDueAt: async () => next.get()?.at ?? null,
    async list({ walletId, state, limit, before }) {
      const bindings: SQLQueryBindings[] = [walletId];
      let where = 'wallet = ? AND body IS NOT NULL';
      if (state !== null) {
        where += ' AND state = ?';
        bindings.push(state);
      }
      if (before !== null) {
        where += ' AND seq < (SELECT seq FROM delivery WHERE id = ?)';
        bindings.push(before);
      }
      const sql = `SELECT ${COLUMNS} FROM delivery WHERE ${where} ORDER BY seq DESC LIMIT ?`;
      return db.query<DeliveryJson, SQLQueryBindings[]>(sql).all(...bindings, limit);
    },
    redeliver: (which) =>
      queue.write(() =>
        'id' in which
          ? redeliverOne.run(which.nowMs, which.walletId, which.id).changes
          : redeliverSince.run(which.nowMs, which.walletId, which.sinceMs).changes,
      ),
    prune: ({ beforeMs, least, most }) =>
      queue.write(() => pruneOld.run(beforeMs, least).changes + pruneMany.run(most).changes),
    async counts() {
      const { pending = 0, settled = 0, failed: lost = 0 } = count.get() ?? {};
      return { pending, delivered: settled - lost, failed: lost };
    },
  };
}
