import type { SQL } from 'bun';
import type { AttemptJson, WebhookEvent } from '../../model/webhooks/delivery.ts';
import type { DeliveryColumns } from '../columns/delivery.ts';
import { parsedOr } from '../parsed-or.ts';
import type { AttemptQuery, AttemptRecord, DeliveryKey } from '../ports.ts';
import { SIGNED } from '../signed-tables.ts';
import type { RawRow, SignedRows } from './signed-rows.ts';
import { numberOf, textJson, textOf } from './values.ts';

/** How many attempts of a delivery are kept. Each time that it is sent again adds up to three. */
const KEPT_OF_DELIVERY = 20;

interface Row extends RawRow {
  readonly number: bigint;
  readonly id: string;
  readonly endpoint: string;
  readonly event: WebhookEvent;
  readonly idx: string;
  readonly body: string;
  readonly at: bigint;
  readonly duration_ms: number;
  readonly http_status: number | null;
  readonly error_json: string;
  readonly headers: string;
  readonly answer_json: string;
}

/** Returns the rows of the table of attempts, for the outbox's own transactions. */
export const deliveryAttemptRows = (signed: SignedRows) => ({
  async add(tx: SQL, { id, endpoint }: DeliveryKey, attempt: AttemptRecord): Promise<void> {
    const { atMs, durationMs, httpStatus, error, headers, answer } = attempt;
    const [row] = await tx<{ delivery: bigint }[]>`
      INSERT INTO wallet_sidecar.delivery_attempt (delivery, endpoint, at, duration_ms, http_status, error_json, headers, answer_json)
      SELECT seq, endpoint, ${atMs}::bigint, ${durationMs}::float8, ${httpStatus}::int, ${textJson(error)},
        ${JSON.stringify(headers)}, ${textJson(answer)}
      FROM wallet_sidecar.delivery WHERE id = ${id} AND endpoint = ${endpoint} RETURNING delivery`;
    if (!row) return;
    const { delivery } = row;
    await tx`DELETE FROM wallet_sidecar.delivery_attempt WHERE delivery = ${delivery} AND number <= (
      SELECT number FROM wallet_sidecar.delivery_attempt WHERE delivery = ${delivery}
      ORDER BY number DESC LIMIT 1 OFFSET ${KEPT_OF_DELIVERY})`;
  },
  async list(sql: SQL, query: AttemptQuery): Promise<AttemptJson[]> {
    const { walletId, id, endpoint, after, limit } = query;
    const rows = await sql<Row[]>`
      SELECT a.number, d.id, d.endpoint, d.event, d.wallet, d.idx, d.body, d.created_at, d.mac, a.at, a.duration_ms, a.http_status, a.error_json,
        a.headers, a.answer_json
      FROM wallet_sidecar.delivery_attempt a JOIN wallet_sidecar.delivery d ON d.seq = a.delivery
      WHERE d.wallet = ${walletId} AND d.body IS NOT NULL AND a.number > ${after}
        AND (${id}::text IS NULL OR d.id = ${id}) AND (${endpoint}::text IS NULL OR a.endpoint = ${endpoint})
      ORDER BY a.number LIMIT ${limit}`;
    return rows.filter((row) => signed.read<DeliveryColumns>(SIGNED.delivery, row)).map(decode);
  },
  /** Deletes the attempts of deliveries, by their `seq`. */
  async removeOf(tx: SQL, deliveries: readonly bigint[]): Promise<void> {
    const seqs = tx.array([...deliveries], 'bigint');
    await tx`DELETE FROM wallet_sidecar.delivery_attempt WHERE delivery = ANY(${seqs}::bigint[])`;
  },
  /** Deletes the oldest attempts beyond `most`. */
  async prune(tx: SQL, most: number): Promise<void> {
    await tx`DELETE FROM wallet_sidecar.delivery_attempt WHERE number <= (
      SELECT number FROM wallet_sidecar.delivery_attempt ORDER BY number DESC LIMIT 1 OFFSET ${most})`;
  },
});

function decode(row: Row): AttemptJson {
  const { id, endpoint, event, idx, http_status } = row;
  return {
    number: numberOf(row.number),
    id,
    endpoint,
    type: event,
    index: idx,
    at: numberOf(row.at),
    duration_ms: row.duration_ms,
    http_status,
    error: textOf(row.error_json),
    answer: textOf(row.answer_json),
    request: { headers: parsedOr<Record<string, string>>(row.headers, {}), body: row.body },
  };
}
