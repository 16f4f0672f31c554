import type { Database } from 'bun:sqlite';
import {
  columnsOfEndpoint,
  type EndpointColumns,
  endpointOf,
  renewed,
} from '../columns/webhook-endpoint.ts';
import type { EndpointRecord, WebhookEndpointStore } from '../ports.ts';
import type { RowSigner } from '../row-signer.ts';
import { SIGNED } from '../signed-tables.ts';
import { columnList, rowWriter, type Stored } from './signed-table.ts';
import type { WriteQueue } from './write-queue.ts';

/** Rows of the table of endpoints, for ports that read them inside their own transactions. */
export interface WebhookEndpointRows {
  find(id: string): EndpointRecord | null;
  /** The wallet's endpoints, oldest first. */
  list(walletId: string): EndpointRecord[];
  /** Writes an endpoint, in the place of the one with its id where there is one. */
  put(endpoint: EndpointRecord): void;
}

type Row = Stored<EndpointColumns>;

const COLUMNS = columnList(SIGNED.webhookEndpoint);

/** Prepares the statements of the table of endpoints. A row that does not fit is not there. */
export function webhookEndpointRows(db: Database, signer: RowSigner): WebhookEndpointRows {
  const find = db.prepare<Row, [string]>(`SELECT ${COLUMNS} FROM webhook_endpoint WHERE id = ?`);
  const list = db.prepare<Row, [string]>(
    `SELECT ${COLUMNS} FROM webhook_endpoint WHERE wallet = ? ORDER BY created_at, id`,
  );
  const write = rowWriter(db, signer, SIGNED.webhookEndpoint, { verb: 'REPLACE' });
  const fits = (row: Row) => signer.fits(SIGNED.webhookEndpoint, row);
  return {
    find(id) {
      const row = find.get(id);
      return row && fits(row) ? endpointOf(row) : null;
    },
    list: (walletId) => list.all(walletId).filter(fits).map(endpointOf),
    put: (endpoint) => void write(columnsOfEndpoint(endpoint)),
  };
}

/** Returns the {@link WebhookEndpointStore} over SQLite. */
export function sqliteWebhookEndpoints(
  db: Database,
  queue: WriteQueue,
  rows: WebhookEndpointRows,
): WebhookEndpointStore {
  const walletOf = db.prepare<{ wallet: string }, [string]>(
    'SELECT wallet FROM webhook_endpoint WHERE id = ?',
  );
  const count = db.prepare<{ count: number }, [string]>(
    'SELECT count(*) AS count FROM webhook_endpoint WHERE wallet = ?',
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
        rows.put(endpoint);
        return true;
      }),
    list: async (walletId) => rows.list(walletId),
    find: async (id) => rows.find(id),
    renew: (walletId, id, { nowMs, expiresAtMs }) =>
      queue.write(() => {
        const endpoint = renewed(rows.find(id), walletId, { nowMs, expiresAtMs });
        if (endpoint) rows.put(endpoint);
        return endpoint;
      }),
    remove: (walletId, id) =>
      queue.write(() => (walletOf.get(id)?.wallet === walletId ? removeRow(id) : null)),
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
