import type { SQL } from 'bun';
import {
  columnsOfEndpoint,
  type EndpointColumns,
  endpointOf,
  renewed,
} from '../columns/webhook-endpoint.ts';
import type { EndpointRecord, WebhookEndpointStore } from '../ports.ts';
import { SIGNED } from '../signed-tables.ts';
import type { Database } from './database.ts';
import type { RawRow, SignedRows } from './signed-rows.ts';
import { textJson } from './values.ts';

/** Rows of the table of endpoints, for ports that read them inside their own transactions. */
export interface WebhookEndpointRows {
  find(sql: SQL, id: string): Promise<EndpointRecord | null>;
  /** The wallet's endpoints, oldest first. */
  list(sql: SQL, walletId: string): Promise<EndpointRecord[]>;
  /** Writes an endpoint, in the place of the one with its id where there is one. */
  put(tx: SQL, endpoint: EndpointRecord): Promise<void>;
}

/** Returns the rows of the table of endpoints, whose secrets are sealed. A row that does not fit is not there. */
export function webhookEndpointRows(signed: SignedRows): WebhookEndpointRows {
  return {
    async find(sql, id) {
      const [row] = await sql<RawRow[]>`
        SELECT * FROM wallet_sidecar.webhook_endpoint WHERE id = ${id}`;
      const columns = row ? signed.read<EndpointColumns>(SIGNED.webhookEndpoint, row) : null;
      return columns && endpointOf(columns);
    },
    async list(sql, walletId) {
      const rows = await sql<RawRow[]>`
        SELECT * FROM wallet_sidecar.webhook_endpoint WHERE wallet = ${walletId} ORDER BY created_at, id`;
      return signed.readAll<EndpointColumns>(SIGNED.webhookEndpoint, rows).map(endpointOf);
    },
    async put(tx, endpoint) {
      const row = columnsOfEndpoint(endpoint);
      const secret = signed.seal(SIGNED.webhookEndpoint, { ...row }, 'secret');
      await tx`INSERT INTO wallet_sidecar.webhook_endpoint (id, wallet, url, events, description_json, sealed_secret,
          created_at, expires_at, mac)
        VALUES (${row.id}, ${row.wallet}, ${row.url}, ${row.events}, ${textJson(row.description)}, ${secret},
          ${row.created_at}, ${row.expires_at}, ${signed.mac(SIGNED.webhookEndpoint, row)})
        ON CONFLICT (id) DO UPDATE SET sealed_secret = excluded.sealed_secret, expires_at = excluded.expires_at,
          mac = excluded.mac`;
    },
  };
}

/** Returns how many deliveries were canceled; null when the wallet has no endpoint of that id, or it is not over. */
async function remove(
  tx: SQL,
  walletId: string,
  id: string,
  expiredAtMs: number | null,
): Promise<number | null> {
  const removed =
    await tx`DELETE FROM wallet_sidecar.webhook_endpoint WHERE id = ${id} AND wallet = ${walletId}
    AND (${expiredAtMs}::bigint IS NULL OR expires_at <= ${expiredAtMs})`;
  if (removed.count === 0) return null;
  const { count } =
    await tx`UPDATE wallet_sidecar.delivery SET state = 'canceled', due_at = NULL, lease_owner = NULL
    WHERE endpoint = ${id} AND state = 'pending'`;
  return count;
}

/** Returns the {@link WebhookEndpointStore} over PostgreSQL. */
export function postgresWebhookEndpoints(
  db: Database,
  rows: WebhookEndpointRows,
): WebhookEndpointStore {
  return {
    add: (endpoint, most) =>
      db.write(endpoint.walletId, async (tx) => {
        const there =
          await tx`SELECT 1 FROM wallet_sidecar.webhook_endpoint WHERE wallet = ${endpoint.walletId}`;
        if (there.length >= most) return false;
        await rows.put(tx, endpoint);
        return true;
      }),
    list: (walletId) => db.read((sql) => rows.list(sql, walletId)),
    find: (id) => db.read((sql) => rows.find(sql, id)),
    renew: (walletId, id, { nowMs, expiresAtMs }) =>
      db.write(walletId, async (tx) => {
        const endpoint = renewed(await rows.find(tx, id), walletId, { nowMs, expiresAtMs });
        if (endpoint) await rows.put(tx, endpoint);
        return endpoint;
      }),
    remove: (walletId, id) => db.write(walletId, (tx) => remove(tx, walletId, id, null)),
    async removeExpired(nowMs) {
      const expired = await db.read(
        (sql) => sql<{ id: string; wallet: string }[]>`
          SELECT id, wallet FROM wallet_sidecar.webhook_endpoint WHERE expires_at <= ${nowMs}`,
      );
      const removed: string[] = [];
      for (const { id, wallet } of expired) {
        // It may have been renewed meanwhile.
        const canceled = await db.write(wallet, (tx) => remove(tx, wallet, id, nowMs));
        if (canceled !== null) removed.push(id);
      }
      return removed;
    },
  };
}
