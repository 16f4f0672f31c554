import type { ClientStore } from '../ports.ts';
import type { BudgetRows } from './budgets.ts';
import type { ClientRows } from './client-rows.ts';
import type { Database } from './database.ts';
import type { IdempotencyRows } from './idempotency.ts';

/** Returns the {@link ClientStore} over PostgreSQL. */
export function postgresClients(
  db: Database,
  { clients, budgets, keys }: ClientParts,
): ClientStore {
  return {
    find: (clientPk) => db.read((sql) => clients.find(sql, clientPk)),
    list: (walletId) => db.read((sql) => clients.list(sql, walletId)),
    change: (walletId, decide) =>
      db.write(walletId, async (tx, joint) => {
        const changes = decide(await clients.list(tx, walletId));
        for (const record of changes.records) {
          await clients.put(tx, walletId, record);
          if (record.revokedAtMs !== null) await keys.forget(tx, walletId, record.clientPk);
        }
        for (const change of changes.budgets) await budgets.set(tx, walletId, change);
        if (changes.records.length + changes.budgets.length > 0) joint.advanceCounter();
        return changes;
      }),
    async anyBudget(nowMs) {
      const rows = await db.read(
        (
          sql,
        ) => sql`SELECT 1 FROM wallet_sidecar.client WHERE budget_state = 'set' AND revoked_at IS NULL
          AND (expires_at IS NULL OR expires_at > ${nowMs}) LIMIT 1`,
      );
      return rows.length > 0;
    },
  };
}

/** The tables that a change of clients touches. */
interface ClientParts {
  readonly clients: ClientRows;
  readonly budgets: BudgetRows;
  readonly keys: IdempotencyRows;
}
