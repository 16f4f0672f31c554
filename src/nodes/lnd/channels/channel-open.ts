import { base64, hex } from '@scure/base';
import { z } from 'zod';
import { sleep } from '../../../lib/sleep.ts';
import { MSAT_PER_SAT, wholeSats } from '../../../model/amount.ts';
import type { ChannelPeer } from '../../../model/channel.ts';
import { ApiError, refused } from '../../../model/errors.ts';
import { channelIdOf } from '../../channel-id.ts';
import type { OpenChannelCommand, OpenedChannel } from '../../node.ts';
import { requireSameChannel } from '../../refusals.ts';
import {
  CHANNEL_TIMEOUT_MS,
  channelPeerOf,
  MAY_BE_OPENING,
  maybeOpening,
} from '../../remote/orders/channel-refusals.ts';
import { requireFeeWithin } from '../../remote/orders/fee-limit.ts';
import { keptRows } from '../../remote/place/kept-rows.ts';
import { openedAs, readChannels } from '../reads/channels.ts';
import { LARGEST_OUTPUT_BYTES, readCoins, spendable, transactionVbytes } from '../reads/coins.ts';
import { satPerVbyte } from '../reads/fee-rate.ts';
import { lockedCoins, orTellingLocks, readAllLeases } from '../reads/leases.ts';
import type { LndRest } from '../reads/rest.ts';
import type { LndHandle, LndWallet } from '../reads/wallet.ts';
import { isCoinTaken, refusesToOpen } from '../words/certainty.ts';
import { refusalText } from '../words/refusal.ts';
import { anyShape, type LndCoin, openedChannelShape } from '../words/wire.ts';
import { openingCostMsat } from './channel-fees.ts';

/** How long LND's talk with the peer about an earlier request is waited for, and how often it is looked at. */
const TALKS_MOST_MS = 10_000;
const LOOK_AGAIN_MS = 250;
/** Bytes of the channel's output and of the largest change output. */
const OUTPUTS = [LARGEST_OUTPUT_BYTES, LARGEST_OUTPUT_BYTES];
/** Change below this many satoshis is too small for an output and goes to the miner. */
const DUST_SAT = 354n;

const openingShape = z.object({
  /** Satoshis as decimal text. */
  valueSat: z.string().regex(/^\d+$/),
  peer: z.string(),
  /** The outpoint that every request for this channel spends. */
  anchor: z.string(),
});
type Opening = z.output<typeof openingShape>;

/** Channels that were asked for, by their user channel id; none where it certainly is not. */
const OPENINGS = keptRows('lnd_opening', openingShape);

type OpeningWallet = Pick<LndWallet, 'rows' | 'userPk' | 'elapsedMs' | 'closed'>;

interface Funding {
  readonly coins: readonly LndCoin[];
  readonly satPerVbyte: bigint;
  readonly feeBoundSat: bigint;
}

/** Returns the most that opening a channel costs now, in millisatoshis. Throws `refused` without the coins. */
export async function estimateOpenFee(owner: LndRest, valueMsat: bigint): Promise<bigint> {
  return (await chooseFunding(owner, wholeSats(valueMsat))).feeBoundSat * MSAT_PER_SAT;
}

/**
 * Opens a channel, once for a user channel id, which LND keeps as the channel's memo (docs/decisions.md 31).
 * The coins and the fee rate are chosen here, so that the fee is bounded before anything is signed. LND itself does not
 * prevent a second channel with the same memo, and shows none while it talks with the peer. So one coin is stored
 * before LND is asked, and every request for that id spends it: of two of them LND refuses one (docs/decisions.md 31).
 * The caller must hold a lock.
 */
