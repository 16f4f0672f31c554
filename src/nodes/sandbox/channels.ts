import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { MSAT_PER_SAT, wholeSats } from '../../model/amount.ts';
import type { Channel } from '../../model/channel.ts';
import { ApiError, refused } from '../../model/errors.ts';
import { blankPayment } from '../../model/payment.ts';
import { paymentId, paymentIndex } from '../../model/payment-index.ts';
import { derive } from '../../model/root-seed.ts';
import type { OpenChannelCommand } from '../node.ts';
import { tipHeight } from './chain/blocks.ts';
import { balanceMsat } from './ledger.ts';
import {
  type FundedOutput,
  fundingScript,
  payToWallet,
  spendToScript,
  spendToScriptFromOutside,
} from './onchain-channels.ts';
import { insertPayment } from './payments.ts';
import { outsideKeys, walletKeys } from './wallets.ts';
import type { World } from './world.ts';

/** What each side must keep in a channel: 1 %, and never less than the dust limit of BOLT 3. */
const RESERVE_SHARE = 100n;
const LEAST_RESERVE_SAT = 354n;
/** Least value of a channel, as LND has it. */
const LEAST_CHANNEL_SAT = 20_000n;
/** Room that a channel opened just in time has beyond the payment that it is opened for. */
const JUST_IN_TIME_ROOM_SAT = 1_000_000n;
/** Blocks until a channel opened on request can be used. */
const CONFIRMATIONS = 1;

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

/** Ledger accounts of a channel's two sides. */
export function channelAccounts(
  userPk: string,
  userChannelId: string,
): { readonly ours: string; readonly theirs: string } {
  const prefix = `channel:${userPk}:${userChannelId}`;
  return { ours: `${prefix}:ours`, theirs: `${prefix}:theirs` };
}

/** The wallet's open channels. */
export function liveChannels(world: World, userPk: string): LiveChannel[] {
  const height = tipHeight(world);
  return world.db
    .query<
      {
        user_channel_id: string;
        channel_id: string;
        funding_txid: string;
        funding_vout: number;
        value_sat: number;
        usable_from: number;
      },
      [string]
    >(
      `SELECT user_channel_id, channel_id, funding_txid, funding_vout, value_sat, usable_from
       FROM channels WHERE user_pk = ? AND closed_txid IS NULL ORDER BY user_channel_id`,
    )
    .all(userPk)
    .map((row) => {
      const accounts = channelAccounts(userPk, row.user_channel_id);
      const valueSat = BigInt(row.value_sat);
      return {
        userChannelId: row.user_channel_id,
        channelId: row.channel_id,
        fundingTxid: row.funding_txid,
        fundingVout: row.funding_vout,
        valueMsat: valueSat * MSAT_PER_SAT,
        usable: row.usable_from <= height,
        oursMsat: balanceMsat(world, accounts.ours),
        theirsMsat: balanceMsat(world, accounts.theirs),
        reserveMsat: reserveSat(valueSat) * MSAT_PER_SAT,
      };
    });
}

/** What can be sent through a channel now. */
export function outboundMsat(channel: LiveChannel): bigint {
  return channel.usable ? atLeastZero(channel.oursMsat - channel.reserveMsat) : 0n;
}

/** What can be received through a channel now. */
export function inboundMsat(channel: LiveChannel): bigint {
  return channel.usable ? atLeastZero(channel.theirsMsat - channel.reserveMsat) : 0n;
}

/** Channels as the API lists them. */
export function listChannels(world: World, userPk: string): Channel[] {
  return liveChannels(world, userPk).map((channel) => ({
    channelId: channel.channelId,
    userChannelId: channel.userChannelId,
    fundingTxo: `${channel.fundingTxid}:${channel.fundingVout}`,
    isUsable: channel.usable,
    channelValueMsat: channel.valueMsat,
    ourBalanceMsat: channel.oursMsat,
    theirBalanceMsat: channel.theirsMsat,
    punishmentReserveMsat: channel.reserveMsat,
    outboundCapacityMsat: outboundMsat(channel),
    inboundCapacityMsat: inboundMsat(channel),
  }));
}

/** Opens a channel from the wallet's coins; once for a user channel id. Usable after a block. */
export function openChannel(
  world: World,
  userPk: string,
  command: OpenChannelCommand,
): { channelId: string; userChannelId: string } {
  const { userChannelId, valueMsat } = command;
  return world.transact(() => {
    const earlier = world.db
      .query<{ channel_id: string }, [string, string]>(
        'SELECT channel_id FROM channels WHERE user_pk = ? AND user_channel_id = ?',
      )
      .get(userPk, userChannelId);
    if (earlier) return { channelId: earlier.channel_id, userChannelId };
    if (valueMsat % MSAT_PER_SAT !== 0n || wholeSats(valueMsat) < LEAST_CHANNEL_SAT) {
      throw refused(`A channel holds whole satoshis, at least ${LEAST_CHANNEL_SAT}.`);
    }
    const funding = spendToScript(world, userPk, {
      scriptPubKey: fundingScriptOf(world, userPk, userChannelId),
      valueSat: wholeSats(valueMsat),
      priority: 'normal',
      account: channelAccounts(userPk, userChannelId).ours,
    });
    const channel = { userChannelId, valueSat: wholeSats(valueMsat) };
    const usableFrom = tipHeight(world) + CONFIRMATIONS;
    return recordChannel(world, userPk, { ...channel, funding, usableFrom });
  });
}

