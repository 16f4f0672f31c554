import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { hex } from '@scure/base';
import { MSAT_PER_SAT, wholeSats } from '../../../model/amount.ts';
import type { Channel } from '../../../model/channel.ts';
import { refused } from '../../../model/errors.ts';
import { paymentIndex, waivedFeeId } from '../../../model/payment-index.ts';
import { derive } from '../../../model/root-seed.ts';
import { channelIdOf } from '../../channel-id.ts';
import type { OpenChannelCommand, OpenedChannel } from '../../node.ts';
import { channelNotFound, channelTaken } from '../../refusals.ts';
import { COMPLETED } from '../../shown-payment.ts';
import { tipHeight } from '../chain/blocks.ts';
import { estimateFeeSat, requireFeeWithin } from '../chain/spend.ts';
import {
  type ChannelToClose,
  closingFeeMsat,
  type FundedOutput,
  fundingScript,
  payToWallet,
  type ScriptPayment,
  scriptOrder,
  spendToScript,
} from '../onchain/channels.ts';
import { recordMiningFee } from '../onchain/mining-fee.ts';
import { outsideCoins, walletCoins } from '../onchain/owners.ts';
import { insertPayment } from '../world/payments.ts';
import { change, firstRow, insertRow } from '../world/rows.ts';
import { outsideKeys, walletKeys } from '../world/wallets.ts';
import type { World } from '../world/world.ts';
import { channelAccounts, liveChannels } from './channels.ts';

/** The least value of a channel, which is LND's. */
const LEAST_CHANNEL_SAT = 20_000n;
/** Satoshis by which a channel opened just in time exceeds the payment for which it is opened. */
const JUST_IN_TIME_ROOM_SAT = 1_000_000n;
/** Blocks until a channel opened on request can be used. */
const CONFIRMATIONS = 1;

/**
 * Opens a channel from the wallet's coins, once for a user channel id: a repeat returns the first channel
 * (docs/decisions.md 31). It can be used after a block. Throws `refused` when the fee would be above the limit, when
 * the coins do not suffice, or when the id names a channel of another value.
 */
export function openChannel(
  world: World,
  userPk: string,
  command: OpenChannelCommand,
): OpenedChannel {
  const { userChannelId, valueMsat } = command;
  return world.transact(() => {
    requirePeer(world, command.peer);
    const earlier = findOpened(world, userPk, userChannelId);
    if (earlier !== null) {
      if (earlier.valueMsat === valueMsat) return earlier.opened;
      throw channelTaken('of another value');
    }
    requireChannelValue(valueMsat);
    const funding = spendToScript(world, walletCoins(world, userPk), {
      scriptPubKey: fundingScriptOf(world, userPk, userChannelId),
      valueSat: wholeSats(valueMsat),
      priority: 'normal',
      account: channelAccounts(userPk, userChannelId).ours,
      maxFeeMsat: command.maxFeeMsat,
    });
    const usableFrom = tipHeight(world) + CONFIRMATIONS;
    const channel = { valueSat: wholeSats(valueMsat), funding, usableFrom };
    const channelId = recordChannel(world, userPk, userChannelId, channel);
    const feeMsat = funding.feeSat * MSAT_PER_SAT;
    recordMiningFee(world, userPk, { transaction: funding.transaction, feeMsat });
    return { channelId, userChannelId, feeMsat, isNew: true };
  });
}

/** Returns the fee of {@link openChannel} now, in millisatoshis. Throws `refused` as that does. */
export function openFeeBoundMsat(world: World, userPk: string, valueMsat: bigint): bigint {
  requireChannelValue(valueMsat);
  return world.transact(() => {
    const order = scriptOrder(walletCoins(world, userPk), {
      // Every funding output has the same size, so the script of any other channel gives the same fee.
      scriptPubKey: fundingScriptOf(world, userPk, ''),
      valueSat: wholeSats(valueMsat),
      priority: 'normal',
      account: channelAccounts(userPk, '').ours,
    });
    return estimateFeeSat(world, order) * MSAT_PER_SAT;
  });
}

function requirePeer(world: World, peer: OpenChannelCommand['peer']): void {
  const { nodePk } = outsideKeys(world);
  if (peer === null || peer.pubkey === nodePk) return;
  throw refused(
    `The only other node of the sandbox is ${nodePk}: open the channel to it, or leave peer out.`,
  );
}

function requireChannelValue(valueMsat: bigint): void {
  if (valueMsat % MSAT_PER_SAT === 0n && wholeSats(valueMsat) >= LEAST_CHANNEL_SAT) return;
  throw refused(`The value of a channel must be whole satoshis, at least ${LEAST_CHANNEL_SAT}.`);
}

function findOpened(
  world: World,
  userPk: string,
  userChannelId: string,
): { readonly valueMsat: bigint; readonly opened: OpenedChannel } | null {
  const row = firstRow<{ channelId: string; valueSat: number; feeSat: number }>(
    world,
    `SELECT channel_id AS channelId, value_sat AS valueSat, fee_sat AS feeSat
     FROM channels c JOIN chain_transactions t ON t.txid = c.funding_txid
     WHERE user_pk = ? AND user_channel_id = ?`,
    userPk,
    userChannelId,
  );
  if (row === null) return null;
  const feeMsat = BigInt(row.feeSat) * MSAT_PER_SAT;
  const opened = { channelId: row.channelId, userChannelId, feeMsat, isNew: false };
  return { valueMsat: BigInt(row.valueSat) * MSAT_PER_SAT, opened };
}

