import { base64, hex } from '@scure/base';
import { timestampOf } from '../../codecs/bolt11/index.ts';
import { ApiError, refused } from '../../model/errors.ts';
import { blankPayment, isFinal } from '../../model/payment.ts';
import {
  idOfIndex,
  type PaymentIndex,
  paymentId,
  paymentIndex,
} from '../../model/payment-index.ts';
import type { CreatedInvoice, CreateInvoiceCommand } from '../node.ts';
import { isUnknownToLnd, refusalText } from './refusal.ts';
import type { LndRest } from './rest.ts';
import { invoicePayment } from './translate.ts';
import type { LndWallet } from './wallet.ts';
import { addedInvoiceShape, anyShape, invoiceShape, type LndInvoice } from './wire.ts';

/** Creates an invoice; its `created_at` is LND's, in whole seconds. */
export async function createInvoice(
  rest: LndRest,
  command: CreateInvoiceCommand,
): Promise<CreatedInvoice> {
  if (command.partnerPk !== null) {
    throw new ApiError(
      'unsupported',
      'LND cannot take a fee for a partner: leave partner_pk out.',
      {
        data: { node: 'lnd' },
      },
    );
  }
  const { amountMsat, descriptionHash, expirationSecs } = command;
  const added = await rest.post(
    '/v1/invoices',
    {
      memo: descriptionHash === null ? (command.description ?? '') : '',
      ...(descriptionHash === null
        ? {}
        : { description_hash: base64.encode(hex.decode(descriptionHash)) }),
      value_msat: `${amountMsat ?? 0n}`,
      expiry: `${expirationSecs}`,
      // Without it, a wallet whose channels are private could not be found.
      private: true,
    },
    addedInvoiceShape,
    { harmlessTwice: true },
  );
  const createdAtMs = timestampOf(added.payment_request) * 1000;
  return {
    payment: {
      ...blankPayment({
        index: paymentIndex(createdAtMs, paymentId('ln', added.r_hash)),
        rail: 'invoice',
        direction: 'inbound',
        status: 'pending',
        statusMsg: 'invoice generated',
        createdAtMs,
        updatedAtMs: createdAtMs,
      }),
      hash: added.r_hash,
      amountMsat,
      invoice: added.payment_request,
      personalNote: command.personalNote,
      expiresAtMs: createdAtMs + expirationSecs * 1000,
    },
    invoice: added.payment_request,
    paymentHash: added.r_hash,
    paymentSecret: added.payment_addr,
  };
}

/** The invoice of that payment hash, or null. */
export async function lookUpInvoice(rest: LndRest, hash: string): Promise<LndInvoice | null> {
  try {
    return await rest.get(`/v1/invoice/${hash}`, invoiceShape);
  } catch (error) {
    if (isUnknownToLnd(error)) return null;
    throw error;
  }
}

/** Cancels; see the port. LND tells nobody, so the change is published from here. */
export async function cancelInvoice(
  rest: LndRest,
  wallet: LndWallet,
  index: PaymentIndex,
): Promise<void> {
  const hash = idOfIndex(index).slice('ln_'.length);
  const invoice = await lookUpInvoice(rest, hash);
  const before = invoice && invoicePayment(invoice, wallet.clock.now());
  if (before?.rail !== 'invoice') {
    throw refused('Only a pending inbound invoice can be canceled.');
  }
  if (!isFinal(before)) await cancel(rest, hash);
  else if (before.status === 'completed') {
    throw refused('Only a pending inbound invoice can be canceled.');
  }
  const after = await lookUpInvoice(rest, hash);
  const payment = after && invoicePayment(after, wallet.clock.now());
  if (payment) wallet.local.publish([payment]);
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
