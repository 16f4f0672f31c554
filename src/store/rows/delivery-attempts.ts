import type { AttemptJson } from '../../model/webhooks/delivery.ts';
import type { DeliveryColumns } from '../columns/delivery.ts';
import { parsedOr } from '../parsed-or.ts';
import type { AttemptQuery, AttemptRecord, DeliveryKey } from '../ports.ts';
import { SIGNED } from '../signed-tables.ts';
import type { RawRow, Rows } from './rows.ts';
import type { Steps, Value } from './steps.ts';
import { type Stored, tableOf } from './table.ts';

/** How many attempts of a delivery are kept. Each time that it is sent again adds up to three. */
const KEPT_OF_DELIVERY = 20;

/** Rows of the table of attempts, for the outbox's own transactions. */
export interface DeliveryAttemptRows {
  add(key: DeliveryKey, attempt: AttemptRecord): Steps<void>;
  list(query: AttemptQuery): Steps<AttemptJson[]>;
  /** Deletes the attempts of deliveries, by their `seq`. */
  removeOf(deliveries: readonly number[]): Steps<unknown>;
  /** Deletes the oldest attempts beyond `most`. */
  prune(most: number): Steps<unknown>;
}

interface Tried extends RawRow {
  readonly number: number;
  readonly at: number;
  readonly duration_ms: number;
  readonly http_status: number | null;
  readonly headers: string;
}

const TABLE = 'delivery_attempt';

/** Prepares the statements of the table of attempts. */
export function deliveryAttemptRows(rows: Rows): DeliveryAttemptRows {
  const { prepare, forms } = rows;
  const { read } = tableOf<DeliveryColumns>(rows, SIGNED.delivery);
  const [error, answer] = [forms.nameOf(TABLE, 'error'), forms.nameOf(TABLE, 'answer')];
  const insert = prepare<{ delivery: number }>(
    `INSERT INTO wallet_sidecar.delivery_attempt (delivery, endpoint, at, duration_ms, http_status, ${error}, headers, ${answer})
     SELECT seq, endpoint, ?3, ?4, CAST(?5 AS BIGINT), CAST(?6 AS TEXT), CAST(?7 AS TEXT), CAST(?8 AS TEXT)
     FROM wallet_sidecar.delivery WHERE id = ?1 AND endpoint = ?2 RETURNING delivery`,
  );
  const bound = prepare(
    `DELETE FROM wallet_sidecar.delivery_attempt WHERE delivery = ?1 AND number <= (
       SELECT number FROM wallet_sidecar.delivery_attempt WHERE delivery = ?1
       ORDER BY number DESC LIMIT 1 OFFSET ${KEPT_OF_DELIVERY})`,
  );
  const removeOf = rows.prepareMany('DELETE FROM wallet_sidecar.delivery_attempt WHERE delivery');
  const prune = prepare(
    `DELETE FROM wallet_sidecar.delivery_attempt WHERE number <=
       (SELECT number FROM wallet_sidecar.delivery_attempt ORDER BY number DESC LIMIT 1 OFFSET ?)`,
  );

  function decode(raw: Tried, delivery: Stored<DeliveryColumns>): AttemptJson {
    const { number, at, duration_ms, http_status, headers } = raw;
    const textOf = (column: string) => forms.other(TABLE, raw, column) as string | null;
    return {
      number,
      id: delivery.id,
      endpoint: delivery.endpoint,
      type: delivery.event,
      index: delivery.idx,
      at,
      duration_ms,
      http_status,
      error: textOf('error'),
      answer: textOf('answer'),
      request: { headers: parsedOr<Record<string, string>>(headers, {}), body: delivery.body },
    };
  }

  return {
    *add({ id, endpoint }, attempt) {
      const { atMs, durationMs, httpStatus, headers } = attempt;
      const [failure = null, answered = null] = forms.write(TABLE, ['error', 'answer'], {
        error: attempt.error,
        answer: attempt.answer,
      });
      const made = [atMs, durationMs, httpStatus, failure, JSON.stringify(headers), answered];
      const row = yield* insert.one(id, endpoint, ...made);
      if (row) yield* bound.run(row.delivery);
    },
    *list({ walletId, id, endpoint, after, limit }) {
      const values: Value[] = [walletId, after];
      let where = 'd.wallet = ? AND d.body IS NOT NULL AND a.number > ?';
      if (id !== null) {
        where += ' AND d.id = ?';
        values.push(id);
      }
      if (endpoint !== null) {
        where += ' AND a.endpoint = ?';
        values.push(endpoint);
      }
      const query = rows.query<Tried>(
        `SELECT a.number, d.id, d.endpoint, d.event, d.wallet, d.idx, d.body, d.created_at, d.mac, a.at,
           a.duration_ms, a.http_status, a.${error}, a.headers, a.${answer}
         FROM wallet_sidecar.delivery_attempt a JOIN wallet_sidecar.delivery d ON d.seq = a.delivery
         WHERE ${where} ORDER BY a.number LIMIT ?`,
      );
      const tried = query.read((raw) => {
        const delivery = read(raw);
        return delivery && decode(raw, delivery);
      });
      return yield* tried.all(...values, limit);
    },
    removeOf: (deliveries) => removeOf.run(deliveries),
    prune: (most) => prune.run(most),
  };
}
