import { z } from 'zod';
import { isApiError } from '../../../model/errors.ts';
import { readAs } from '../../remote/calls/answer.ts';
import { isListed } from '../lightning/invoices.ts';
import { chainMovesAfter } from '../onchain/chain-moves.ts';
import type { ClnRpc } from '../reads/rpc.ts';
import { pastChannelsShape } from '../words/chain-wire.ts';
import {
  type ClnSendpay,
  carriedShape,
  infoShape,
  sendpayShape,
  sendpaysShape,
} from '../words/wire.ts';
import type { Look } from './look.ts';

/** The states in which a channel lists whatever payments it has. One that is being closed may not. */
const LISTING =
  /^(?:OPENINGD|CHANNELD_AWAITING_LOCKIN|DUALOPEND_\w+|CHANNELD_NORMAL|CHANNELD_AWAITING_SPLICE)$/;

/** By how much the node's clock may have been wrong when a part was made, or a channel closed. */
const CLOCK_SECS = 3600;

const LOST = 'Core Lightning has lost a payment, which no channel has: it has failed.';
const UNCERTAIN =
  'Core Lightning lists a payment as pending that no channel has, and it may be paid all the same: it stays pending. Look for it in the channels that are closed.';

/**
 * Looks in the channels for payments that have been pending for long. Returns the hashes of those that the node has
 * lost; from then on their parts are marked. What cannot be read now is looked for again later.
 */
export async function findLost(look: Pick<Look, 'rpc' | 'wallet' | 'log'>): Promise<string[]> {
  const { lost } = look.wallet;
  const due = lost.due();
  if (due.length === 0) return [];
  try {
    return await lostOf(look, due);
  } catch (error) {
    if (!isApiError(error)) throw error;
    for (const hash of due) lost.postpone(hash);
    return [];
  }
}

async function lostOf(
  { rpc, wallet, log }: Pick<Look, 'rpc' | 'wallet' | 'log'>,
  due: readonly string[],
): Promise<string[]> {
  const { lost, endings } = wallet;
  const { blockheight } = await rpc.read('getinfo', {}, infoShape);
  // This is read before the parts: one that left its channel before is not pending after.
  const { channels } = await rpc.list('listpeerchannels', {}, carriedShape);
  const isListing = channels.every(({ state }) => LISTING.test(state));
  const carried = new Set(
    channels.flatMap(({ htlcs }) =>
      htlcs.flatMap((one) => (one.direction === 'out' ? [one.payment_hash] : [])),
    ),
  );
  const found: string[] = [];
  for (const hash of due) {
    if (carried.has(hash) || endings.isRunning(hash)) {
      lost.onItsWay(hash);
      continue;
    }
    if (!lost.missed(hash, blockheight)) continue;
    const parts = await partsOf(rpc, hash);
    if (!lost.areWatched(hash, parts)) continue;
    const payment_hash = hash;
    if (!isListing || !(await isRuledOut(rpc, hash, parts))) {
      if (lost.uncertain(hash)) log.warn(UNCERTAIN, { payment_hash });
      continue;
    }
    await lost.confirm(parts);
    found.push(hash);
    log.warn(LOST, { payment_hash });
  }
  return found;
}

async function partsOf(rpc: ClnRpc, hash: string): Promise<ClnSendpay[]> {
  const request = { payment_hash: hash };
  const { payments } = await rpc.list('listsendpays', request, sendpaysShape);
  return readAs('Core Lightning', z.array(sendpayShape), payments);
}

/**
 * Whether nothing but the channels that are there can have the parts. A payment to the node itself is in no channel. A
 * channel that was closed since may have had them, and the node has forgotten what it had.
 */
async function isRuledOut(
  rpc: ClnRpc,
  hash: string,
  parts: readonly ClnSendpay[],
): Promise<boolean> {
  if (await isListed(rpc, hash)) return false;
  const [{ closedchannels }, moves] = await Promise.all([
    rpc.list('listclosedchannels', {}, pastChannelsShape),
    chainMovesAfter(rpc, 0),
  ]);
  const closedAt = new Map<string, number>();
  for (const { account_id, primary_tag, timestamp } of moves) {
    // A splice closes a channel, too, and opens it again: the latest stands.
    if (primary_tag === 'channel_close') closedAt.set(account_id, timestamp);
  }
  const began = parts.filter(({ status }) => status === 'pending').map((part) => part.created_at);
  const before = Math.min(...began) - CLOCK_SECS;
  return closedchannels.every(
    ({ channel_id, total_htlcs_sent }) =>
      total_htlcs_sent === 0 || (closedAt.get(channel_id) ?? Number.POSITIVE_INFINITY) < before,
  );
}
