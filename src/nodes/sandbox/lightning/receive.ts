import { sha256 } from '@noble/hashes/sha2.js';
import { hex } from '@scure/base';
import { isHeld, type Payment } from '../../../model/payment.ts';
import { paymentId, paymentIndex } from '../../../model/payment-index.ts';
import { COMPLETED } from '../../shown-payment.ts';
import { wordsOfOffer } from '../offers/offers.ts';
import { transfer } from '../world/ledger.ts';
import { changePayment, findPayment, insertPayment } from '../world/payments.ts';
import { hasWallet } from '../world/wallets.ts';
import type { World } from '../world/world.ts';
import { openJustInTime } from './channel-orders.ts';
import { channelAccounts, liveChannels } from './channels.ts';
import { partnerFeeMsat } from './fees.ts';
import { type FromPayer, type InvoiceRow, markSettled } from './invoice-rows.ts';

/** Ledger account of the service, which is the other side of the wallets' channels. */
export const SERVICE = 'service';

/** Ledger account of the outside world's money on Lightning. */
export const OUTSIDE_LIGHTNING = 'outside:lightning';

/** An invoice of a wallet, with its payment as it was read in the caller's transaction. */
type Receiving = Pick<InvoiceRow, 'preimage' | 'paymentHash' | FromPayer> & {
  readonly userPk: string;
  /** Null where the payment is made when it arrives. */
  readonly pending: Payment | null;
};

/**
 * Returns an invoice of a wallet that takes a payment of `paidMsat` now, with its payment. Null where it is expired,
 * canceled, paid or held already, or the amount does not suffice.
 */
export function payable<Row extends InvoiceRow & { readonly userPk: string }>(
  world: World,
  invoice: Row,
  paidMsat: bigint,
): (Row & Receiving) | null {
  const { userPk, index } = invoice;
  if (invoice.expiresAtMs <= world.clock.now()) return null;
  if (index === null) return { ...invoice, pending: null };
  const pending = findPayment(world, userPk, index);
  if (pending?.status !== 'pending' || isHeld(pending)) return null;
  if (pending.amountMsat !== null && paidMsat < pending.amountMsat) return null;
  return partnerFeeMsat(pending, paidMsat) < paidMsat ? { ...invoice, pending } : null;
}

/**
 * Receives a payment of `paidMsat` for an invoice of a wallet that is payable or held, within the caller's transaction:
 * the money goes into the wallet's channels, of which one is opened just in time where there is no room, and the
 * payment completes. Returns the payment.
 */
export function receiveInvoicePayment(world: World, invoice: Receiving, paidMsat: bigint): Payment {
  const { userPk, pending, preimage, paymentHash } = invoice;
  const feesMsat = pending ? partnerFeeMsat(pending, paidMsat) : 0n;
  const amountMsat = paidMsat - feesMsat;
  credit(world, userPk, amountMsat);
  if (pending) payPartner(world, pending, feesMsat);
  markSettled(world, paymentHash);
  const outcome = { ...COMPLETED, preimage, amountMsat, feesMsat };
  if (pending) {
    const message = invoice.message === null ? {} : { message: invoice.message };
    return changePayment(world, userPk, pending, { ...outcome, ...message });
  }
  const nowMs = world.clock.now();
  const spontaneous = invoice.offerId === null;
  return insertPayment(world, userPk, {
    index: paymentIndex(nowMs, paymentId(spontaneous ? 'ln' : 'fr', paymentHash)),
    rail: spontaneous ? 'spontaneous' : 'offer',
    direction: 'inbound',
    createdAtMs: nowMs,
    finalizedAtMs: nowMs,
    ...outcome,
    hash: paymentHash,
    offerId: invoice.offerId,
    ...(invoice.offerId === null ? {} : wordsOfOffer(world, invoice.offerId)),
    payerName: invoice.payerName,
    message: invoice.message,
  });
}

/**
 * Pays the partner's fee of an invoice. A partner with a wallet in this world gets a spontaneous payment whose partner
 * fields say what it is for; for others the money leaves the world.
 */
function payPartner(world: World, invoice: Payment, amountMsat: bigint): void {
  const { partnerPk, partnerPropFeePpm, partnerBaseFeeMsat } = invoice;
  if (partnerPk === null || amountMsat === 0n) return;
  if (!hasWallet(world, partnerPk)) {
    const to = `partner:${partnerPk}`;
    transfer(world, { from: SERVICE, to, amountMsat });
    return;
  }
  const terms = { partnerPk, partnerPropFeePpm, partnerBaseFeeMsat };
  receiveSpontaneous(world, partnerPk, { amountMsat, message: null, ...terms });
}

/** Receives a spontaneous payment (keysend), within the caller's transaction. */
export function receiveSpontaneous(
  world: World,
  userPk: string,
  payment: Pick<Payment, 'message'> & { readonly amountMsat: bigint } & Partial<
      Pick<Payment, 'partnerPk' | 'partnerPropFeePpm' | 'partnerBaseFeeMsat'>
    >,
): Payment {
  const preimage = world.random(32);
  const paymentHash = hex.encode(sha256(preimage));
  credit(world, userPk, payment.amountMsat);
  const nowMs = world.clock.now();
  return insertPayment(world, userPk, {
    index: paymentIndex(nowMs, paymentId('ln', paymentHash)),
    rail: 'spontaneous',
    direction: 'inbound',
    ...COMPLETED,
    createdAtMs: nowMs,
    finalizedAtMs: nowMs,
    ...payment,
    hash: paymentHash,
    preimage: hex.encode(preimage),
  });
}

/** Moves money to the wallet's side of its channels. Opens another channel where they have no room. */
function credit(world: World, userPk: string, amountMsat: bigint): void {
  let restMsat = amountMsat;
  const open = liveChannels(world, userPk);
  const room = open.reduce((sum, channel) => sum + channel.inboundCapacityMsat, 0n);
  const isFull = room < amountMsat;
  if (isFull) openJustInTime(world, userPk, amountMsat - room);
  for (const channel of isFull ? liveChannels(world, userPk) : open) {
    const { userChannelId, inboundCapacityMsat } = channel;
    const partMsat = restMsat < inboundCapacityMsat ? restMsat : inboundCapacityMsat;
    const { ours, theirs } = channelAccounts(userPk, userChannelId);
    transfer(world, { from: theirs, to: ours, amountMsat: partMsat });
    restMsat -= partMsat;
  }
  if (restMsat > 0n) throw new Error('a channel opened just in time had too little room');
}
