import { MSAT_PER_SAT } from '../../../model/amount.ts';
import type { Channel } from '../../../model/channel.ts';
import { tipHeight } from '../chain/blocks.ts';
import { balanceMsat } from '../world/ledger.ts';
import { allRows } from '../world/rows.ts';
import type { World } from '../world/world.ts';

/** Each side must keep one part in this many (1 %) in a channel, and never less than the dust limit of BOLT 3. */
const RESERVE_SHARE = 100n;
const LEAST_RESERVE_SAT = 354n;
/** A channel with its accounts; amounts in millisatoshis. */
export interface LiveChannel {
  readonly userChannelId: string;
  readonly channelId: string;
  readonly fundingTxid: string;
  readonly fundingVout: number;
  readonly valueMsat: bigint;
  readonly usable: boolean;
  readonly oursMsat: bigint;
  readonly theirsMsat: bigint;
  readonly reserveMsat: bigint;
}

type ChannelRow = Pick<
  LiveChannel,
  'userChannelId' | 'channelId' | 'fundingTxid' | 'fundingVout'
> & { readonly valueSat: number; readonly usableFrom: number };

/** Returns the ledger accounts of a channel's two sides. */
export function channelAccounts(
  userPk: string,
  userChannelId: string,
): { readonly ours: string; readonly theirs: string } {
  const prefix = `channel:${userPk}:${userChannelId}`;
  return { ours: `${prefix}:ours`, theirs: `${prefix}:theirs` };
}

/** Returns the wallet's open channels. */
export function liveChannels(world: World, userPk: string): LiveChannel[] {
  const height = tipHeight(world);
  return allRows<ChannelRow>(
    world,
    `SELECT user_channel_id AS userChannelId, channel_id AS channelId, funding_txid AS fundingTxid,
       funding_vout AS fundingVout, value_sat AS valueSat, usable_from AS usableFrom
     FROM channels WHERE user_pk = ? AND closed_txid IS NULL ORDER BY user_channel_id`,
    userPk,
  ).map(({ valueSat, usableFrom, ...same }) => {
    const accounts = channelAccounts(userPk, same.userChannelId);
    return {
      ...same,
      valueMsat: BigInt(valueSat) * MSAT_PER_SAT,
      usable: usableFrom <= height,
      oursMsat: balanceMsat(world, accounts.ours),
      theirsMsat: balanceMsat(world, accounts.theirs),
      reserveMsat: reserveSat(BigInt(valueSat)) * MSAT_PER_SAT,
    };
  });
}

/** Returns what the wallet can send through a channel now. */
export function outboundMsat(channel: LiveChannel): bigint {
  return channel.usable ? atLeastZero(channel.oursMsat - channel.reserveMsat) : 0n;
}

/** Returns what the wallet can receive through a channel now. */
export function inboundMsat(channel: LiveChannel): bigint {
  return channel.usable ? atLeastZero(channel.theirsMsat - channel.reserveMsat) : 0n;
}

/** Returns the channels as resources. */
export function listChannels(world: World, userPk: string): Channel[] {
  return liveChannels(world, userPk).map((channel) => ({
    channelId: channel.channelId,
    userChannelId: channel.userChannelId,
    fundingOutpoint: `${channel.fundingTxid}:${channel.fundingVout}`,
    isUsable: channel.usable,
    channelValueMsat: channel.valueMsat,
    ourBalanceMsat: channel.oursMsat,
    theirBalanceMsat: channel.theirsMsat,
    punishmentReserveMsat: channel.reserveMsat,
    outboundCapacityMsat: outboundMsat(channel),
    inboundCapacityMsat: inboundMsat(channel),
  }));
}

function reserveSat(valueSat: bigint): bigint {
  const share = valueSat / RESERVE_SHARE;
  return share > LEAST_RESERVE_SAT ? share : LEAST_RESERVE_SAT;
}

function atLeastZero(amountMsat: bigint): bigint {
  return amountMsat > 0n ? amountMsat : 0n;
}
