import { hex } from '@scure/base';
import type { Bolt11Invoice } from '../../../codecs/bolt11/index.ts';
import { paymentHashOf } from '../../../codecs/preimage.ts';
import { formatAmountMsat } from '../../../model/amount.ts';
import { refused, rejected } from '../../../model/errors.ts';
import type { Payment } from '../../../model/payment.ts';
import { transfer } from '../world/ledger.ts';
import { outsideKeys } from '../world/wallets.ts';
import type { World } from '../world/world.ts';
import { holdFromOutside } from './held.ts';
import {
  type Behavior,
  findUnpaidInvoice,
  type InvoiceRow,
  insertInvoice,
} from './invoice-rows.ts';
import { type InvoiceTerms, signInvoice } from './invoices.ts';
import {
  OUTSIDE_LIGHTNING,
  payable,
  receiveInvoicePayment,
  receiveSpontaneous,
  SERVICE,
} from './receive.ts';

/** Creates an invoice of the outside world's node. */
export function createOutsideInvoice(
  world: World,
  terms: InvoiceTerms & { readonly behavior: Behavior },
): { invoice: string; paymentHash: string } {
  const preimage = hex.encode(world.random(32));
  const paymentHash = paymentHashOf(preimage);
  const { invoice, expiresAtMs } = signInvoice(world, outsideKeys(world).nodeSecretKey, {
    ...terms,
    createdAtMs: world.clock.now(),
    paymentHash,
  });
  world.transact(() =>
    insertInvoice(world, {
      paymentHash,
      userPk: null,
      index: null,
      preimage,
      behavior: terms.behavior,
      expiresAtMs,
    }),
  );
  return { invoice, paymentHash };
}

/** Pays an invoice of a wallet from the outside world. Throws `refused` when that is not possible. */
export function payInvoiceFromOutside(
  world: World,
  order: {
    readonly invoice: Bolt11Invoice;
    readonly amountMsat: bigint | null;
    readonly message: string | null;
  },
): Payment {
  const { invoice } = order;
  const amountMsat = invoice.amountMsat ?? order.amountMsat;
  if (amountMsat === null) {
    throw rejected('amount', 'the invoice has no amount: say how many satoshis to pay');
  }
  if (order.amountMsat !== null && order.amountMsat !== amountMsat) {
    throw rejected('amount', `the invoice asks for ${formatAmountMsat(amountMsat)} sats`);
  }
  return world.transact(() => {
    const row = findUnpaidInvoice(world, invoice.paymentHash);
    if (row?.userPk == null) {
      throw refused('No wallet of this sandbox waits for that invoice; it may be paid already.');
    }
    const { userPk } = row;
    return arrive(world, { ...row, userPk, message: order.message ?? row.message }, amountMsat);
  });
}

/**
 * Pays an invoice of a wallet from the outside world, within the caller's transaction. Returns the wallet's payment,
 * which is pending where the wallet holds it.
 */
export function arrive(
  world: World,
  invoice: InvoiceRow & { readonly userPk: string },
  amountMsat: bigint,
): Payment {
  const receiving = payable(world, invoice, amountMsat);
  if (receiving === null) {
    throw refused('The receiver no longer takes this payment: it expired or was canceled.');
  }
  if (invoice.behavior === 'hold') return holdFromOutside(world, invoice, amountMsat);
  const payment = receiveInvoicePayment(world, receiving, amountMsat);
  transfer(world, { from: OUTSIDE_LIGHTNING, to: SERVICE, amountMsat });
  return payment;
}

/** Pays a wallet from the outside world without an invoice. */
export function paySpontaneously(
  world: World,
  userPk: string,
  order: { readonly amountMsat: bigint; readonly message: string | null },
): Payment {
  const { amountMsat, message } = order;
  return world.transact(() => {
    transfer(world, { from: OUTSIDE_LIGHTNING, to: SERVICE, amountMsat });
    return receiveSpontaneous(world, userPk, { amountMsat, message });
  });
}
