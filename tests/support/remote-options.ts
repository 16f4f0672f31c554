import { systemClock } from '../../src/lib/clock.ts';
import type { NodeCredentials } from '../../src/model/credentials.ts';
import type { RemoteOptions } from '../../src/nodes/remote-kind.ts';
import { memoryState } from './memory-state.ts';

/** A peer for new channels, to which nothing is sent. */
export const SOME_PEER = { pubkey: `02${'ab'.repeat(32)}`, host: '127.0.0.1:1' };

/** The options of a connector of these wallets, which keeps its rows in memory, unless `change` says otherwise. */
export function remoteOptions(
  entries: readonly NodeCredentials[],
  change: Partial<RemoteOptions> = {},
): RemoteOptions {
  return {
    state: memoryState(),
    clock: systemClock,
    random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
    root: null,
    entries,
    proxy: null,
    channelPeer: null,
    mark: 'aa'.repeat(16),
    ...change,
  };
}
