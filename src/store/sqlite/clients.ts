import type { Database } from 'bun:sqlite';
import type { ClientStore } from '../ports.ts';
import type { BudgetRows } from './budgets.ts';
import type { ClientRows } from './client-rows.ts';
import type { IdempotencyRows } from './idempotency.ts';
import type { StoreCounter } from './identity.ts';
import type { WriteQueue } from './write-queue.ts';

/** The tables that a change of clients touches. */
interface ClientParts {
  readonly clients: ClientRows;
  readonly budgets: BudgetRows;
  readonly keys: IdempotencyRows;
  readonly counter: StoreCounter;
}

/** Returns the {@link ClientStore} over SQLite. */
export function sqliteClients(
  db: Database,
  queue: WriteQueue,
  { clients, budgets, keys, counter }: ClientParts,
): ClientStore {
  const withBudget = db.prepare<{ found: number }, [number]>(
    `SELECT EXISTS (SELECT 1 FROM client WHERE budget_state = 'set' AND revoked_at IS NULL AND expires_at IS NULL)
       OR EXISTS (SELECT 1 FROM client WHERE budget_state = 'set' AND revoked_at IS NULL AND expires_at > ?)
       AS found`,
  );
  return {
    find: async (clientPk) => clients.find(clientPk),
    list: async (walletId) => clients.list(walletId),
    change: (walletId, decide) =>
      queue.write(() => {
        const changes = decide(clients.list(walletId));
        const { records, budgets: wanted } = changes;
        for (const record of records) {
          clients.put(walletId, record);
          if (record.revokedAtMs !== null) keys.forget(walletId, record.clientPk);
        }
        for (const change of wanted) budgets.set(walletId, change);
        if (records.length + wanted.length > 0) counter.advance();
        return changes;
      }),
    anyBudget: async (nowMs) => withBudget.get(nowMs)?.found === 1,
  };
}
