import { sleep } from '../../../lib/sleep.ts';
import { ApiError, isApiError } from '../../../model/errors.ts';
import type { Payment } from '../../../model/payment.ts';
import type { PaymentIndex } from '../../../model/payment-index.ts';
import { catchUpChain } from '../chain/waiting-work.ts';
import { transfer } from '../world/ledger.ts';
import { findPayment, PAYMENT_KEY, type PaymentKey, requirePayment } from '../world/payments.ts';
import { allRows, firstRow } from '../world/rows.ts';
import type { World } from '../world/world.ts';
import { holdForWallet } from './held.ts';
import { completePayment, failPayment, finalDeltaOf, holdUntilExpiry } from './htlcs.ts';
import { findUnpaidInvoice, type InvoiceRow, markSettled } from './invoice-rows.ts';
import { OUTSIDE_LIGHTNING, payable, receiveInvoicePayment, SERVICE } from './receive.ts';

/** Pause between attempts to decide a payment while the disk is full. */
const FULL_DISK_PAUSE_MS = 1_000;

/** The `status_msg` of a payment that fails because its route would cost more than the payer allows. */
export const FEE_TOO_HIGH = 'the routing fee exceeds max_fee';

/**
 * Lets the receiver decide a pending outbound payment: it settles or fails, or it is held until its HTLCs expire. Does
 * nothing for payments that are not pending, so it may be repeated after a crash.
 */
export function advance(world: World, userPk: string, index: PaymentIndex): void {
  if (!world.isOpen()) return;
  world.transact(() => {
    const payment = findPayment(world, userPk, index);
    if (payment?.status !== 'pending' || payment.hash === null) return;
    const invoice = findUnpaidInvoice(world, payment.hash);
    if (invoice === null) {
      failPayment(world, userPk, index, 'no route');
      return;
    }
    if (payment.statusMsg === FEE_TOO_HIGH) {
      failPayment(world, userPk, index, FEE_TOO_HIGH);
      return;
    }
    if (invoice.behavior === 'hold') {
      const taken = holdForWallet(world, invoice, {
        payer: { userPk, index },
        amountMsat: payment.amountMsat ?? 0n,
      });
      if (taken) holdUntilExpiry(world, userPk, { index, finalDelta: finalDeltaOf(payment) });
      else failPayment(world, userPk, index, 'rejected by the receiver');
      return;
    }
    if (invoice.behavior === 'fail') {
      failPayment(world, userPk, index, 'rejected by the receiver');
      return;
    }
    settle(world, userPk, payment, invoice);
  });
}

/** Settles or fails a payment that the outside world holds. Throws `notFound`. */
export function decideHeld(world: World, paymentHash: string, settled: boolean): void {
  world.transact(() => {
    // A block that is due may already have ended the payment.
    catchUpChain(world);
    const held = firstRow<PaymentKey>(
      world,
      `SELECT h.user_pk AS userPk, h.idx AS "index"
       FROM htlcs h JOIN payments p ON p.user_pk = h.user_pk AND p.idx = h.idx
       WHERE json_extract(p.json, '$.hash') = ? LIMIT 1`,
      paymentHash,
    );
    const invoice = findUnpaidInvoice(world, paymentHash);
    const isOutside = invoice?.behavior === 'hold' && invoice.userPk === null;
    if (held === null || invoice === null || !isOutside) {
      throw new ApiError('notFound', 'No held payment has that hash.');
    }
    const { userPk, index } = held;
    if (settled) settle(world, userPk, requirePayment(world, userPk, index), invoice);
    else failPayment(world, userPk, index, 'rejected by the receiver');
  });
}

/** The outbound payments that are on their way, which a crash may have interrupted before the receiver decided. */
export function pendingSends(world: World): PaymentKey[] {
  return allRows(world, `SELECT DISTINCT ${PAYMENT_KEY} FROM htlcs`);
}

/** Calls {@link advance}, again and again while the disk is full: nothing else would try it before the next start. */
export async function decide(world: World, userPk: string, index: PaymentIndex): Promise<void> {
  try {
    await world.durably(() => advance(world, userPk, index));
  } catch (error) {
    if (!isApiError(error, 'overCapacity')) throw error;
    await sleep(FULL_DISK_PAUSE_MS);
    await decide(world, userPk, index);
  }
}

function settle(world: World, userPk: string, payment: Payment, invoice: InvoiceRow): void {
  const amountMsat = payment.amountMsat ?? 0n;
  if (invoice.userPk === null) {
    transfer(world, { from: SERVICE, to: OUTSIDE_LIGHTNING, amountMsat });
    markSettled(world, invoice.paymentHash);
  } else {
    const receiving = payable(world, { ...invoice, userPk: invoice.userPk }, amountMsat);
    if (receiving === null) {
      failPayment(world, userPk, payment.index, 'rejected by the receiver');
      return;
    }
    receiveInvoicePayment(world, receiving, amountMsat);
  }
  completePayment(world, userPk, payment, invoice.preimage);
}