/**
 * Opens a channel to the wallet just in time for a payment, at the service's cost, and records the waived cost as an
 * `info` payment (docs/decisions.md 29).
 */
export function openJustInTime(world: World, userPk: string, paymentMsat: bigint): void {
  const userChannelId = hex.encode(world.random(16));
  const paymentSat = wholeSats(paymentMsat) + 1n;
  const valueSat = paymentSat + paymentSat / 4n + JUST_IN_TIME_ROOM_SAT;
  const funding = spendToScript(world, outsideCoins(world), {
    scriptPubKey: fundingScriptOf(world, userPk, userChannelId),
    valueSat,
    priority: 'high',
    account: channelAccounts(userPk, userChannelId).theirs,
  });
  recordChannel(world, userPk, userChannelId, { valueSat, funding, usableFrom: 0 });
  const nowMs = world.clock.now();
  insertPayment(world, userPk, {
    index: paymentIndex(nowMs, waivedFeeId(funding.txid, funding.vout)),
    rail: 'onchain',
    kind: 'waived_channel_fee',
    direction: 'info',
    ...COMPLETED,
    createdAtMs: nowMs,
    finalizedAtMs: nowMs,
    txid: funding.txid,
    amountMsat: funding.feeSat * MSAT_PER_SAT,
  });
}

/**
 * Closes a channel and returns the fee in millisatoshis. The wallet's side becomes on-chain coins, less the fee. Throws
 * `notFound`, and `refused` when the fee would be above the limit.
 */
export function closeChannel(
  world: World,
  userPk: string,
  order: { readonly channelId: string; readonly maxFeeMsat: bigint | null },
): bigint {
  return world.transact(() => {
    const channel = openChannelOf(world, userPk, order.channelId);
    const { userChannelId } = channel;
    const htlcs = 'SELECT 1 FROM htlcs WHERE user_pk = ? AND user_channel_id = ? LIMIT 1';
    const pending = firstRow(world, htlcs, userPk, userChannelId);
    if (pending !== null || !channel.isUsable) {
      throw refused(
        'The channel has payments on their way or is not confirmed yet: try again later.',
      );
    }
    const closing = closingOf(world, userPk, channel);
    requireFeeWithin(closingFeeMsat(world, userPk, closing), order.maxFeeMsat);
    const { txid, feeMsat } = payToWallet(world, userPk, closing);
    const close = 'UPDATE channels SET closed_txid = ? WHERE user_pk = ? AND user_channel_id = ?';
    change(world, close, txid, userPk, userChannelId);
    return feeMsat;
  });
}

/** Returns what closing the channel would cost this wallet now, in millisatoshis. Throws `notFound`. */
export function closeFeeBoundMsat(world: World, userPk: string, channelId: string): bigint {
  return world.transact(() => {
    const channel = openChannelOf(world, userPk, channelId);
    return closingFeeMsat(world, userPk, closingOf(world, userPk, channel));
  });
}

function openChannelOf(world: World, userPk: string, channelId: string): Channel {
  const channel = liveChannels(world, userPk).find((live) => live.channelId === channelId);
  if (channel) return channel;
  throw channelNotFound();
}

function closingOf(world: World, userPk: string, channel: Channel): ChannelToClose {
  const accounts = channelAccounts(userPk, channel.userChannelId);
  const keys = channelKeys(world, userPk, channel.userChannelId);
  const [fundingTxid = '', vout] = channel.fundingOutpoint?.split(':') ?? [];
  const { ourBalanceMsat, theirBalanceMsat } = channel;
  return {
    fundingTxid,
    fundingVout: Number(vout),
    ours: { account: accounts.ours, amountMsat: ourBalanceMsat, secretKey: keys.ours },
    theirs: { account: accounts.theirs, amountMsat: theirBalanceMsat, secretKey: keys.theirs },
  };
}

function recordChannel(
  world: World,
  userPk: string,
  userChannelId: string,
  {
    valueSat,
    funding,
    usableFrom,
  }: Pick<ScriptPayment, 'valueSat'> & { funding: FundedOutput; usableFrom: number },
): string {
  const channelId = channelIdOf(`${funding.txid}:${funding.vout}`);
  insertRow(world, 'channels', {
    user_pk: userPk,
    user_channel_id: userChannelId,
    channel_id: channelId,
    funding_txid: funding.txid,
    funding_vout: funding.vout,
    value_sat: valueSat,
    usable_from: usableFrom,
  });
  return channelId;
}

function channelKeys(
  world: World,
  userPk: string,
  userChannelId: string,
): { readonly ours: Uint8Array; readonly theirs: Uint8Array } {
  const name = hex.encode(sha256(utf8ToBytes(`${userPk}/${userChannelId}`)));
  return {
    ours: derive(walletKeys(world, userPk).nodeSecretKey, `channel/${name}`),
    theirs: derive(outsideKeys(world).nodeSecretKey, `channel/${name}`),
  };
}

function fundingScriptOf(world: World, userPk: string, userChannelId: string): Uint8Array {
  const { ours, theirs } = channelKeys(world, userPk, userChannelId);
  return fundingScript(ours, theirs);
}
