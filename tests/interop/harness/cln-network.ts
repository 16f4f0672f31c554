import type { ClnBinaries } from './binaries.ts';
import { type Chain, type OnChain, startOnChain } from './chain.ts';
import { fund, openChannel, PUSH_SAT, reached, usable } from './channels.ts';
import { type ClnNode, startCln } from './cln.ts';
import { holdingPlugin } from './cln-plugins.ts';
import { clnSteps } from './cln-steps.ts';

/** A chain and two Core Lightning nodes that can pay each other. */
export interface ClnNetwork extends OnChain {
  /** The version of its nodes, such as `26.06.6`. */
  readonly version: string;
  /** The node that opened the channel. It has 0.5 BTC on chain, less the 0.1 of the channel, half of which is bob's. */
  readonly alice: ClnNode;
  /** The other node. It has 0.5 BTC on chain, and can hold what it is paid. */
  readonly bob: ClnNode;
  /** Resolves when the channel can carry payments, such as after a restart of either node. */
  channelUsable(): Promise<void>;
  /**
   * Adds a node to which bob opens a channel, so that alice pays it through bob and pays his fee. Resolves when alice
   * knows the route. No other node learns of a private channel.
   */
  addBeyondBob(name: string, options?: { readonly isPrivate?: boolean }): Promise<ClnNode>;
}

/** A node has several coins, because Core Lightning does not spend its change before it is confirmed. */
const COINS = 20n;

/**
 * Starts btcd and two Core Lightning nodes, funds both and opens a channel from alice to bob, with half of it on bob's
 * side.
 */
export function startClnNetwork(binaries: ClnBinaries): Promise<ClnNetwork> {
  return startOnChain(binaries.btcd, async (chain) => {
    const { btcd } = chain;
    const common = clnOn(chain, binaries);
    const holding = await holdingPlugin(chain.folder);
    const [alice, bob] = await Promise.all([
      startCln({ ...common, name: 'alice' }),
      startCln({ ...common, name: 'bob', flags: [`--plugin=${holding}`] }),
    ]);
    const [opener, other] = [clnSteps(alice), clnSteps(bob)];
    const channelUsable = () => usable([opener, other]);
    await fund(btcd, [opener, other], COINS);
    await openChannel(btcd, opener, other, { pushSat: PUSH_SAT });
    await Promise.all([channelUsable(), alice.restAnswers(), bob.restAnswers()]);
    const addBeyondBob: ClnNetwork['addBeyondBob'] = async (name, { isPrivate = false } = {}) => {
      const node = await startCln({ ...common, name });
      const beyond = clnSteps(node);
      await openChannel(btcd, other, beyond, { isPrivate });
      await Promise.all([usable([beyond]), node.restAnswers()]);
      if (!isPrivate) await reached(opener, beyond);
      return node;
    };
    return { version: binaries.clnVersion, alice, bob, channelUsable, addBeyondBob };
  });
}

/** What Core Lightning needs on that chain, besides its name. */
export function clnOn({ folder, bitcoinCli, reaper }: Chain, binaries: ClnBinaries) {
  return { binaries, parentFolder: folder, bitcoinCli, reaper };
}
