import { base64, hex } from '@scure/base';
import { paymentHashOf } from '../../../codecs/preimage.ts';
import { refused } from '../../../model/errors.ts';
import { isFinal } from '../../../model/payment.ts';
import { idOfIndex, type PaymentIndex } from '../../../model/payment-index.ts';
import type { CreatedInvoice, CreateInvoiceCommand } from '../../node.ts';
import { notCancelable, requireNoPartner } from '../../refusals.ts';
import { createdInvoice } from '../../remote/orders/made-invoice.ts';
import { hasPublicChannel } from '../reads/channels.ts';
import { LND_PROTOCOL } from '../reads/protocol.ts';
import type { LndRest } from '../reads/rest.ts';
import type { LndHandle } from '../reads/wallet.ts';
import { nullIfUnknown, refusalText } from '../words/refusal.ts';
import { invoiceObservations, invoicePayment } from '../words/translate.ts';
import { addedInvoiceShape, anyShape, invoiceShape, type LndInvoice } from '../words/wire.ts';

/** LND's message when it has an invoice of that payment hash already. */
export const ALREADY_EXISTS = 'invoice with payment hash already exists';

/**
 * Creates an invoice; its `created_at` is LND's, in whole seconds. With a preimage that was used before, the first
 * invoice is returned, which is looked up with `owner`'s token. Throws `unsupported` for a partner fee.
 */
export async function createInvoice(
  { rest, owner, wallet }: LndHandle,
  command: CreateInvoiceCommand,
): Promise<CreatedInvoice> {
  requireNoPartner(LND_PROTOCOL, command.partnerPk);
  const { preimage } = command;
  const needsHints = !(await hasPublicChannel({ owner, wallet }));
  const request = invoiceRequest(command, needsHints);
  try {
    const added = await rest.post('/v1/invoices', request, addedInvoiceShape, {
      // With a preimage, LND makes no second invoice. Without one it does, but the first reaches no payer.
      harmlessTwice: true,
    });
    return created(added.r_hash, added, command);
  } catch (error) {
    if (preimage === null || !refusalText(error).includes(ALREADY_EXISTS)) throw error;
    const hash = paymentHashOf(preimage);
    const first = await lookUpInvoice(owner, hash);
    // Only a caller who knows the preimage may get the invoice.
    if (first?.r_preimage !== preimage) throw error;
    return created(hash, first, command);
  }
}

function invoiceRequest(
  command: CreateInvoiceCommand,
  needsHints: boolean,
): Record<string, unknown> {
  const { preimage } = command;
  return {
    ...termsRequest(command, needsHints),
    ...(preimage === null ? {} : { r_preimage: base64.encode(hex.decode(preimage)) }),
  };
}

/** Returns the terms that a request for an invoice holds, of either kind. */
export function termsRequest(
  command: Omit<CreateInvoiceCommand, 'preimage'>,
  needsHints: boolean,
): Record<string, unknown> {
  const { amountMsat, description, descriptionHash, expirationSecs } = command;
  return {
    memo: descriptionHash === null ? (description ?? '') : '',
    ...(descriptionHash === null
      ? {}
      : { description_hash: base64.encode(hex.decode(descriptionHash.hash)) }),
    value_msat: `${amountMsat ?? 0n}`,
    expiry: `${expirationSecs}`,
    // Adds route hints, without which payers cannot find a wallet whose channels are all private.
    private: needsHints,
  };
}

/** Returns the invoice that LND has made, with its payment as it is at first. */
export function created(
  paymentHash: string,
  made: Pick<LndInvoice, 'payment_request' | 'payment_addr'>,
  command: Omit<CreateInvoiceCommand, 'preimage'>,
): CreatedInvoice {
  const { payment_request: invoice, payment_addr: paymentSecret } = made;
  return createdInvoice({ paymentHash, invoice, paymentSecret }, command);
}

/** Returns the invoice of a payment hash, or null. */
export async function lookUpInvoice(rest: LndRest, hash: string): Promise<LndInvoice | null> {
  return rest.get(`/v1/invoice/${hash}`, invoiceShape).catch(nullIfUnknown);
}

/** See `WalletNode.cancelInvoice`. LND's streams do not report it, so the change is published from here. */
export async function cancelInvoice(
  { rest, owner, wallet }: LndHandle,
  index: PaymentIndex,
): Promise<void> {
  const hash = idOfIndex(index).slice('ln_'.length);
  const invoice = await lookUpInvoice(owner, hash);
  const before = invoice && invoicePayment(invoice, wallet.clock.now());
  if (before?.rail !== 'invoice' || before.status === 'completed') throw notCancelable();
  if (!isFinal(before)) await cancel(rest, hash);
  const after = await lookUpInvoice(owner, hash);
  if (after) wallet.local.publish(invoiceObservations(after, wallet.clock.now()));
}

async function cancel(rest: LndRest, hash: string): Promise<void> {
  try {
    await rest.post(
      '/v2/invoices/cancel',
      { payment_hash: base64.encode(hex.decode(hash)) },
      anyShape,
      { harmlessTwice: true },
    );
  } catch (error) {
    if (!refusalText(error).includes('already settled')) throw error;
    throw refused('The invoice was paid before it could be canceled.', error);
  }
}
