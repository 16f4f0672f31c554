import { MSAT_PER_SAT, wholeSats } from '../../../model/amount.ts';
import type { Channel, ChannelPeer } from '../../../model/channel.ts';
import { ApiError } from '../../../model/errors.ts';
import type { OpenChannelCommand, OpenedChannel } from '../../node-groups.ts';
import { requireSameChannel } from '../../refusals.ts';
import {
  CHANNEL_TIMEOUT_MS,
  channelPeerOf,
  maybeOpening,
} from '../../remote/orders/channel-refusals.ts';
import { requireFeeWithin } from '../../remote/orders/fee-limit.ts';
import { feeMsatOf, readChain } from '../reads/chain.ts';
import { OPENINGS, type Opening, putOpening, userChannelIdOf } from '../reads/channel-rows.ts';
import { channelOf, isOpen, readChannels } from '../reads/channels.ts';
import { chooseCoins, confirmedOf, outpointOf, readCoins, readFree } from '../reads/coins.ts';
import { channelSatPerKw } from '../reads/fee-rate.ts';
import type { ClnRpc } from '../reads/rpc.ts';
import type { ClnHandle, ClnOwned } from '../reads/wallet.ts';
import { refusesToOpen } from '../words/certainty.ts';
import { fundedChannelShape } from '../words/chain-wire.ts';
import { choosingAgain } from '../words/choosing-again.ts';
import { anyShape, type ClnChannel, type ClnOutput } from '../words/wire.ts';

/** Bytes of the script of a funding output (P2WSH). */
const FUNDING_SCRIPT_BYTES = 34n;
/** The state of a channel about whose opening the two sides are still talking. */
const TALKING: ReadonlySet<string> = new Set([
  'OPENINGD',
  'DUALOPEND_OPEN_INIT',
  'DUALOPEND_OPEN_COMMITTED',
  'DUALOPEND_OPEN_COMMIT_READY',
]);

/** The open channels as resources. */
export async function listChannels({
  rpc,
  wallet,
}: Pick<ClnHandle, 'rpc' | 'wallet'>): Promise<Channel[]> {
  const channels = (await readChannels(rpc)).filter(isOpen);
  return Promise.all(
    channels.map(async (channel) =>
      channelOf(channel, await userChannelIdOf(wallet, channel.channel_id ?? '')),
    ),
  );
}

/** The most that opening a channel of that value costs now, in millisatoshis. Throws `refused` without the coins. */
export async function openFeeBoundMsat(node: ClnOwned, valueMsat: bigint): Promise<bigint> {
  return (await chooseFunding(node, valueMsat)).feeSat * MSAT_PER_SAT;
}

/**
 * Opens a channel, once for a user channel id (docs/decisions.md 31). What is asked for is stored before, with its
 * coins, which are chosen here: so the fee is bounded before anything is signed, and two requests for one id would
 * spend the same coins. The caller must hold a lock.
 */
export async function openChannel(
  { rpc, owner, wallet }: ClnHandle,
  configuredPeer: ChannelPeer | null,
  command: OpenChannelCommand,
): Promise<OpenedChannel> {
  const { userChannelId, valueMsat, maxFeeMsat } = command;
  const earlier = await OPENINGS.get(wallet, userChannelId);
  if (earlier) {
    const { peer } = earlier;
    requireSameChannel({ valueSat: wholeSats(BigInt(earlier.valueMsat)), peer }, command);
    const channelId = earlier.channelId ?? (await foundAgain({ owner, wallet }, command, earlier));
    if (channelId !== null) return opened(owner, command, channelId, { isNew: false });
  }
  const peer = channelPeerOf(command.peer, configuredPeer);
  const mayBeUnderWay = earlier !== null && earlier.coins.length > 0;
  const open = async () => {
    const chosen = await chooseFunding({ owner, wallet }, valueMsat, earlier?.coins);
    requireFeeWithin('open', chosen.feeSat * MSAT_PER_SAT, maxFeeMsat);
    await connectPeer(rpc, peer);
    const withPeer = (await readChannels(owner)).filter(({ peer_id }) => peer_id === peer.pubkey);
    const opening: Opening = {
      valueMsat: `${valueMsat}`,
      peer: peer.pubkey,
      coins: chosen.coins.map(outpointOf),
      before: withPeer.flatMap(({ channel_id }) => channel_id ?? []),
      channelId: null,
    };
    await putOpening(wallet, userChannelId, opening);
    const { satPerKw } = chosen;
    const channelId = await fundChannel({ rpc, owner }, opening, satPerKw).catch(async (error) => {
      // Its coins may be another program's by now, which must not look like this request under way.
      if (!mayBeUnderWay && error instanceof ApiError && !error.outcomeUnknown) {
        await putOpening(wallet, userChannelId, { ...opening, coins: [] });
      }
      throw error;
    });
    await putOpening(wallet, userChannelId, { ...opening, channelId });
    return channelId;
  };
  // Coins of an earlier request may be reserved by that request itself, so that no others are chosen in their place.
  const channelId = await (mayBeUnderWay ? open() : choosingAgain(open));
  return opened(owner, command, channelId, { isNew: true });
}

