import type { Sandbox } from '../nodes/sandbox/index.ts';
import type { Store } from '../store/ports.ts';

/**
 * Copies names that version 0.2 kept in the sandbox's own database into the store, where the names of all wallets are
 * now. This happens once only.
 */
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
