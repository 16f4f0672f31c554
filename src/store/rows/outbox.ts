import { CONFIGURED_ENDPOINT } from '../../model/webhooks/webhook-endpoint.ts';
import {
  CHANGED_IN_DATABASE,
  type DeliveryColumns,
  type DeliveryStanding,
  deliveryJson,
} from '../columns/delivery.ts';
import type { DeliveryKey, DueDelivery, Outbox, QueuedEndpoint } from '../ports.ts';
import { SIGNED } from '../signed-tables.ts';
import type { DeliveryAttemptRows } from './delivery-attempts.ts';
import type { RowDatabase, Rows } from './rows.ts';
import type { Steps, Value } from './steps.ts';
import { tableOf } from './table.ts';

/** The column `attempts` counts since the delivery was last asked for; these are those of before too. */
const KEPT_ATTEMPTS =
  '(SELECT count(*) FROM wallet_sidecar.delivery_attempt a WHERE a.delivery = delivery.seq) AS kept';
const STANDING = ['state', 'attempts', 'last_error', 'due_at', 'delivered_at'];

/** Deliveries that are settled, of which an index has the `seq`. */
const SETTLED = "body IS NOT NULL AND state <> 'pending'";

/** The `seq` of the newest settled delivery; with OFFSET, of an older one. */
const NEWEST_SETTLED = `SELECT seq FROM wallet_sidecar.delivery WHERE ${SETTLED} ORDER BY seq DESC LIMIT 1`;

/** Whether the endpoint of a row is there, so that it can be sent again. */
const IS_THERE = `(endpoint = '${CONFIGURED_ENDPOINT}' OR EXISTS (
  SELECT 1 FROM wallet_sidecar.webhook_endpoint e WHERE e.id = delivery.endpoint))`;

/**
 * Returns the {@link Outbox}. A lease is a due time in the future, so it ends by itself. It carries `owner`, the name
 * of its process: one process owns the store, so any other name is of a process that is gone (docs/decisions.md 92).
 */
