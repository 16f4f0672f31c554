import {
  columnsOfEndpoint,
  type EndpointColumns,
  endpointOf,
  renewed,
} from '../columns/webhook-endpoint.ts';
import type { EndpointRecord, WebhookEndpointStore } from '../ports.ts';
import { SIGNED } from '../signed-tables.ts';
import type { RowDatabase, Rows } from './rows.ts';
import type { Steps } from './steps.ts';
import { tableOf } from './table.ts';

/** Rows of the table of endpoints, for ports that read them inside their own transactions. */
export interface WebhookEndpointRows {
  find(id: string): Steps<EndpointRecord | null>;
  /** The wallet's endpoints, oldest first. */
  list(walletId: string): Steps<EndpointRecord[]>;
  /** Writes an endpoint, in the place of the one with its id where there is one. */
  put(endpoint: EndpointRecord): Steps<unknown>;
}

/** Prepares the statements of the table of endpoints. A row that does not fit is not there. */
export function webhookEndpointRows(rows: Rows): WebhookEndpointRows {
  const endpoints = tableOf<EndpointColumns>(rows, SIGNED.webhookEndpoint);
  const find = endpoints.select('WHERE id = ?', { of: endpointOf });
  const list = endpoints.select('WHERE wallet = ? ORDER BY created_at, id', { of: endpointOf });
  const put = endpoints.upsert();
  return {
    find: find.one,
    list: list.all,
    put: (endpoint) => put(columnsOfEndpoint(endpoint)),
  };
}

/** Returns the {@link WebhookEndpointStore}. */
export function webhookEndpointStore(
  db: RowDatabase,
  { prepare }: Rows,
  rows: WebhookEndpointRows,
): WebhookEndpointStore {
  const count = prepare<{ count: number }>(
    'SELECT count(*) AS count FROM wallet_sidecar.webhook_endpoint WHERE wallet = ?',
  );
  const remove = prepare('DELETE FROM wallet_sidecar.webhook_endpoint WHERE id = ? AND wallet = ?');
  const expired = prepare<{ id: string; wallet: string }>(
    'SELECT id, wallet FROM wallet_sidecar.webhook_endpoint WHERE expires_at <= ?',
  );
  const removeExpired = prepare(
    'DELETE FROM wallet_sidecar.webhook_endpoint WHERE id = ? AND wallet = ? AND expires_at <= ?',
  );
  const cancel = prepare(
    `UPDATE wallet_sidecar.delivery SET state = 'canceled', due_at = NULL, lease_owner = NULL
     WHERE endpoint = ? AND state = 'pending'`,
  );

  /** Returns how many deliveries were canceled; null where no endpoint was removed. */
  function* canceled(id: string, removed: Steps<number>): Steps<number | null> {
    return (yield* removed) === 0 ? null : yield* cancel.run(id);
  }

  return {
    add: (endpoint, most) =>
      db.write(endpoint.walletId, function* () {
        const there = yield* count.one(endpoint.walletId);
        if ((there?.count ?? 0) >= most) return false;
        yield* rows.put(endpoint);
        return true;
      }),
    list: (walletId) => db.read(() => rows.list(walletId)),
    find: (id) => db.read(() => rows.find(id)),
    renew: (walletId, id, { nowMs, expiresAtMs }) =>
      db.write(walletId, function* () {
        const endpoint = renewed(yield* rows.find(id), walletId, { nowMs, expiresAtMs });
        if (endpoint) yield* rows.put(endpoint);
        return endpoint;
      }),
    remove: (walletId, id) => db.write(walletId, () => canceled(id, remove.run(id, walletId))),
    async removeExpired(nowMs) {
      const removed: string[] = [];
      for (const { id, wallet } of await db.read(() => expired.all(nowMs))) {
        // It may have been renewed meanwhile.
        const count = await db.write(wallet, () =>
          canceled(id, removeExpired.run(id, wallet, nowMs)),
        );
        if (count !== null) removed.push(id);
      }
      return removed;
    },
  };
}
