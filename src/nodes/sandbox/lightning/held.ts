import { HELD, isFinal, isHeld, type Payment } from '../../../model/payment.ts';
import type { PaymentIndex } from '../../../model/payment-index.ts';
import { noLongerHeld, notCancelable, notHeldYet } from '../../refusals.ts';
import { tipHeight } from '../chain/blocks.ts';
import { announceWork, catchUpChain } from '../chain/waiting-work.ts';
import { transfer } from '../world/ledger.ts';
import { PAYMENT_KEY, type PaymentKey, requirePayment, updatePayment } from '../world/payments.ts';
import { allRows, change, firstRow, insertRow } from '../world/rows.ts';
import type { World } from '../world/world.ts';
import { completePayment, expiryHeight, failPayment, finalDeltaOf } from './htlcs.ts';
import { findUnpaidInvoice, type InvoiceRow } from './invoice-rows.ts';
import { OUTSIDE_LIGHTNING, payable, receiveInvoicePayment, SERVICE } from './receive.ts';

interface Held {
  readonly paymentHash: string;
  readonly amountMsat: bigint;
  /** The payment of the wallet that pays; null for the outside world. */
  readonly payer: PaymentKey | null;
}

/**
 * Lets a wallet hold another wallet's payment for its hold invoice, within the caller's transaction. Returns whether
 * the payment is held: true again for the same payer, false where the invoice takes no payment. A hold invoice of the
 * outside world is held without a row.
 */
export function holdForWallet(
  world: World,
  invoice: InvoiceRow,
  { payer, amountMsat }: { readonly payer: PaymentKey; readonly amountMsat: bigint },
): boolean {
  const { userPk } = invoice;
  if (userPk === null) return true;
  const known = findHeld(world, invoice.paymentHash);
  if (known !== null) {
    return known.payer?.userPk === payer.userPk && known.payer.index === payer.index;
  }
  const receiving = payable(world, { ...invoice, userPk }, amountMsat);
  if (receiving === null) return false;
  keepHeld(world, receiving, { payer, amountMsat });
  return true;
}

/** Lets a wallet hold a payment of the outside world, within the caller's transaction. Returns the wallet's payment. */
export function holdFromOutside(
  world: World,
  invoice: InvoiceRow & { readonly userPk: string },
  amountMsat: bigint,
): Payment {
  const to = heldAccount(invoice.paymentHash);
  transfer(world, { from: OUTSIDE_LIGHTNING, to, amountMsat });
  return keepHeld(world, invoice, { payer: null, amountMsat });
}

/** Completes a held payment; does nothing when it is completed. Throws `notFound`, or `refused` without one. */
export function settleHeld(
  world: World,
  userPk: string,
  index: PaymentIndex,
  preimage: string,
): void {
  world.transact(() => {
    catchUpChain(world);
    const payment = requirePayment(world, userPk, index);
    if (payment.status === 'completed') return;
    const invoice = payment.hash === null ? null : findUnpaidInvoice(world, payment.hash);
    const held = payment.hash === null ? null : takeHeld(world, payment.hash);
    if (held === null || invoice === null) {
      throw payment.status === 'failed' ? noLongerHeld() : notHeldYet();
    }
    if (held.payer === null) giveOutsideMoney(world, held, SERVICE);
    const receiving = { ...invoice, userPk, preimage, pending: payment };
    receiveInvoicePayment(world, receiving, held.amountMsat);
    if (held.payer === null) return;
    const paid = requirePayment(world, held.payer.userPk, held.payer.index);
    completePayment(world, held.payer.userPk, paid, preimage);
  });
}

/**
 * Makes a pending inbound invoice payment unpayable, and gives the payer back what is held; does nothing when it has
 * failed already. Throws `notFound`, and `refused` for any other payment.
 */
export function cancelInvoice(world: World, userPk: string, index: PaymentIndex): void {
  world.transact(() => {
    const payment = requirePayment(world, userPk, index);
    if (payment.status === 'failed') return;
    if (isFinal(payment) || payment.direction !== 'inbound' || payment.rail !== 'invoice') {
      throw notCancelable();
    }
    const held = isHeld(payment) && payment.hash !== null ? takeHeld(world, payment.hash) : null;
    if (held !== null) giveBack(world, held);
    updatePayment(world, userPk, index, { status: 'failed', statusMsg: 'canceled' });
  });
}

/** Cancels what wallets still hold at its expiry height. */
export function cancelExpired(world: World): void {
  const expired = allRows<PaymentKey>(
    world,
    `SELECT ${PAYMENT_KEY} FROM held h JOIN invoices i ON i.payment_hash = h.payment_hash
     WHERE h.expiry_height <= ?`,
    tipHeight(world),
  );
  for (const { userPk, index } of expired) cancelInvoice(world, userPk, index);
}

function keepHeld(
  world: World,
  { paymentHash, userPk, index }: InvoiceRow & { readonly userPk: string },
  { payer, amountMsat }: Pick<Held, 'payer' | 'amountMsat'>,
): Payment {
  if (index === null) throw new Error('only an invoice of its own can be held');
  catchUpChain(world);
  const payment = requirePayment(world, userPk, index);
  insertRow(world, 'held', {
    payment_hash: paymentHash,
    amount_msat: amountMsat,
    expiry_height: expiryHeight(world, finalDeltaOf(payment)),
    payer_pk: payer?.userPk ?? null,
    payer_idx: payer?.index ?? null,
  });
  // What is held does not expire with its invoice.
  const sql = 'UPDATE payments SET expires_ms = NULL WHERE user_pk = ? AND idx = ?';
  change(world, sql, userPk, index);
  announceWork(world);
  return updatePayment(world, userPk, index, { statusMsg: HELD, amountMsat });
}

function findHeld(world: World, paymentHash: string): Held | null {
  const row = firstRow<{ amount: string; userPk: string | null; index: PaymentIndex }>(
    world,
    `SELECT CAST(amount_msat AS TEXT) AS amount, payer_pk AS userPk, payer_idx AS "index"
     FROM held WHERE payment_hash = ?`,
    paymentHash,
  );
  if (row === null) return null;
  const { amount, userPk, index } = row;
  return {
    paymentHash,
    amountMsat: BigInt(amount),
    payer: userPk === null ? null : { userPk, index },
  };
}

function takeHeld(world: World, paymentHash: string): Held | null {
  const held = findHeld(world, paymentHash);
  change(world, 'DELETE FROM held WHERE payment_hash = ?', paymentHash);
  return held;
}

function giveBack(world: World, held: Held): void {
  const { payer } = held;
  if (payer === null) giveOutsideMoney(world, held, OUTSIDE_LIGHTNING);
  else failPayment(world, payer.userPk, payer.index, 'rejected by the receiver');
}

function giveOutsideMoney(world: World, { paymentHash, amountMsat }: Held, to: string): void {
  transfer(world, { from: heldAccount(paymentHash), to, amountMsat });
}

function heldAccount(paymentHash: string): string {
  return `held:${paymentHash}`;
}
