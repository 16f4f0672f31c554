import type { SQL } from 'bun';
import type { DeliveryJson, DeliveryState } from '../../model/webhooks/delivery.ts';
import { CONFIGURED_ENDPOINT } from '../../model/webhooks/webhook-endpoint.ts';
import { CHANGED_IN_DATABASE, type DeliveryColumns, deliveryJson } from '../columns/delivery.ts';
import type { DeliveryKey, DeliveryQuery, DueDelivery, Outbox } from '../ports.ts';
import { SIGNED } from '../signed-tables.ts';
import type { Database } from './database.ts';
import { deliveryAttemptRows } from './delivery-attempts.ts';
import type { RawRow, SignedRows } from './signed-rows.ts';
import { numberOf, numberOrNull, textJson, textOf } from './values.ts';

/**
 * Returns the {@link Outbox} over PostgreSQL. A lease is a due time in the future, so it ends by itself. It carries the
 * name of its process: one process owns the database, so any other name is of a process that is gone
 * (docs/decisions.md 92).
 */
export function postgresOutbox(db: Database, owner: string, signed: SignedRows): Outbox {
  const attemptRows = deliveryAttemptRows(signed);
  /** Changes a delivery under the lock of its wallet, so that its attempts get their numbers in order. */
  async function settle(key: DeliveryKey, work: (tx: SQL) => Promise<void>): Promise<void> {
    const [row] = await db.read(
      (sql) => sql<{ wallet: string }[]>`
        SELECT wallet FROM wallet_sidecar.delivery WHERE id = ${key.id} AND endpoint = ${key.endpoint}`,
    );
    if (row) await db.write(row.wallet, work);
  }

  return {
    claim: ({ endpoint, nowMs, leaseUntilMs, lastPossibleMs, limit }) =>
      db.write(null, async (tx) => {
        const due = await tx<(RawRow & { seq: bigint; attempts: number })[]>`
          SELECT * FROM wallet_sidecar.delivery
          WHERE endpoint = ${endpoint} AND state = 'pending' AND due_at <= ${nowMs}
          ORDER BY due_at LIMIT ${limit} FOR UPDATE SKIP LOCKED`;
        const stranded = await tx<(RawRow & { seq: bigint; attempts: number })[]>`
          SELECT * FROM wallet_sidecar.delivery
          WHERE endpoint = ${endpoint} AND state = 'pending' AND due_at > ${lastPossibleMs}
          ORDER BY due_at LIMIT ${limit - due.length} FOR UPDATE SKIP LOCKED`;
        const claimed: DueDelivery[] = [];
        const unfit: bigint[] = [];
        const leased: bigint[] = [];
        for (const row of [...due, ...stranded]) {
          const { seq, attempts } = row;
          const columns = signed.read<DeliveryColumns>(SIGNED.delivery, row);
          if (columns) claimed.push({ id: columns.id, endpoint, body: columns.body, attempts });
          (columns ? leased : unfit).push(seq);
        }
        await tx`UPDATE wallet_sidecar.delivery SET due_at = ${leaseUntilMs}, lease_owner = ${owner}
          WHERE seq = ANY(${tx.array(leased, 'bigint')}::bigint[])`;
        if (unfit.length > 0) {
          await tx`UPDATE wallet_sidecar.delivery SET state = 'failed', due_at = NULL, lease_owner = NULL,
              last_error_json = ${textJson(CHANGED_IN_DATABASE)}
            WHERE seq = ANY(${tx.array(unfit, 'bigint')}::bigint[])`;
        }
        return claimed;
      }),
    delivered: (key, attempt) =>
      settle(key, async (tx) => {
        await tx`UPDATE wallet_sidecar.delivery SET state = 'delivered', attempts = attempts + 1, last_error_json = 'null',
            due_at = NULL, lease_owner = NULL, delivered_at = ${attempt.atMs + attempt.durationMs}
          WHERE id = ${key.id} AND endpoint = ${key.endpoint} AND state <> 'canceled'`;
        await attemptRows.add(tx, key, attempt);
      }),
    release: ({ id, endpoint }, nowMs) =>
      db.write(null, async (tx) => {
        await tx`UPDATE wallet_sidecar.delivery SET due_at = ${nowMs}, lease_owner = NULL
          WHERE id = ${id} AND endpoint = ${endpoint} AND lease_owner = ${owner} AND state = 'pending'`;
      }),
    releaseAbandoned: (nowMs) =>
      db.write(null, async (tx) => {
        const { count } =
          await tx`UPDATE wallet_sidecar.delivery SET due_at = ${nowMs}, lease_owner = NULL
          WHERE lease_owner IS NOT NULL AND lease_owner <> ${owner} AND state = 'pending'`;
        return count;
      }),
    attemptFailed: (key, attempt, nextAttemptAtMs) =>
      settle(key, async (tx) => {
        await tx`UPDATE wallet_sidecar.delivery SET state = ${nextAttemptAtMs === null ? 'failed' : 'pending'},
            attempts = attempts + 1, last_error_json = ${textJson(attempt.error)}, due_at = ${nextAttemptAtMs},
            lease_owner = NULL
          WHERE id = ${key.id} AND endpoint = ${key.endpoint} AND state <> 'canceled'`;
        await attemptRows.add(tx, key, attempt);
      }),
    queued: () => db.read(queued),
    list: (query) => db.read((sql) => list(sql, query, signed)),
    attempts: (query) => db.read((sql) => attemptRows.list(sql, query)),
    redeliver: ({ walletId, nowMs, endpoint, ...which }) =>
      db.write(walletId, async (tx) => {
        const id = 'id' in which ? which.id : null;
        const sinceMs = 'sinceMs' in which ? which.sinceMs : null;
        const { count } = await tx`
          UPDATE wallet_sidecar.delivery SET state = 'pending', attempts = 0, due_at = ${nowMs}, lease_owner = NULL
          WHERE wallet = ${walletId} AND body IS NOT NULL
            AND (${id}::text IS NULL OR id = ${id}) AND (${sinceMs}::bigint IS NULL OR created_at >= ${sinceMs})
            AND (${endpoint}::text IS NULL OR endpoint = ${endpoint})
            AND (endpoint = ${CONFIGURED_ENDPOINT}
              OR EXISTS (SELECT 1 FROM wallet_sidecar.webhook_endpoint e WHERE e.id = delivery.endpoint))`;
        return count;
      }),
    prune: ({ beforeMs, least, most, mostAttempts }) =>
      db.write(null, async (tx) => {
        const old = await tx<{ seq: bigint }[]>`
          UPDATE wallet_sidecar.delivery SET body = NULL WHERE body IS NOT NULL AND state <> 'pending' AND created_at < ${beforeMs}
            AND seq <= (SELECT seq FROM wallet_sidecar.delivery WHERE body IS NOT NULL AND state <> 'pending'
              ORDER BY seq DESC LIMIT 1 OFFSET ${least}) RETURNING seq`;
        const many = await tx<{ seq: bigint }[]>`
          UPDATE wallet_sidecar.delivery SET body = NULL WHERE body IS NOT NULL AND state <> 'pending'
            AND seq <= (SELECT seq FROM wallet_sidecar.delivery WHERE body IS NOT NULL AND state <> 'pending'
              ORDER BY seq DESC LIMIT 1 OFFSET ${most}) RETURNING seq`;
        const pruned = [...old, ...many].map(({ seq }) => seq);
        await attemptRows.removeOf(tx, pruned);
        await attemptRows.prune(tx, mostAttempts);
        return pruned.length;
      }),
    counts: () => db.read(counts),
  };
}

