import type { Binaries, ClnBinaries } from './binaries.ts';
import { type OnChain, startOnChain } from './chain.ts';
import { fund, openChannel, PUSH_SAT, usable } from './channels.ts';
import { type ClnNode, startCln } from './cln.ts';
import { clnOn } from './cln-network.ts';
import { clnSteps } from './cln-steps.ts';
import { type LndNode, startLnd } from './lnd.ts';
import { lndSteps } from './lnd-steps.ts';
import { lndOn } from './network.ts';

/** A chain, an LND and a Core Lightning that can pay each other. */
export interface MixedNetwork extends OnChain {
  /** The versions of both, such as `LND 0.21.2-beta, Core Lightning 26.06.6`. */
  readonly version: string;
  /** It opened the channel. It has 0.5 BTC on chain, less the 0.1 of the channel, half of which is the other's. */
  readonly lnd: LndNode;
  /** It has 0.5 BTC on chain. */
  readonly cln: ClnNode;
  /** Resolves when the channel can carry payments, such as after a restart of either node. */
  channelUsable(): Promise<void>;
}

/** Starts btcd, an LND and a Core Lightning, funds both and opens a channel, with half of it on each side. */
export function startMixedNetwork(
  binaries: Binaries,
  clnBinaries: ClnBinaries,
): Promise<MixedNetwork> {
  return startOnChain(binaries.btcd, async (chain) => {
    const { btcd } = chain;
    const [lnd, cln] = await Promise.all([
      startLnd({ ...lndOn(chain, binaries), name: 'lnd' }),
      startCln({ ...clnOn(chain, clnBinaries), name: 'cln' }),
    ]);
    const [opener, other] = [lndSteps(lnd), clnSteps(cln)];
    const channelUsable = () => usable([opener, other]);
    await fund(btcd, [opener, other]);
    await openChannel(btcd, opener, other, { pushSat: PUSH_SAT });
    await Promise.all([channelUsable(), cln.restAnswers()]);
    const version = `LND ${binaries.lndVersion}, Core Lightning ${clnBinaries.clnVersion}`;
    return { version, lnd, cln, channelUsable };
  });
}