/**
 * Opens a channel towards the wallet just in time for a payment, at the service's cost, and records the waived cost
 * as an `info` payment (decisions section 5).
 */
export function openJustInTime(world: World, userPk: string, paymentMsat: bigint): void {
  const userChannelId = bytesToHex(world.random(16));
  const paymentSat = wholeSats(paymentMsat) + 1n;
  const valueSat = paymentSat + paymentSat / 4n + JUST_IN_TIME_ROOM_SAT;
  const funding = spendToScriptFromOutside(world, {
    scriptPubKey: fundingScriptOf(world, userPk, userChannelId),
    valueSat,
    priority: 'high',
    account: channelAccounts(userPk, userChannelId).theirs,
  });
  const { channelId } = recordChannel(world, userPk, {
    userChannelId,
    valueSat,
    funding,
    usableFrom: 0,
  });
  const nowMs = world.clock.now();
  insertPayment(world, userPk, {
    ...blankPayment({
      index: paymentIndex(nowMs, paymentId('wf', channelId)),
      rail: 'onchain',
      direction: 'info',
      status: 'completed',
      statusMsg: 'completed',
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    }),
    kind: 'waived_channel_fee',
    txid: funding.txid,
    amountMsat: funding.feeSat * MSAT_PER_SAT,
    finalizedAtMs: nowMs,
  });
}

/** Closes a channel cooperatively; our side becomes on-chain coins, less the fee. Throws `notFound`. */
export function closeChannel(world: World, userPk: string, channelId: string): void {
  world.transact(() => {
    const channel = liveChannels(world, userPk).find((live) => live.channelId === channelId);
    if (!channel) throw new ApiError('notFound', 'Channel not found');
    const { userChannelId } = channel;
    const pending = world.db
      .query('SELECT 1 FROM htlcs WHERE user_pk = ? AND user_channel_id = ? LIMIT 1')
      .get(userPk, userChannelId);
    if (pending !== null || !channel.usable) {
      throw refused(
        'The channel has payments on their way or is not confirmed yet: try again later.',
      );
    }
    const accounts = channelAccounts(userPk, userChannelId);
    const keys = channelKeys(world, userPk, userChannelId);
    const { txid } = payToWallet(world, userPk, {
      fundingTxid: channel.fundingTxid,
      fundingVout: channel.fundingVout,
      ours: { account: accounts.ours, amountMsat: channel.oursMsat, secretKey: keys.ours },
      theirs: { account: accounts.theirs, amountMsat: channel.theirsMsat, secretKey: keys.theirs },
    });
    world.db
      .query('UPDATE channels SET closed_txid = ? WHERE user_pk = ? AND user_channel_id = ?')
      .run(txid, userPk, userChannelId);
  });
}

function recordChannel(
  world: World,
  userPk: string,
  channel: {
    readonly userChannelId: string;
    readonly valueSat: bigint;
    readonly funding: FundedOutput;
    readonly usableFrom: number;
  },
): { channelId: string; userChannelId: string } {
  const { userChannelId, valueSat, funding, usableFrom } = channel;
  const channelId = channelIdOf(funding);
  world.db
    .query(
      `INSERT INTO channels (user_pk, user_channel_id, channel_id, funding_txid, funding_vout,
         value_sat, usable_from) VALUES (?, ?, ?, ?, ?, ?, ?)`,
    )
    .run(userPk, userChannelId, channelId, funding.txid, funding.vout, valueSat, usableFrom);
  return { channelId, userChannelId };
}

/** BOLT 2: the funding txid in wire byte order, its last two bytes XORed with the output number. */
function channelIdOf({ txid, vout }: FundedOutput): string {
  const bytes = hexToBytes(txid).reverse();
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  view.setUint16(30, view.getUint16(30) ^ vout);
  return bytesToHex(bytes);
}

function channelKeys(
  world: World,
  userPk: string,
  userChannelId: string,
): { readonly ours: Uint8Array; readonly theirs: Uint8Array } {
  const name = bytesToHex(sha256(utf8ToBytes(`${userPk}/${userChannelId}`)));
  return {
    ours: derive(walletKeys(world, userPk).nodeSecretKey, `channel/${name}`),
    theirs: derive(outsideKeys(world).nodeSecretKey, `channel/${name}`),
  };
}

function fundingScriptOf(world: World, userPk: string, userChannelId: string): Uint8Array {
  const { ours, theirs } = channelKeys(world, userPk, userChannelId);
  return fundingScript(ours, theirs);
}

function reserveSat(valueSat: bigint): bigint {
  const share = valueSat / RESERVE_SHARE;
  return share > LEAST_RESERVE_SAT ? share : LEAST_RESERVE_SAT;
}

function atLeastZero(amountMsat: bigint): bigint {
  return amountMsat > 0n ? amountMsat : 0n;
}