/** Finds each next endpoint by the index, so that the time does not depend on how many deliveries are pending. */
async function queued(sql: SQL) {
  const rows = await sql<{ endpoint: string; first: bigint; last: bigint }[]>`
    WITH RECURSIVE waiting (endpoint) AS (
      SELECT min(endpoint) FROM wallet_sidecar.delivery WHERE state = 'pending'
      UNION ALL
      SELECT (SELECT min(d.endpoint) FROM wallet_sidecar.delivery d WHERE d.state = 'pending' AND d.endpoint > waiting.endpoint)
      FROM waiting WHERE waiting.endpoint IS NOT NULL
    )
    SELECT endpoint,
      (SELECT min(due_at) FROM wallet_sidecar.delivery d WHERE d.state = 'pending' AND d.endpoint = waiting.endpoint) AS first,
      (SELECT max(due_at) FROM wallet_sidecar.delivery d WHERE d.state = 'pending' AND d.endpoint = waiting.endpoint) AS last
    FROM waiting WHERE endpoint IS NOT NULL`;
  return rows.map(({ endpoint, first, last }) => ({
    endpoint,
    firstDueAtMs: numberOf(first),
    lastDueAtMs: numberOf(last),
  }));
}

async function list(
  sql: SQL,
  { walletId, state, endpoint, limit, before }: DeliveryQuery,
  signed: SignedRows,
): Promise<DeliveryJson[]> {
  const { id = null, endpoint: beforeEndpoint = null } = before ?? {};
  const rows = await sql<Row[]>`
    SELECT * FROM wallet_sidecar.delivery
    WHERE wallet = ${walletId} AND body IS NOT NULL AND (${state}::text IS NULL OR state = ${state})
      AND (${endpoint}::text IS NULL OR endpoint = ${endpoint})
      AND (${id}::text IS NULL OR seq < (SELECT min(b.seq) FROM wallet_sidecar.delivery b
        WHERE b.id = ${id} AND b.endpoint = coalesce(${beforeEndpoint}, b.endpoint)))
    ORDER BY seq DESC LIMIT ${limit}`;
  return rows.flatMap((row) => {
    const columns = signed.read<DeliveryColumns>(SIGNED.delivery, row);
    if (columns === null) return [];
    return deliveryJson({
      ...columns,
      state: row.state,
      attempts: row.attempts,
      last_error: textOf(row.last_error_json),
      due_at: numberOrNull(row.due_at),
      delivered_at: numberOrNull(row.delivered_at),
    });
  });
}

/** What became of a delivery, which is not signed. */
type Row = RawRow & {
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly last_error_json: string;
  readonly due_at: bigint | null;
  readonly delivered_at: bigint | null;
};

/** Each count reads one partial index and no rows, which are large and many. */
async function counts(sql: SQL): Promise<Record<DeliveryState, number>> {
  const [row] = await sql<Record<'pending' | 'settled' | 'failed' | 'canceled', bigint>[]>`
    SELECT (SELECT count(*) FROM wallet_sidecar.delivery WHERE state = 'pending') AS pending,
      (SELECT count(*) FROM wallet_sidecar.delivery WHERE state <> 'pending' AND body IS NOT NULL) AS settled,
      (SELECT count(*) FROM wallet_sidecar.delivery WHERE state = 'failed' AND body IS NOT NULL) AS failed,
      (SELECT count(*) FROM wallet_sidecar.delivery WHERE state = 'canceled' AND body IS NOT NULL) AS canceled`;
  const { pending = 0n, settled = 0n, failed = 0n, canceled = 0n } = row ?? {};
  return {
    pending: numberOf(pending),
    delivered: numberOf(settled - failed - canceled),
    failed: numberOf(failed),
    canceled: numberOf(canceled),
  };
}
