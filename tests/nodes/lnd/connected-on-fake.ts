import { randomBytes } from 'node:crypto';
import { openLnd } from '../../../src/nodes/lnd/index.ts';
import type { WalletNode } from '../../../src/nodes/node.ts';
import type { FakeLnd } from '../../hostile/fake-lnd.ts';
import { memoryState } from '../../support/memory-state.ts';

/** The connector's wallet of a fake LND, for the administrator's macaroon. */
export async function connectedOnFake(
  fake: FakeLnd,
): Promise<{ readonly node: WalletNode; readonly walletId: string; close(): Promise<void> }> {
  const entry = {
    kind: 'lnd' as const,
    url: fake.url,
    cert: fake.cert,
    nodePk: fake.pubkey,
    network: 'regtest' as const,
    token: fake.adminMacaroon,
  };
  const connector = openLnd({
    state: memoryState(),
    clock: { now: () => Date.now() },
    random: (bytes) => new Uint8Array(randomBytes(bytes)),
    root: null,
    entries: [entry],
    proxy: null,
    channelPeer: null,
    mark: 'aa'.repeat(16),
  });
  const { node, userPk } = await connector.connectConfigured(entry);
  return { node, walletId: userPk, close: () => connector.close() };
}
