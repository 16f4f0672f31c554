import type { Database, SQLQueryBindings } from 'bun:sqlite';
import type { AttemptJson } from '../../model/webhooks/delivery.ts';
import type { DeliveryColumns } from '../columns/delivery.ts';
import { parsedOr } from '../parsed-or.ts';
import type { AttemptQuery, AttemptRecord, DeliveryKey } from '../ports.ts';
import type { RowSigner } from '../row-signer.ts';
import { SIGNED } from '../signed-tables.ts';
import type { Stored } from './signed-table.ts';

/** How many attempts of a delivery are kept. Each time that it is sent again adds up to three. */
const KEPT_OF_DELIVERY = 20;

/** Rows of the table of attempts, for the outbox's own transactions. */
export interface DeliveryAttemptRows {
  add(key: DeliveryKey, attempt: AttemptRecord): void;
  list(query: AttemptQuery): AttemptJson[];
  /** Deletes the attempts of a delivery, by its `seq`. */
  removeOf(delivery: number): void;
  /** Deletes the oldest attempts beyond `most`. */
  prune(most: number): void;
}

/** An attempt, with the delivery that was tried. */
interface Row extends Stored<DeliveryColumns> {
  readonly number: number;
  readonly at: number;
  readonly duration_ms: number;
  readonly http_status: number | null;
  readonly error: string | null;
  readonly headers: string;
  readonly answer: string | null;
}

const COLUMNS =
  'a.number, d.id, d.endpoint, d.event, d.wallet, d.idx, d.body, d.created_at, d.mac, a.at, a.duration_ms, a.http_status, a.error, a.headers, a.answer';

/** Prepares the statements of the table of attempts. */
export function deliveryAttemptRows(db: Database, signer: RowSigner): DeliveryAttemptRows {
  const insert = db.prepare<{ delivery: number }, SQLQueryBindings[]>(
    `INSERT INTO delivery_attempt (delivery, endpoint, at, duration_ms, http_status, error, headers, answer)
     SELECT seq, endpoint, ?3, ?4, ?5, ?6, ?7, ?8 FROM delivery WHERE id = ?1 AND endpoint = ?2
     RETURNING delivery`,
  );
  const bound = db.prepare(
    `DELETE FROM delivery_attempt WHERE delivery = ?1 AND number <= (SELECT number FROM delivery_attempt
       WHERE delivery = ?1 ORDER BY number DESC LIMIT 1 OFFSET ${KEPT_OF_DELIVERY})`,
  );
  const removeOf = db.prepare('DELETE FROM delivery_attempt WHERE delivery = ?');
  const prune = db.prepare(
    `DELETE FROM delivery_attempt WHERE number <=
       (SELECT number FROM delivery_attempt ORDER BY number DESC LIMIT 1 OFFSET ?)`,
  );
  return {
    add({ id, endpoint }, { atMs, durationMs, httpStatus, error, headers, answer }) {
      const shown = JSON.stringify(headers);
      const row = insert.get(...[id, endpoint, atMs, durationMs, httpStatus, error, shown, answer]);
      if (row) bound.run(row.delivery);
    },
    list({ walletId, id, endpoint, after, limit }) {
      const bindings: SQLQueryBindings[] = [walletId, after];
      let where = 'd.wallet = ? AND d.body IS NOT NULL AND a.number > ?';
      if (id !== null) {
        where += ' AND d.id = ?';
        bindings.push(id);
      }
      if (endpoint !== null) {
        where += ' AND a.endpoint = ?';
        bindings.push(endpoint);
      }
      const sql = `SELECT ${COLUMNS} FROM delivery_attempt a JOIN delivery d ON d.seq = a.delivery
        WHERE ${where} ORDER BY a.number LIMIT ?`;
      return db
        .query<Row, SQLQueryBindings[]>(sql)
        .all(...bindings, limit)
        .filter((row) => signer.fits(SIGNED.delivery, row))
        .map(decode);
    },
    removeOf: (delivery) => void removeOf.run(delivery),
    prune: (most) => void prune.run(most),
  };
}

function decode(row: Row): AttemptJson {
  const { number, id, endpoint, event, idx, at, duration_ms, http_status, error, answer } = row;
  return {
    number,
    id,
    endpoint,
    type: event,
    index: idx,
    at,
    duration_ms,
    http_status,
    error,
    answer,
    request: { headers: parsedOr<Record<string, string>>(row.headers, {}), body: row.body },
  };
}
