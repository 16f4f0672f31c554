import { hex } from '@scure/base';
import { NETWORKS, type Network } from '../../../codecs/network.ts';
import type { ToldBlock } from './esplora-answers.ts';
import { BadAnswer } from './esplora-words.ts';

/** A chain may go back so many blocks. LDK takes what is deeper for settled, and closes channels where it is not. */
const MOST_BACK = 6;
/** Mainnet waits for a block so long once in many years. */
const OLD_AFTER_MS = 3 * 3_600_000;

interface Standing {
  readonly network: Network;
  /** The hash of the Esplora's first block. */
  readonly firstHash: string;
  readonly newest: ToldBlock;
  /** The greatest height that was seen of this chain; 0 before the first. */
  readonly highest: number;
  /** The machine's time. */
  readonly nowMs: number;
}

/**
 * Looks at the newest block before LDK hears of it. Throws {@link BadAnswer} for the chain of another network, and for
 * one that is behind what was seen before, as that of an Esplora that builds its index anew: LDK would take every
 * transaction in the missing blocks for undone, and close its channels by force. An Esplora whose newest block is
 * recent is not behind, whatever was seen before. Returns what health says of a block that is old, or null.
 */
export function tipNote({ network, firstHash, newest, highest, nowMs }: Standing): string | null {
  if (firstHash !== firstHashOf(network)) {
    throw new BadAnswer(
      `The Esplora has the chain of another network than ${network}, and nothing of it is used: check --esplora-url and --network.`,
    );
  }
  // Blocks of regtest come when somebody asks for them.
  const isOld = network === 'regtest' || nowMs - newest.atMs > OLD_AFTER_MS;
  if (isOld && newest.height < highest - MOST_BACK) {
    throw new BadAnswer(
      `The Esplora is at block ${newest.height}, and the LDK node has seen block ${highest}: nothing of it is used until it has caught up. Wait, or name another one with --esplora-url.`,
    );
  }
  if (!isOld || network === 'regtest') return null;
  const hours = Math.floor((nowMs - newest.atMs) / 3_600_000);
  return `The newest block that the Esplora tells of is ${hours} hours old: check that it follows the chain, and this machine's clock.`;
}

function firstHashOf(network: Network): string {
  return hex.encode(hex.decode(NETWORKS[network].chainHash).reverse());
}
