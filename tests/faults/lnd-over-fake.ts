import { randomBytes } from 'node:crypto';
import { systemClock } from '../../src/lib/clock.ts';
import { openLnd } from '../../src/nodes/lnd/index.ts';
import type { WalletNode } from '../../src/nodes/node.ts';
import type { FakeLnd } from '../hostile/fake-lnd.ts';
import { memoryState } from '../support/memory-state.ts';

/** The wallet of a fake LND by the connector for LND, in this process. */
export async function lndOverFake(
  fake: FakeLnd,
): Promise<{ readonly node: WalletNode; close(): Promise<void> }> {
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
    clock: systemClock,
    random: (bytes) => new Uint8Array(randomBytes(bytes)),
    root: null,
    entries: [entry],
    proxy: null,
    channelPeer: null,
    mark: 'aa'.repeat(16),
  });
  const { node } = await connector.connectConfigured(entry);
  return { node, close: () => connector.close() };
}
