import { base64, hex } from '@scure/base';
import { MSAT_PER_SAT, wholeSats } from '../../model/amount.ts';
import type { ChannelPeer } from '../../model/channel.ts';
import { ApiError, refused } from '../../model/errors.ts';
import type { OpenChannelCommand, OpenedChannel } from '../node.ts';
import { channelPeerOf } from '../remote/channel-peer.ts';
import { requireSameChannel } from '../remote/channel-refusals.ts';
import { requireFeeWithin } from '../remote/fee-limit.ts';
import { refusesToOpen } from './certainty.ts';
import { openingCostMsat } from './channel-fees.ts';
import { channelIdOf, openedAs, readChannels } from './channels.ts';
import { LARGEST_OUTPUT_BYTES, readCoins, spendable, transactionVbytes } from './coins.ts';
import { satPerVbyte } from './fee-rate.ts';
import { orTellingLocks } from './leases.ts';
import { refusalText } from './refusal.ts';
import type { LndRest } from './rest.ts';
import { anyShape, type LndCoin, openedChannelShape } from './wire.ts';

const OPEN_TIMEOUT_MS = 120_000;
/** Bytes of the channel's output and of the largest change output. */
const OUTPUTS = [LARGEST_OUTPUT_BYTES, LARGEST_OUTPUT_BYTES];
/** Change below this many satoshis is too small for an output and goes to the miner. */
const DUST_SAT = 354n;

/** Coins for a channel, and the most that spending them costs. */
interface Funding {
  readonly coins: readonly LndCoin[];
  readonly satPerVbyte: bigint;
  readonly feeBoundSat: bigint;
}

/**
 * Returns the most that opening a channel of that value costs at present rates, in millisatoshis. Throws `refused` when
 * the coins do not suffice.
 */
export async function estimateOpenFee(owner: LndRest, valueMsat: bigint): Promise<bigint> {
  return (await chooseFunding(owner, wholeSats(valueMsat))).feeBoundSat * MSAT_PER_SAT;
}

/**
 * Opens a channel, once for a user channel id, which LND keeps as the channel's memo (docs/decisions.md 31).
 * The coins and the fee rate are chosen here, so that the fee is bounded before anything is signed. The caller must
 * hold a lock, because LND itself does not prevent a second channel with the same memo.
 */
export async function openChannel(
  rest: LndRest,
  owner: LndRest,
  configuredPeer: ChannelPeer | null,
  command: OpenChannelCommand,
): Promise<OpenedChannel> {
  const known = await alreadyOpened(owner, command);
  if (known) return known;
  const peer = channelPeerOf(command.peer, configuredPeer);
  const { valueMsat, userChannelId, maxFeeMsat } = command;
  const funding = await chooseFunding(owner, wholeSats(valueMsat));
  requireFeeWithin('open', funding.feeBoundSat * MSAT_PER_SAT, maxFeeMsat);
  await connectPeer(rest, peer);
  try {
    const { funding_txid_bytes, output_index } = await rest.post(
      '/v1/channels',
      {
        node_pubkey: base64.encode(hex.decode(peer.pubkey)),
        local_funding_amount: `${wholeSats(valueMsat)}`,
        memo: openedAs(userChannelId),
        sat_per_vbyte: `${funding.satPerVbyte}`,
        outpoints: funding.coins.map(({ outpoint }) => outpoint),
      },
      openedChannelShape,
      { timeoutMs: OPEN_TIMEOUT_MS, certainty: refusesToOpen },
    );
    const txid = hex.encode(hex.decode(funding_txid_bytes).reverse());
    return { ...(await openedChannel(owner, command, `${txid}:${output_index}`)), isNew: true };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // The channel may be open although LND refused: the request may have arrived twice.
    const opened = await alreadyOpened(owner, command).catch(() => null);
    if (opened) return { ...opened, isNew: true };
    throw error;
  }
}

async function alreadyOpened(
  owner: LndRest,
  command: OpenChannelCommand,
): Promise<OpenedChannel | null> {
  const { userChannelId } = command;
  const { open, pending } = await readChannels(owner);
  const channel = [...open, ...pending].find(({ memo }) => memo === openedAs(userChannelId));
  if (channel === undefined) return null;
  const peer = 'remote_pubkey' in channel ? channel.remote_pubkey : channel.remote_node_pub;
  requireSameChannel({ valueSat: channel.capacity, peer }, command);
  return { ...(await openedChannel(owner, command, channel.channel_point)), isNew: false };
}

async function openedChannel(
  owner: LndRest,
  { userChannelId, maxFeeMsat }: OpenChannelCommand,
  channelPoint: string,
) {
  const [txid = ''] = channelPoint.split(':');
  const feeMsat = maxFeeMsat === null ? null : await openingCostMsat(owner, txid);
  return { channelId: channelIdOf(channelPoint), userChannelId, feeMsat };
}

async function chooseFunding(owner: LndRest, valueSat: bigint): Promise<Funding> {
  const [coins, rate] = await Promise.all([readCoins(owner, 1), satPerVbyte(owner)]);
  return orTellingLocks(owner, () => fundingFor(coins, valueSat, rate));
}

/**
 * Chooses the largest coins until they pay for the channel, and bounds the fee. Pure. Throws `refused` when they do not
 * suffice.
 */
export function fundingFor(utxos: readonly LndCoin[], valueSat: bigint, rate: bigint): Funding {
  const largestFirst = spendable(utxos).toSorted((a, b) => Number(b.amount_sat - a.amount_sat));
  const coins: LndCoin[] = [];
  let sumSat = 0n;
  for (const coin of largestFirst) {
    coins.push(coin);
    sumSat += coin.amount_sat;
    const feeSat = transactionVbytes(coins, OUTPUTS) * rate;
    if (sumSat >= valueSat + feeSat) {
      return { coins, satPerVbyte: rate, feeBoundSat: feeSat + DUST_SAT };
    }
  }
  throw refused(
    'The confirmed coins of the wallet do not suffice for this channel and its fee: receive more, or open a smaller one.',
  );
}

async function connectPeer(rest: LndRest, { pubkey, host }: ChannelPeer): Promise<void> {
  try {
    await rest.post('/v1/peers', { addr: { pubkey, host }, timeout: '10' }, anyShape, {
      harmlessTwice: true,
    });
  } catch (error) {
    if (!refusalText(error).includes('already connected')) throw error;
  }
}
