import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { hex } from '@scure/base';
import type { Network } from '../../../codecs/network.ts';
import { MSAT_PER_SAT } from '../../../model/amount.ts';
import { refused } from '../../../model/errors.ts';
import type { NodeInfo } from '../../../model/node-info.ts';
import { lessRoutingFees } from '../../remote/place/sendable.ts';
import { infoShape, type LndInfo, walletBalanceShape } from '../words/wire.ts';
import { openChannels, readChannels, sendableSat } from './channels.ts';
import { type LockedCoin, lockedCoins } from './leases.ts';
import type { LndRest } from './rest.ts';
import { untrustedSat } from './transactions.ts';
import type { LndHandle } from './wallet.ts';

/** LND's names of the networks; other networks, such as simnet, are not supported. */
const NETWORK_OF: Readonly<Record<string, Network>> = {
  mainnet: 'bitcoin',
  testnet: 'testnet',
  testnet4: 'testnet',
  signet: 'signet',
  regtest: 'regtest',
};

/** Reads LND's identity, version and network. Throws `refused` for a network that is not supported. */
export async function readInfo(rest: LndRest): Promise<{ info: LndInfo; network: Network }> {
  const info = await rest.get('/v1/getinfo', infoShape);
  const name = info.chains[0]?.network ?? '';
  const network = NETWORK_OF[name];
  if (network) return { info, network };
  throw refused(
    `The network of this LND (${name || 'unknown'}) is not supported: use an LND on mainnet, testnet, signet or regtest.`,
  );
}

/**
 * Reads the node and its balances (docs/api.md, Node info). LND says how many channels are pending, and their list is
 * read only where there are any: LND takes as long for it as for the other answers together.
 */
export async function nodeInfo({ rest, owner, wallet }: LndHandle): Promise<NodeInfo> {
  const [info, balance, channels] = await Promise.all([
    rest.get('/v1/getinfo', infoShape),
    onchainBalance({ rest, owner }),
    openChannels(rest),
  ]);
  const { open, pending } =
    info.num_pending_channels === 0 ? { open: channels, pending: [] } : await readChannels(rest);
  const lightningSat = [...open, ...pending].reduce((sum, one) => sum + one.local_balance, 0n);
  const maxSendableMsat = open.reduce((sum, one) => sum + sendableSat(one), 0n) * MSAT_PER_SAT;
  const untrusted = balance.hasUnconfirmed ? await untrustedSat(owner) : 0n;
  const version = versionOf(info);
  return {
    version,
    measurement: hex.encode(sha256(utf8ToBytes(`lnd/${version}/${info.commit_hash}`))),
    userPk: wallet.userPk,
    nodePk: info.identity_pubkey,
    lightningBalanceMsat: lightningSat * MSAT_PER_SAT,
    lightningSendableMsat: lessRoutingFees(maxSendableMsat),
    lightningMaxSendableMsat: maxSendableMsat,
    onchainBalanceMsat: balance.totalSat * MSAT_PER_SAT,
    onchainTrustedMsat: (balance.totalSat - untrusted) * MSAT_PER_SAT,
    numChannels: open.length + pending.length,
    numUsableChannels: open.filter(({ active }) => active).length,
  };
}

/** Returns LND's version without the commit that LND appends to it. */
export function versionOf({ version }: Pick<LndInfo, 'version'>): string {
  return version.split(' ')[0] ?? version;
}

/** How often the balance is read again because a lock changed meanwhile. */
const MOST_READS = 4;

interface OnchainBalance {
  /** All coins that no transaction spends, also locked ones. */
  readonly totalSat: bigint;
  /** Whether some of them are unconfirmed. */
  readonly hasUnconfirmed: boolean;
}

/**
 * Reads the balance with the coins that are locked and not spent, which LND leaves out (docs/decisions.md 152). LND's
 * own sum of locked coins is not used, since it also has coins that a published send has spent. `rest` reads the
 * balance, `owner` the locks.
 */
async function onchainBalance({
  rest,
  owner,
}: Pick<LndHandle, 'rest' | 'owner'>): Promise<OnchainBalance> {
  let locked: readonly LockedCoin[] = [];
  for (let read = 1; ; read++) {
    const balance = await rest.get('/v1/balance/blockchain', walletBalanceShape);
    const isLocked = balance.locked_balance > 0n;
    const now = isLocked ? await lockedCoins(owner) : [];
    // The sum is true only of locks that were there before and after the balance was read.
    if (!isLocked || namesOf(now) === namesOf(locked) || read === MOST_READS) {
      return {
        totalSat: balance.total_balance + sumSat(now),
        hasUnconfirmed: isLocked || balance.unconfirmed_balance !== 0n,
      };
    }
    locked = now;
  }
}

function sumSat(locked: readonly LockedCoin[]): bigint {
  return locked.reduce((sum, { amountSat }) => sum + amountSat, 0n);
}

function namesOf(locked: readonly LockedCoin[]): string {
  return locked
    .map(({ outpoint }) => outpoint)
    .toSorted()
    .join();
}
