import type { SQL } from 'bun';
import type { Sealer } from '../../lib/seal.ts';
import type { WebhookEvent } from '../../model/delivery.ts';
import type { EndpointRecord, WebhookEndpointStore } from '../ports.ts';
import type { Database } from './database.ts';
import { numberOf, numberOrNull, textJson, textOf } from './values.ts';

/** Rows of the table of endpoints, for ports that read them inside their own transactions. */
export interface WebhookEndpointRows {
  /** The wallet's endpoints, oldest first. */
  list(sql: SQL, walletId: string): Promise<EndpointRecord[]>;
  decode(row: EndpointRow): EndpointRecord;
}

/** A row of the table. */
export interface EndpointRow {
  readonly id: string;
  readonly wallet: string;
  readonly url: string;
  readonly events: string;
  readonly description_json: string;
  readonly sealed_secret: string;
  readonly created_at: bigint;
  readonly expires_at: bigint | null;
}

const place = (walletId: string, id: string) => ({
  table: 'webhook_endpoint',
  column: 'sealed_secret',
  row: [walletId, id],
});

/** Returns the rows of the table of endpoints, whose secrets are sealed. */
export function webhookEndpointRows(sealer: Sealer): WebhookEndpointRows {
  const decode = (row: EndpointRow): EndpointRecord => ({
    id: row.id,
    walletId: row.wallet,
    url: row.url,
    events: JSON.parse(row.events) as WebhookEvent[],
    description: textOf(row.description_json),
    secret: sealer.open(row.sealed_secret, place(row.wallet, row.id)),
    createdAtMs: numberOf(row.created_at),
    expiresAtMs: numberOrNull(row.expires_at),
  });
  return {
    decode,
    async list(sql, walletId) {
      const rows = await sql<EndpointRow[]>`
        SELECT * FROM wallet_sidecar.webhook_endpoint WHERE wallet = ${walletId} ORDER BY created_at, id`;
      return rows.map(decode);
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
  sealer: Sealer,
  rows: WebhookEndpointRows,
): WebhookEndpointStore {
  return {
    add: (endpoint, most) =>
      db.write(endpoint.walletId, async (tx) => {
        const { id, walletId, url, events, description, secret, createdAtMs, expiresAtMs } =
          endpoint;
        const there =
          await tx`SELECT 1 FROM wallet_sidecar.webhook_endpoint WHERE wallet = ${walletId}`;
        if (there.length >= most) return false;
        await tx`INSERT INTO wallet_sidecar.webhook_endpoint (id, wallet, url, events, description_json, sealed_secret, created_at,
            expires_at)
          VALUES (${id}, ${walletId}, ${url}, ${JSON.stringify(events)}, ${textJson(description)},
            ${sealer.seal(secret, place(walletId, id))}, ${createdAtMs}, ${expiresAtMs})`;
        return true;
      }),
    list: (walletId) => db.read((sql) => rows.list(sql, walletId)),
    async find(id) {
      const [row] = await db.read(
        (sql) => sql<EndpointRow[]>`SELECT * FROM wallet_sidecar.webhook_endpoint WHERE id = ${id}`,
      );
      return row ? rows.decode(row) : null;
    },
    renew: (walletId, id, { nowMs, expiresAtMs }) =>
      db.write(walletId, async (tx) => {
        const [row] = await tx<EndpointRow[]>`
          UPDATE wallet_sidecar.webhook_endpoint SET expires_at = CASE WHEN expires_at IS NULL THEN NULL ELSE ${expiresAtMs}::bigint END
          WHERE id = ${id} AND wallet = ${walletId} AND (expires_at IS NULL OR expires_at > ${nowMs}) RETURNING *`;
        return row ? rows.decode(row) : null;
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
