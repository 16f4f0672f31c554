import { waitUntil } from '../../support/until.ts';
import type { Binaries } from './binaries.ts';
import { type Chain, type OnChain, startOnChain } from './chain.ts';
import { fund, openChannel, PUSH_SAT, reached, usable } from './channels.ts';
import {
  type LndDatabase,
  type LndNode,
  type LndProcess,
  startLnd,
  startLndProcess,
} from './lnd.ts';
import { lndSteps } from './lnd-steps.ts';

/** A chain and two nodes that can pay each other. */
export interface Network extends OnChain {
  /** The version of its LND nodes, such as `0.21.2-beta`. */
  readonly version: string;
  /** The node that opened the channel. It has 0.5 BTC on chain, less the 0.1 of the channel, half of which is bob's. */
  readonly alice: LndNode;
  /** The other node. It has 0.5 BTC on chain. */
  readonly bob: LndNode;
  /** Resolves when the channel can carry payments, such as after a restart of either node. */
  channelUsable(): Promise<void>;
  /**
   * Adds a node to which bob opens a channel, so that alice pays it through bob and pays his fee. Resolves when alice
   * knows the route. No other node learns of a private channel.
   */
  addBeyondBob(name: string, options?: { readonly isPrivate?: boolean }): Promise<LndNode>;
  /** Opens another channel from alice to bob, like the first. Resolves when both can use it. */
  addChannel(): Promise<void>;
  /** Adds a node on the same chain without a wallet, macaroons and channels. */
  addFreshNode(name: string): Promise<LndProcess>;
}

/**
 * Starts btcd and two LND nodes, funds both and opens a channel from alice to bob, with half of it on bob's side. The
 * database is alice's.
 */
export function startNetwork(
  binaries: Binaries,
  { database = 'bbolt' }: { readonly database?: LndDatabase } = {},
): Promise<Network> {
  return startOnChain(binaries.btcd, async (chain) => {
    const { btcd } = chain;
    const common = lndOn(chain, binaries);
    const [alice, bob] = await Promise.all([
      startLnd({ ...common, name: 'alice', database }),
      startLnd({ ...common, name: 'bob' }),
    ]);
    const [opener, other] = [lndSteps(alice), lndSteps(bob)];
    const channelUsable = () => usable([opener, other]);
    await fund(btcd, [opener, other]);
    await openChannel(btcd, opener, other, { pushSat: PUSH_SAT });
    await channelUsable();
    const addBeyondBob: Network['addBeyondBob'] = async (name, { isPrivate = false } = {}) => {
      const node = await startLnd({ ...common, name });
      const beyond = lndSteps(node);
      await openChannel(btcd, other, beyond, { isPrivate });
      await usable([beyond]);
      if (!isPrivate) await reached(opener, beyond);
      return node;
    };
    return {
      version: binaries.lndVersion,
      alice,
      bob,
      channelUsable,
      addBeyondBob,
      async addChannel() {
        await openChannel(btcd, opener, other, { pushSat: PUSH_SAT });
        await Promise.all([alice, bob].map((node) => usesAllChannels(node)));
      },
      addFreshNode: (name: string) => startLndProcess({ ...common, name, wallet: 'none' }),
    };
  });
}

async function usesAllChannels({ name, rest }: LndNode): Promise<void> {
  await waitUntil(`${name} can use all its channels`, async () => {
    const { num_active_channels, num_pending_channels } = await rest<{
      num_active_channels: number;
      num_pending_channels: number;
    }>('GET', '/v1/getinfo');
    const { channels } = await rest<{ channels: unknown[] }>('GET', '/v1/channels');
    return num_pending_channels === 0 && num_active_channels === channels.length;
  });
}

/** What LND needs on that chain, besides its name. */
export function lndOn({ folder, access, feeUrl, reaper }: Chain, { lnd }: Binaries) {
  return { binary: lnd, parentFolder: folder, chain: access, feeUrl, reaper };
}
