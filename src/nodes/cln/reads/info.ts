import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { hex } from '@scure/base';
import type { Network } from '../../../codecs/network.ts';
import { refused } from '../../../model/errors.ts';
import type { NodeInfo } from '../../../model/node-info.ts';
import { lessRoutingFees } from '../../remote/place/sendable.ts';
import { type ClnInfo, infoShape } from '../words/wire.ts';
import { readBalance } from './chain.ts';
import { isOpen, isUsable, ourPartMsat, readChannels, sendableMsatOf } from './channels.ts';
import type { ClnRpc } from './rpc.ts';
import type { ClnHandle } from './wallet.ts';

/** Core Lightning's names of the networks; other networks, such as liquid, are not supported. */
const NETWORK_OF: Readonly<Record<string, Network>> = {
  bitcoin: 'bitcoin',
  testnet: 'testnet',
  testnet4: 'testnet',
  signet: 'signet',
  regtest: 'regtest',
};

/** The first release whose `xpay` takes a label, by which payments are known again. */
const FIRST_RELEASE = [26, 6] as const;

/** Reads identity, version and network. Throws `refused` for a network or release that is not supported. */
export async function readInfo(rpc: ClnRpc): Promise<{ info: ClnInfo; network: Network }> {
  const info = await rpc.read('getinfo', {}, infoShape);
  const network = NETWORK_OF[info.network];
  if (!network) {
    throw refused(
      `The network of this Core Lightning (${info.network}) is not supported: use one on bitcoin, testnet, signet or regtest.`,
    );
  }
  if (!isRecent(info.version)) {
    throw refused(
      `Core Lightning ${info.version} is too old: its xpay takes no label, by which payments are known again. Use 26.06 or newer.`,
    );
  }
  return { info, network };
}

/**
 * Reads the node and its balances (docs/api.md, Node info). Its version is that of at most a minute ago: the node
 * answers one call after another, so each that is left out is time for the caller.
 */
export async function nodeInfo({
  rpc,
  wallet,
}: Pick<ClnHandle, 'rpc' | 'wallet'>): Promise<NodeInfo> {
  const [info, coins, all] = await Promise.all([
    wallet.info.get(async () => (await readInfo(rpc)).info),
    readBalance(rpc),
    readChannels(rpc),
  ]);
  const channels = all.filter(isOpen);
  const sum = (amounts: readonly bigint[]) => amounts.reduce((total, one) => total + one, 0n);
  const maxSendableMsat = sendableMsatOf(channels);
  const version = versionOf(info);
  return {
    version,
    measurement: hex.encode(sha256(utf8ToBytes(`cln/${version}/${info.version}`))),
    userPk: wallet.userPk,
    nodePk: info.id,
    lightningBalanceMsat: sum(channels.map(ourPartMsat)),
    lightningSendableMsat: lessRoutingFees(maxSendableMsat),
    lightningMaxSendableMsat: maxSendableMsat,
    onchainBalanceMsat: sum(coins.map(({ amount_msat }) => amount_msat)),
    // Core Lightning knows an unconfirmed output only when its own wallet made it.
    onchainTrustedMsat: sum(coins.map(({ amount_msat }) => amount_msat)),
    numChannels: channels.length,
    numUsableChannels: channels.filter(isUsable).length,
  };
}

/** The version without the `v` and without what a build appends: `v26.06.6-3-gabc` is 26.06.6. */
export function versionOf({ version }: Pick<ClnInfo, 'version'>): string {
  return /^v?(\d+\.\d+(?:\.\d+)?)/.exec(version)?.[1] ?? version;
}

/** Versions of builds between releases, which begin with no number, count as recent. */
function isRecent(version: string): boolean {
  const [, year, month] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
  if (year === undefined || month === undefined) return true;
  const [firstYear, firstMonth] = FIRST_RELEASE;
  return Number(year) > firstYear || (Number(year) === firstYear && Number(month) >= firstMonth);
}
