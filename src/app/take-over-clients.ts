import type { Sandbox } from '../nodes/sandbox/index.ts';
import type { Store } from '../store/ports.ts';

/**
 * Brings clients that the first version kept in the sandbox itself into the store, where clients are kept now. Their
 * credentials stay good. They are taken over once: a store that is lost later must not get them back without budgets.
 */
export async function takeOverSandboxClients(store: Store, sandbox: Sandbox): Promise<void> {
  for (const { walletId, ...legacy } of sandbox.legacyClients()) {
    if ((await store.clients.find(legacy.clientPk)) !== null) continue;
    const { budget } = await store.budgets.get(walletId, legacy.clientPk, legacy.createdAtMs);
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
        },
      ],
      budgets: [],
    }));
  }
  sandbox.forgetLegacyClients();
}