async function fundChannel(
  { rpc, owner }: Pick<ClnHandle, 'rpc' | 'owner'>,
  opening: Opening,
  satPerKw: bigint,
): Promise<string> {
  try {
    const { channel_id } = await rpc.write(
      'fundchannel',
      {
        id: opening.peer,
        amount: `${wholeSats(BigInt(opening.valueMsat))}sat`,
        feerate: `${satPerKw}perkw`,
        utxos: opening.coins,
      },
      fundedChannelShape,
      { timeoutMs: CHANNEL_TIMEOUT_MS, certainty: refusesToOpen },
    );
    return channel_id;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // The channel may be open although no answer came, or although its transaction seemed not to be published.
    const found = channelFor(opening, await readChannels(owner).catch(() => []));
    if (found?.channel_id !== undefined) return found.channel_id;
    throw error;
  }
}

/**
 * The channel of an earlier request whose end was not seen; null where there is none and there will be none, as after a
 * refusal. Throws `timeout` while the node may still be opening it.
 */
async function foundAgain(
  { owner, wallet }: ClnOwned,
  { userChannelId }: OpenChannelCommand,
  earlier: Opening,
): Promise<string | null> {
  if (earlier.coins.length === 0) return null;
  // The coins are read first: a channel that is there by then is in the list.
  const coins = await readCoins(owner);
  const channels = await readChannels(owner);
  const channelId = channelFor(earlier, channels)?.channel_id;
  if (channelId !== undefined) {
    await putOpening(wallet, userChannelId, { ...earlier, channelId });
    return channelId;
  }
  const isTalking = channels.some(
    ({ peer_id, state }) => peer_id === earlier.peer && TALKING.has(state),
  );
  const isReserved = coins.some(
    (coin) => coin.reserved && earlier.coins.includes(outpointOf(coin)),
  );
  if (!isTalking && !isReserved) return null;
  throw maybeOpening();
}

/** The channel that a request made: one of this side with the peer that was not there before. */
function channelFor(opening: Opening, channels: readonly ClnChannel[]): ClnChannel | undefined {
  return channels.find(
    ({ peer_id, opener, state, channel_id, funding_txid, total_msat }) =>
      peer_id === opening.peer &&
      opener === 'local' &&
      !TALKING.has(state) &&
      channel_id !== undefined &&
      funding_txid !== undefined &&
      !opening.before.includes(channel_id) &&
      total_msat >= wholeSats(BigInt(opening.valueMsat)) * MSAT_PER_SAT,
  );
}

async function opened(
  owner: ClnRpc,
  { userChannelId, maxFeeMsat }: OpenChannelCommand,
  channelId: string,
  { isNew }: { readonly isNew: boolean },
): Promise<OpenedChannel> {
  const feeMsat = maxFeeMsat === null ? null : await openingCostMsat(owner, channelId);
  return { channelId, userChannelId, feeMsat, isNew };
}

/** What an opening cost, in millisatoshis; null where the node does not tell: the channel is open all the same. */
async function openingCostMsat(owner: ClnRpc, channelId: string): Promise<bigint | null> {
  try {
    const [channels, chain] = await Promise.all([readChannels(owner), readChain(owner)]);
    const channel = channels.find(({ channel_id }) => channel_id === channelId);
    const funding = chain.transactions.get(channel?.funding_txid ?? '');
    return funding ? feeMsatOf(funding, chain) : null;
  } catch (error) {
    if (error instanceof ApiError) return null;
    throw error;
  }
}

/** Chooses coins, first those of an earlier request, which may still arrive and must not open a second channel. */
async function chooseFunding(
  { owner, wallet }: ClnOwned,
  valueMsat: bigint,
  earlier: readonly string[] = [],
) {
  const [free, satPerKw] = await Promise.all([readFree(owner), channelSatPerKw({ owner, wallet })]);
  const rankOf = (coin: ClnOutput) => (earlier.includes(outpointOf(coin)) ? 0 : 1);
  const inOrder = confirmedOf(free).toSorted((a, b) => rankOf(a) - rankOf(b));
  const order = { amountSat: wholeSats(valueMsat), scriptBytes: FUNDING_SCRIPT_BYTES, satPerKw };
  return { ...chooseCoins(inOrder, order), satPerKw };
}

async function connectPeer(rpc: ClnRpc, { pubkey, host }: ChannelPeer): Promise<void> {
  await rpc.write('connect', { id: `${pubkey}@${host}` }, anyShape, { harmlessTwice: true });
}
