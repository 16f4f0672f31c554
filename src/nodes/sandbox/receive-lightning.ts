import { blankPayment, type Payment } from '../../model/payment.ts';
import { paymentId, paymentIndex } from '../../model/payment-index.ts';
import { openJustInTime } from './channel-orders.ts';
import { channelAccounts, inboundMsat, liveChannels } from './channels.ts';
import { type InvoiceRow, markSettled } from './invoices.ts';
import { transfer } from './ledger.ts';
import { partnerFeeMsat } from './partner-fee.ts';
import { findPayment, insertPayment, updatePayment } from './payments.ts';
import type { World } from './world.ts';

/** Account of the service that the wallets' channels lead to. */
export const SERVICE = 'service';

/** Account of the outside world's Lightning money. */
export const OUTSIDE_LIGHTNING = 'outside:lightning';

/**
 * Lets a payment of `paidMsat` arrive at the wallet that the invoice is of, within the caller's transaction: money
 * into its channels, opened just in time where they have no room, and its payment completed. Returns the payment,
 * or null when it can no longer be paid (canceled, expired).
 */
export function receiveInvoicePayment(
  world: World,
  invoice: InvoiceRow & { readonly userPk: string },
  paidMsat: bigint,
): Payment | null {
  const { userPk, index, preimage, paymentHash } = invoice;
  if (invoice.expiresAtMs <= world.clock.now()) return null;
  const pending = index === null ? null : findPayment(world, userPk, index);
  if (index !== null && pending?.status !== 'pending') return null;
  if (pending && pending.amountMsat !== null && paidMsat < pending.amountMsat) return null;
  const feesMsat = pending ? partnerFeeMsat(pending, paidMsat) : 0n;
  if (feesMsat >= paidMsat) return null;
  if (pending?.partnerPk && feesMsat > 0n) {
    const to = `partner:${pending.partnerPk}`;
    transfer(world, { from: SERVICE, to, amountMsat: feesMsat, memo: 'partner fee' });
  }
  const amountMsat = paidMsat - feesMsat;
  credit(world, userPk, amountMsat);
  markSettled(world, paymentHash);
  const outcome = {
    preimage,
    amountMsat,
    feesMsat,
    status: 'completed',
    statusMsg: 'completed',
  } as const;
  if (index !== null) {
    const message = invoice.message === null ? {} : { message: invoice.message };
    return updatePayment(world, userPk, index, { ...outcome, ...message });
  }
  const nowMs = world.clock.now();
  return insertPayment(world, userPk, {
    ...blankPayment({
      index: paymentIndex(nowMs, paymentId('fr', paymentHash)),
      rail: 'offer',
      direction: 'inbound',
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
      ...outcome,
    }),
    ...outcome,
    hash: paymentHash,
    offerId: invoice.offerId,
    payerName: invoice.payerName,
    message: invoice.message,
    finalizedAtMs: nowMs,
  });
}

/** Lets a spontaneous payment (keysend) arrive, within the caller's transaction. */
export function receiveSpontaneous(
  world: World,
  userPk: string,
  payment: {
    readonly paymentHash: string;
    readonly preimage: string;
    readonly amountMsat: bigint;
    readonly message: string | null;
  },
): Payment {
  const { paymentHash, preimage, amountMsat, message } = payment;
  credit(world, userPk, amountMsat);
  const nowMs = world.clock.now();
  return insertPayment(world, userPk, {
    ...blankPayment({
      index: paymentIndex(nowMs, paymentId('ln', paymentHash)),
      rail: 'spontaneous',
      direction: 'inbound',
      status: 'completed',
      statusMsg: 'completed',
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    }),
    hash: paymentHash,
    preimage,
    amountMsat,
    message,
    finalizedAtMs: nowMs,
  });
}

/** Moves money to the wallet's side of its channels, through a new one where the others have no room. */
function credit(world: World, userPk: string, amountMsat: bigint): void {
  let restMsat = amountMsat;
  const room = liveChannels(world, userPk).reduce((sum, channel) => sum + inboundMsat(channel), 0n);
  if (room < amountMsat) openJustInTime(world, userPk, amountMsat - room);
  for (const channel of liveChannels(world, userPk)) {
    const partMsat = restMsat < inboundMsat(channel) ? restMsat : inboundMsat(channel);
    const { ours, theirs } = channelAccounts(userPk, channel.userChannelId);
    transfer(world, { from: theirs, to: ours, amountMsat: partMsat, memo: 'lightning receive' });
    restMsat -= partMsat;
  }
  if (restMsat > 0n) throw new Error('a channel opened just in time had too little room');
}
