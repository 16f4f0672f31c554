import type { Sandbox } from '../nodes/sandbox/index.ts';
import type { Store } from '../store/ports.ts';
import { periodStart } from '../wallet/budget/budget.ts';

/**
 * Copies clients that version 0.1 kept in the sandbox's own database into the store, where clients are kept now. Their
 * credentials stay valid. This happens once only, because a store that is lost later must not get these clients back
 * without their budgets.
 */
export async function takeOverSandboxClients(
  store: Pick<Store, 'clients' | 'budgets'>,
  sandbox: Sandbox,
): Promise<void> {
  const clients = sandbox.legacyClients();
  // Forgetting writes to the disk, which no later start needs.
  if (clients.length === 0) return;
  for (const { walletId, ...legacy } of clients) {
    if ((await store.clients.find(legacy.clientPk)) !== null) continue;
    const { budget } = await store.budgets.get(
      walletId,
      legacy.clientPk,
      legacy.createdAtMs,
      periodStart,
    );
    await store.clients.change(walletId, () => ({
      records: [
        {
          ...legacy,
          walletId,
          nodeKind: 'sandbox',
          parentPk: null,
          budgetState: budget === null ? 'none' : 'set',
          token: { ...legacy.token, exposed: false },
          endedTokenIds: [],
          approveAboveMsat: null,
          origins: null,
          own: false,
        },
      ],
      budgets: [],
    }));
  }
  sandbox.forgetLegacyClients();
}

/** Copies names that version 0.2 kept in the sandbox's database into the store, once. */
export async function takeOverSandboxNames(
  store: Pick<Store, 'names'>,
  sandbox: Sandbox,
): Promise<void> {
  const names = sandbox.legacyNames();
  if (names.length === 0) return;
  for (const legacy of names) {
    const { walletId, username } = legacy;
    // The process was killed before the names were forgotten: this one is in the store already.
    if ((await store.names.ofWallet(walletId)) !== null) continue;
    await store.names.claim(walletId, username, () => ({ ...legacy, nodeKind: 'sandbox' }));
  }
  sandbox.forgetLegacyNames();
}