export async function openChannel(
  { rest, owner }: Pick<LndHandle, 'rest' | 'owner'>,
  wallet: OpeningWallet,
  configuredPeer: ChannelPeer | null,
  command: OpenChannelCommand,
): Promise<OpenedChannel> {
  const known = await alreadyOpened(owner, command);
  if (known) return known;
  const { valueMsat, userChannelId, maxFeeMsat } = command;
  const valueSat = wholeSats(valueMsat);
  const earlier = await OPENINGS.get(wallet, userChannelId);
  const before = earlier && (await settled(owner, wallet, earlier, command));
  if (before === 'opened') return requireOpened(owner, command);
  const peer = channelPeerOf(command.peer, configuredPeer);
  const anchor = before === 'open' && earlier ? earlier.anchor : null;
  const funding = await chooseFunding(owner, valueSat, anchor);
  requireFeeWithin('open', funding.feeBoundSat * MSAT_PER_SAT, maxFeeMsat);
  await connectPeer(rest, peer);
  const [first] = funding.coins.map(outpointOf);
  const opening = { valueSat: `${valueSat}`, peer: peer.pubkey, anchor: anchor ?? first ?? '' };
  await OPENINGS.put(wallet, userChannelId, opening);
  try {
    const { funding_txid_bytes, output_index } = await rest.post(
      '/v1/channels',
      {
        node_pubkey: base64.encode(hex.decode(peer.pubkey)),
        local_funding_amount: `${valueSat}`,
        memo: openedAs(userChannelId),
        sat_per_vbyte: `${funding.satPerVbyte}`,
        outpoints: funding.coins.map(({ outpoint }) => outpoint),
      },
      openedChannelShape,
      { timeoutMs: CHANNEL_TIMEOUT_MS, certainty: refusesToOpen },
    );
    const txid = hex.encode(hex.decode(funding_txid_bytes).reverse());
    return { ...(await openedChannel(owner, command, `${txid}:${output_index}`)), isNew: true };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // The channel may be open although LND refused: the request may have arrived twice.
    const opened = await alreadyOpened(owner, command).catch(() => null);
    if (opened) return { ...opened, isNew: true };
    if (error.outcomeUnknown) throw error;
    // The refusal of a repeat says nothing of the earlier request.
    if (anchor !== null) {
      if (!isCoinTaken(error)) throw orEarlier(error);
      // The earlier request came first.
      if ((await settled(owner, wallet, opening, command)) === 'opened') {
        return requireOpened(owner, command);
      }
      throw maybeOpening();
    }
    await OPENINGS.put(wallet, userChannelId, null);
    throw error;
  }
}

/**
 * What became of an earlier request for the channel: `opened`, `open` while it may still arrive and LND has its coin
 * free, or `never`. Waits while LND holds the coin, as it does while it talks with the peer. Throws `timeout` when that
 * takes long.
 */
async function settled(
  owner: LndRest,
  { elapsedMs, closed }: OpeningWallet,
  earlier: Opening,
  command: OpenChannelCommand,
): Promise<'opened' | 'open' | 'never'> {
  const sinceMs = elapsedMs();
  for (;;) {
    const coin = await standingOfCoin(owner, earlier.anchor);
    if (coin !== 'spent') {
      requireSameChannel({ ...earlier, valueSat: BigInt(earlier.valueSat) }, command);
    }
    if (coin === 'free') return 'open';
    // LND lists a channel before it publishes the transaction that spends the coin.
    if (await alreadyOpened(owner, command)) return 'opened';
    if (coin === 'spent') return 'never';
    if (elapsedMs() - sinceMs >= TALKS_MOST_MS || closed.aborted) throw maybeOpening();
    await sleep(LOOK_AGAIN_MS, closed);
  }
}

/**
 * Returns how LND has the coin of an earlier request: `free`, so that another request with it excludes that one;
 * `held`, while that one may be under way; `spent`, so that no request with it can succeed any more. Throws `forbidden`
 * where the macaroon may not read locks.
 */
async function standingOfCoin(
  owner: LndRest,
  outpoint: string,
): Promise<'free' | 'held' | 'spent'> {
  const free = await readCoins(owner, 0);
  if (free.some((coin) => outpointOf(coin) === outpoint)) return 'free';
  const locked = await lockedCoins(owner, readAllLeases);
  return locked.some((one) => one.outpoint === outpoint) ? 'held' : 'spent';
}

async function requireOpened(owner: LndRest, command: OpenChannelCommand): Promise<OpenedChannel> {
  const opened = await alreadyOpened(owner, command);
  if (opened) return opened;
  throw maybeOpening();
}

function orEarlier({ kind, message, cause }: ApiError): ApiError {
  return new ApiError(kind, `${message} ${MAY_BE_OPENING}.`, { outcomeUnknown: true, cause });
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

async function chooseFunding(
  owner: LndRest,
  valueSat: bigint,
  anchor: string | null = null,
): Promise<Funding> {
  const [coins, rate] = await Promise.all([readCoins(owner, 1), satPerVbyte(owner)]);
  return orTellingLocks(owner, () => fundingFor(coins, valueSat, rate, anchor));
}

/**
 * Chooses the largest coins until they pay for the channel, and bounds the fee; the coin of the outpoint `anchor` is
 * always one of them. Pure. Throws `refused` when they do not suffice.
 */
export function fundingFor(
  utxos: readonly LndCoin[],
  valueSat: bigint,
  rate: bigint,
  anchor: string | null = null,
): Funding {
  const isAnchor = (coin: LndCoin) => outpointOf(coin) === anchor;
  const largestFirst = spendable(utxos).toSorted(
    (a, b) => Number(isAnchor(b)) - Number(isAnchor(a)) || Number(b.amount_sat - a.amount_sat),
  );
  const hasAnchor = anchor === null || largestFirst.some(isAnchor);
  const coins: LndCoin[] = [];
  let sumSat = 0n;
  for (const coin of hasAnchor ? largestFirst : []) {
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

function outpointOf({ outpoint: { txid_str, output_index } }: LndCoin): string {
  return `${txid_str}:${output_index}`;
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
