import type { Database } from 'bun:sqlite';
import type { WebhookEvent } from '../../model/delivery.ts';
import type { EndpointRecord, WebhookEndpointStore } from '../ports.ts';
import type { WriteQueue } from './write-queue.ts';

/** Rows of the table of endpoints, for ports that read them inside their own transactions. */
export interface WebhookEndpointRows {
  /** The wallet's endpoints, oldest first. */
  list(walletId: string): EndpointRecord[];
}

interface Row {
  readonly id: string;
  readonly wallet: string;
  readonly url: string;
  readonly events: string;
  readonly description: string | null;
  readonly secret: string;
  readonly created_at: number;
  readonly expires_at: number | null;
}

const COLUMNS = 'id, wallet, url, events, description, secret, created_at, expires_at';

/** Prepares the statement by which endpoints are listed. */
export function webhookEndpointRows(db: Database): WebhookEndpointRows {
  const list = db.prepare<Row, [string]>(
    `SELECT ${COLUMNS} FROM webhook_endpoint WHERE wallet = ? ORDER BY created_at, id`,
  );
  return { list: (walletId) => list.all(walletId).map(decode) };
}

/** Returns the {@link WebhookEndpointStore} over SQLite. */
export function sqliteWebhookEndpoints(
  db: Database,
  queue: WriteQueue,
  rows: WebhookEndpointRows,
): WebhookEndpointStore {
  const find = db.prepare<Row, [string]>(`SELECT ${COLUMNS} FROM webhook_endpoint WHERE id = ?`);
  const count = db.prepare<{ count: number }, [string]>(
    'SELECT count(*) AS count FROM webhook_endpoint WHERE wallet = ?',
  );
  const insert = db.prepare(
    `INSERT INTO webhook_endpoint (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const renew = db.prepare<Row, [number, number, string, string]>(
    `UPDATE webhook_endpoint SET expires_at = iif(expires_at IS NULL, NULL, ?1)
     WHERE id = ?3 AND wallet = ?4 AND (expires_at IS NULL OR expires_at > ?2) RETURNING ${COLUMNS}`,
  );
  const remove = db.prepare('DELETE FROM webhook_endpoint WHERE id = ?');
  const expired = db.prepare<{ id: string }, [number]>(
    'SELECT id FROM webhook_endpoint WHERE expires_at <= ?',
  );
  const cancel = db.prepare(
    `UPDATE delivery SET state = 'canceled', due_at = NULL, lease_owner = NULL
     WHERE endpoint = ? AND state = 'pending'`,
  );

  function removeRow(id: string): number {
    remove.run(id);
    return cancel.run(id).changes;
  }

  return {
    add: (endpoint, most) =>
      queue.write(() => {
        if ((count.get(endpoint.walletId)?.count ?? 0) >= most) return false;
        const { id, walletId, url, events, description, secret, createdAtMs, expiresAtMs } =
          endpoint;
        const list = JSON.stringify(events);
        insert.run(id, walletId, url, list, description, secret, createdAtMs, expiresAtMs);
        return true;
      }),
    list: async (walletId) => rows.list(walletId),
    async find(id) {
      const row = find.get(id);
      return row && decode(row);
    },
    renew: (walletId, id, { nowMs, expiresAtMs }) =>
      queue.write(() => {
        const row = renew.get(expiresAtMs, nowMs, id, walletId);
        return row && decode(row);
      }),
    remove: (walletId, id) =>
      queue.write(() => (find.get(id)?.wallet === walletId ? removeRow(id) : null)),
    async removeExpired(nowMs) {
      // It is asked often and seldom finds any, so nothing is written before one is found.
      if (expired.get(nowMs) === null) return [];
      return queue.write(() => {
        const ids = expired.all(nowMs).map(({ id }) => id);
        for (const id of ids) removeRow(id);
        return ids;
      });
    },
  };
}

function decode(row: Row): EndpointRecord {
  return {
    id: row.id,
    walletId: row.wallet,
    url: row.url,
    events: JSON.parse(row.events) as WebhookEvent[],
    description: row.description,
    secret: row.secret,
    createdAtMs: row.created_at,
    expiresAtMs: row.expires_at,
  };
}
