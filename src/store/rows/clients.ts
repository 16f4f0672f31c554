import type { ClientStore } from '../ports.ts';
import type { BudgetRows } from './budgets.ts';
import type { ClientRows } from './client-rows.ts';
import type { IdempotencyRows } from './idempotency.ts';
import type { RowDatabase, Rows } from './rows.ts';

interface ClientParts {
  readonly clients: ClientRows;
  readonly budgets: BudgetRows;
  readonly keys: IdempotencyRows;
}

/** Returns the {@link ClientStore}. */
export function clientStore(
  db: RowDatabase,
  { prepare }: Rows,
  { clients, budgets, keys }: ClientParts,
): ClientStore {
  const isActive = "budget_state = 'set' AND revoked_at IS NULL";
  const withBudget = prepare<{ found: unknown }>(
    `SELECT EXISTS (SELECT 1 FROM wallet_sidecar.client WHERE ${isActive} AND expires_at IS NULL)
       OR EXISTS (SELECT 1 FROM wallet_sidecar.client WHERE ${isActive} AND expires_at > ?) AS found`,
  );
  return {
    find: (clientPk) => db.read(() => clients.find(clientPk)),
    list: (walletId) => db.read(() => clients.list(walletId)),
    change: (walletId, decide) =>
      db.write(walletId, function* ({ advanceCounter }) {
        const changes = decide(yield* clients.list(walletId));
        const { records, budgets: wanted } = changes;
        for (const record of records) {
          yield* clients.put(walletId, record);
          if (record.revokedAtMs !== null) yield* keys.forget(walletId, record.clientPk);
        }
        for (const change of wanted) yield* budgets.set(walletId, change);
        if (records.length + wanted.length > 0) advanceCounter();
        return changes;
      }),
    anyBudget: async (nowMs) => Boolean((await db.read(() => withBudget.one(nowMs)))?.found),
  };
}