export function outboxStore(
  db: RowDatabase,
  rows: Rows,
  { attempts, owner }: { readonly attempts: DeliveryAttemptRows; readonly owner: string },
): Outbox {
  const { prepare, prepareMany, forms } = rows;
  const table = tableOf<DeliveryColumns>(rows, SIGNED.delivery);
  const dueFirst = (when: string) =>
    table.select(
      `WHERE endpoint = ? AND state = 'pending' AND due_at ${when} ?
       ORDER BY due_at LIMIT ? ${rows.lockingFree}`,
      { others: ['seq', 'attempts'] },
    );
  const [due, stranded] = [dueFirst('<='), dueFirst('>')];
  const lease = prepareMany(
    'UPDATE wallet_sidecar.delivery SET due_at = ?, lease_owner = ? WHERE seq',
  );
  const lastError = table.column('last_error');
  const errorOf = (last_error: string | null) =>
    forms.write('delivery', ['last_error'], { last_error });
  const giveUp = prepareMany(
    `UPDATE wallet_sidecar.delivery SET state = 'failed', ${lastError} = ?, due_at = NULL, lease_owner = NULL
     WHERE seq`,
  );
  const walletOf = prepare<{ wallet: string }>(
    'SELECT wallet FROM wallet_sidecar.delivery WHERE id = ? AND endpoint = ?',
  );
  const release = prepare(
    `UPDATE wallet_sidecar.delivery SET due_at = ?, lease_owner = NULL
     WHERE id = ? AND endpoint = ? AND lease_owner = ? AND state = 'pending'`,
  );
  const releaseAbandoned = prepare(
    `UPDATE wallet_sidecar.delivery SET due_at = ?, lease_owner = NULL
     WHERE lease_owner IS NOT NULL AND lease_owner <> ? AND state = 'pending'`,
  );
  const settle = prepare(
    `UPDATE wallet_sidecar.delivery SET state = ?, attempts = attempts + 1, ${lastError} = ?, due_at = ?,
       delivered_at = coalesce(?, delivered_at), lease_owner = NULL
     WHERE id = ? AND endpoint = ? AND state <> 'canceled'`,
  );
  // Each next endpoint is found by the index, so the time does not depend on how many deliveries are pending.
  const pending = "FROM wallet_sidecar.delivery d WHERE d.state = 'pending' AND d.endpoint";
  const queued = prepare<QueuedEndpoint>(
    `WITH RECURSIVE waiting (endpoint) AS (
       SELECT min(endpoint) FROM wallet_sidecar.delivery WHERE state = 'pending'
       UNION ALL
       SELECT (SELECT min(d.endpoint) ${pending} > waiting.endpoint)
       FROM waiting WHERE waiting.endpoint IS NOT NULL
     )
     SELECT endpoint, (SELECT min(due_at) ${pending} = waiting.endpoint) AS "firstDueAtMs",
       (SELECT max(due_at) ${pending} = waiting.endpoint) AS "lastDueAtMs"
     FROM waiting WHERE endpoint IS NOT NULL`,
  );
  const pruneOf = (which: string) =>
    prepare<{ seq: number }>(
      `UPDATE wallet_sidecar.delivery SET body = NULL WHERE ${SETTLED} ${which}
         AND seq <= (${NEWEST_SETTLED} OFFSET ?) RETURNING seq`,
    );
  const [pruneOld, pruneMany] = [pruneOf('AND created_at < ?'), pruneOf('')];
  const has = prepare(
    'SELECT 1 AS there FROM wallet_sidecar.delivery WHERE wallet = ? AND id = ? AND body IS NOT NULL',
  );
  // Each count reads one partial index and no rows, which are large and many.
  const countOf = (which: string) =>
    `(SELECT count(*) FROM wallet_sidecar.delivery WHERE ${which})`;
  const count = prepare<Record<'pending' | 'settled' | 'failed' | 'canceled', number>>(
    `SELECT ${countOf("state = 'pending'")} AS pending, ${countOf(SETTLED)} AS settled,
       ${countOf("state = 'failed' AND body IS NOT NULL")} AS failed,
       ${countOf("state = 'canceled' AND body IS NOT NULL")} AS canceled`,
  );

  /** Changes a delivery under the lock of its wallet, so that its attempts get their numbers in order. */
  async function change({ id, endpoint }: DeliveryKey, work: () => Steps<void>): Promise<void> {
    const row = await db.read(() => walletOf.one(id, endpoint));
    if (row) await db.write(row.wallet, work);
  }

  return {
    claim: ({ endpoint, nowMs, leaseUntilMs, lastPossibleMs, limit }) =>
      db.write(null, function* () {
        const found = [...(yield* due.raw.all(endpoint, nowMs, limit))];
        found.push(...(yield* stranded.raw.all(endpoint, lastPossibleMs, limit - found.length)));
        const claimed: DueDelivery[] = [];
        const [leased, unfit]: [number[], number[]] = [[], []];
        for (const raw of found) {
          const row = table.read(raw);
          (row ? leased : unfit).push(raw.seq as number);
          const made = raw.attempts as number;
          if (row) claimed.push({ id: row.id, endpoint, body: row.body, attempts: made });
        }
        if (leased.length > 0) yield* lease.run(leased, leaseUntilMs, owner);
        if (unfit.length > 0) yield* giveUp.run(unfit, ...errorOf(CHANGED_IN_DATABASE));
        return claimed;
      }),
    delivered: (key, attempt) =>
      change(key, function* () {
        const endedAtMs = attempt.atMs + attempt.durationMs;
        const [none = null] = errorOf(null);
        yield* settle.run('delivered', none, null, endedAtMs, key.id, key.endpoint);
        yield* attempts.add(key, attempt);
      }),
    release: ({ id, endpoint }, nowMs) =>
      db.write(null, function* () {
        yield* release.run(nowMs, id, endpoint, owner);
      }),
    releaseAbandoned: (nowMs) => db.write(null, () => releaseAbandoned.run(nowMs, owner)),
    attemptFailed: (key, attempt, nextAttemptAtMs) =>
      change(key, function* () {
        const state = nextAttemptAtMs === null ? 'failed' : 'pending';
        const [failure = null] = errorOf(attempt.error);
        yield* settle.run(state, failure, nextAttemptAtMs, null, key.id, key.endpoint);
        yield* attempts.add(key, attempt);
      }),
    queued: () => db.read(() => queued.all()),
    list({ walletId, state, endpoint, limit, before }) {
      const values: Value[] = [walletId];
      let where = 'wallet = ? AND body IS NOT NULL';
      if (state !== null) {
        where += ' AND state = ?';
        values.push(state);
      }
      if (endpoint !== null) {
        where += ' AND endpoint = ?';
        values.push(endpoint);
      }
      if (before !== null) {
        where += ` AND seq < (SELECT min(b.seq) FROM wallet_sidecar.delivery b
          WHERE b.id = ? AND b.endpoint = coalesce(?, b.endpoint))`;
        values.push(before.id, before.endpoint);
      }
      const found = table.select(`WHERE ${where} ORDER BY seq DESC LIMIT ?`, {
        others: [...STANDING, KEPT_ATTEMPTS],
        of: (row: DeliveryStanding) => deliveryJson(row),
        isPrepared: false,
      });
      return db.read(() => found.all(...(values as string[]), limit));
    },
    has: async (walletId, id) => (await db.read(() => has.one(walletId, id))) !== null,
    attempts: (query) => db.read(() => attempts.list(query)),
    redeliver: ({ walletId, nowMs, endpoint, ...which }) =>
      db.write(walletId, function* () {
        const isOne = 'id' in which;
        const values: Value[] = [nowMs, walletId, isOne ? which.id : which.sinceMs];
        let where = `wallet = ? AND ${isOne ? 'id = ?' : 'created_at >= ?'} AND body IS NOT NULL`;
        if (endpoint !== null) {
          where += ' AND endpoint = ?';
          values.push(endpoint);
        }
        const redeliver = rows.query(
          `UPDATE wallet_sidecar.delivery SET state = 'pending', attempts = 0, due_at = ?, lease_owner = NULL
           WHERE ${where} AND ${IS_THERE}`,
        );
        return yield* redeliver.run(...values);
      }),
    prune: ({ beforeMs, least, most, mostAttempts }) =>
      db.write(null, function* () {
        const old = yield* pruneOld.all(beforeMs, least);
        const pruned = [...old, ...(yield* pruneMany.all(most))].map(({ seq }) => seq);
        yield* attempts.removeOf(pruned);
        yield* attempts.prune(mostAttempts);
        return pruned.length;
      }),
    async counts() {
      const found = await db.read(() => count.one());
      const { pending: waiting = 0, settled = 0, failed = 0, canceled = 0 } = found ?? {};
      return { pending: waiting, delivered: settled - failed - canceled, failed, canceled };
    },
  };
}
