import { MSAT_PER_SAT } from '../../../model/amount.ts';
import type { Channel } from '../../../model/channel.ts';
import { allRows } from '../world/rows.ts';
import type { World } from '../world/world.ts';

/** Each side must keep one part in this many (1 %) in a channel, and never less than the dust limit of BOLT 3. */
const RESERVE_SHARE = 100n;
const LEAST_RESERVE_SAT = 354n;

type ChannelRow = Pick<Channel, 'userChannelId' | 'channelId' | 'fundingOutpoint'> & {
  readonly valueSat: number;
  readonly usableFrom: number;
  readonly height: number;
  readonly ours: string;
  readonly theirs: string;
};

/** Returns the ledger accounts of a channel's two sides. */
export function channelAccounts(
  userPk: string,
  userChannelId: string,
): { readonly ours: string; readonly theirs: string } {
  const prefix = `channel:${userPk}:${userChannelId}`;
  return { ours: `${prefix}:ours`, theirs: `${prefix}:theirs` };
}

/** Returns the wallet's open channels. */
export function liveChannels(world: World, userPk: string): Channel[] {
  return allRows<ChannelRow>(
    world,
    `SELECT user_channel_id AS userChannelId, channel_id AS channelId,
       funding_txid || ':' || funding_vout AS fundingOutpoint,
       value_sat AS valueSat, usable_from AS usableFrom, (SELECT height FROM chain_tip) AS height,
       ${balanceOf('ours')}, ${balanceOf('theirs')}
     FROM channels WHERE user_pk = ? AND closed_txid IS NULL ORDER BY user_channel_id`,
    userPk,
  ).map(({ valueSat, usableFrom, height, ours, theirs, ...same }) => {
    const [oursMsat, theirsMsat] = [BigInt(ours), BigInt(theirs)];
    const reserveMsat = reserveSat(BigInt(valueSat)) * MSAT_PER_SAT;
    const isUsable = usableFrom <= height;
    return {
      ...same,
      isUsable,
      channelValueMsat: BigInt(valueSat) * MSAT_PER_SAT,
      ourBalanceMsat: oursMsat,
      theirBalanceMsat: theirsMsat,
      punishmentReserveMsat: reserveMsat,
      outboundCapacityMsat: isUsable ? atLeastZero(oursMsat - reserveMsat) : 0n,
      inboundCapacityMsat: isUsable ? atLeastZero(theirsMsat - reserveMsat) : 0n,
    };
  });
}

/** The balance of an account of {@link channelAccounts}, 0 before the first transfer to it. */
function balanceOf(side: 'ours' | 'theirs'): string {
  const account = `'channel:' || user_pk || ':' || user_channel_id || ':${side}'`;
  return `CAST(coalesce((SELECT balance_msat FROM accounts WHERE account = ${account}), 0) AS TEXT) AS ${side}`;
}

function reserveSat(valueSat: bigint): bigint {
  const share = valueSat / RESERVE_SHARE;
  return share > LEAST_RESERVE_SAT ? share : LEAST_RESERVE_SAT;
}

function atLeastZero(amountMsat: bigint): bigint {
  return amountMsat > 0n ? amountMsat : 0n;
}
