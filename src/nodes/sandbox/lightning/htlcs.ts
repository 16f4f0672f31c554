import { DEFAULT_MIN_FINAL_CLTV, decodeBolt11 } from '../../../codecs/bolt11/index.ts';
import { formatAmountMsat } from '../../../model/amount.ts';
import { refused } from '../../../model/errors.ts';
import type { Payment } from '../../../model/payment.ts';
import type { PaymentIndex } from '../../../model/payment-index.ts';
import { COMPLETED } from '../../shown-payment.ts';
import { tipHeight } from '../chain/blocks.ts';
import { announceWork, catchUpChain } from '../chain/waiting-work.ts';
import { transfer } from '../world/ledger.ts';
import { changePayment, PAYMENT_KEY, type PaymentKey, updatePayment } from '../world/payments.ts';
import { allRows, change, insertRow } from '../world/rows.ts';
import type { World } from '../world/world.ts';
import { channelAccounts, liveChannels } from './channels.ts';

/**
 * Blocks that the route to the outside world adds to the receiver's final expiry delta: one hop with LND's default
 * `bitcoin.timelockdelta`. With BOLT 11's default of 18, an HTLC is held for at most 98 blocks.
 */
const ROUTE_CLTV_DELTA = 80;

/** Takes the amount from the channels for the payment's HTLCs. Throws `refused` when the channels cannot send it. */
export function reserve(
  world: World,
  userPk: string,
  index: PaymentIndex,
  amountMsat: bigint,
): void {
  const channels = liveChannels(world, userPk);
  const sendable = channels.reduce((sum, channel) => sum + channel.outboundCapacityMsat, 0n);
  if (sendable < amountMsat) {
    const usable = channels.filter(({ isUsable }) => isUsable);
    const kept = usable.reduce((sum, channel) => sum + channel.ourBalanceMsat, 0n) - sendable;
    const reserve =
      kept > 0n ? `. Its channels keep ${formatAmountMsat(kept)} sats more as their reserve` : '';
    throw refused(
      `The wallet can send ${formatAmountMsat(sendable)} sats over Lightning and this needs ${formatAmountMsat(amountMsat)} with fees${reserve}: receive something first, or send less.`,
    );
  }
  let restMsat = amountMsat;
  for (const channel of channels) {
    const { userChannelId, outboundCapacityMsat } = channel;
    const partMsat = restMsat < outboundCapacityMsat ? restMsat : outboundCapacityMsat;
    if (partMsat === 0n) continue;
    const from = channelAccounts(userPk, userChannelId).ours;
    const to = htlcAccount(userPk, index);
    transfer(world, { from, to, amountMsat: partMsat });
    const htlc = { user_pk: userPk, idx: index, user_channel_id: userChannelId };
    insertRow(world, 'htlcs', { ...htlc, amount_msat: partMsat });
    restMsat -= partMsat;
  }
}

/**
 * Sets the height at which the payment's HTLCs expire (BOLT 2, cltv_expiry), within the caller's transaction.
 * `finalDelta` is the receiver's min_final_cltv_expiry_delta. A height that is set already stays.
 */
export function holdUntilExpiry(
  world: World,
  userPk: string,
  payment: { readonly index: PaymentIndex; readonly finalDelta: number },
): void {
  catchUpChain(world);
  const sql =
    'UPDATE htlcs SET expiry_height = ? WHERE user_pk = ? AND idx = ? AND expiry_height IS NULL';
  change(world, sql, expiryHeight(world, payment.finalDelta), userPk, payment.index);
  announceWork(world);
}

/** Returns the height at which HTLCs that arrive now expire (BOLT 2, cltv_expiry). */
export function expiryHeight(world: World, finalDelta: number): number {
  return tipHeight(world) + finalDelta + ROUTE_CLTV_DELTA;
}

/** Returns the receiver's min_final_cltv_expiry_delta, by the payment's invoice. */
export function finalDeltaOf({ invoice }: Pick<Payment, 'invoice'>): number {
  if (invoice === null) return DEFAULT_MIN_FINAL_CLTV;
  return decodeBolt11(invoice, { verifySignature: false }).minFinalCltvExpiryDelta;
}

/** Fails every payment whose HTLCs the receiver still holds at their expiry height. */
export function failExpired(world: World): void {
  const sql = `SELECT DISTINCT ${PAYMENT_KEY} FROM htlcs WHERE expiry_height <= ?`;
  for (const { userPk, index } of allRows<PaymentKey>(world, sql, tipHeight(world))) {
    failPayment(world, userPk, index, 'timed out');
  }
}

/** Returns the money of a pending payment to its channels and makes the payment failed. */
export function failPayment(
  world: World,
  userPk: string,
  index: PaymentIndex,
  statusMsg: string,
): void {
  moveHtlcs(world, userPk, index, 'ours');
  updatePayment(world, userPk, index, { status: 'failed', statusMsg, feesMsat: 0n });
}

/** Gives a pending payment, read in the caller's transaction, to the receiver and completes it. */
export function completePayment(
  world: World,
  userPk: string,
  payment: Payment,
  preimage: string,
): void {
  moveHtlcs(world, userPk, payment.index, 'theirs');
  changePayment(world, userPk, payment, { ...COMPLETED, preimage });
}

/** Ends the payment's HTLCs: settled, the money goes to the other side; failed, back to the wallet. */
function moveHtlcs(
  world: World,
  userPk: string,
  index: PaymentIndex,
  side: 'ours' | 'theirs',
): void {
  const htlcs = allRows<{ userChannelId: string; amount: string }>(
    world,
    `DELETE FROM htlcs WHERE user_pk = ? AND idx = ?
     RETURNING user_channel_id AS userChannelId, CAST(amount_msat AS TEXT) AS amount`,
    userPk,
    index,
  );
  for (const { userChannelId, amount } of htlcs) {
    transfer(world, {
      from: htlcAccount(userPk, index),
      to: channelAccounts(userPk, userChannelId)[side],
      amountMsat: BigInt(amount),
    });
  }
}

function htlcAccount(userPk: string, index: PaymentIndex): string {
  return `htlc:${userPk}:${index}`;
}
