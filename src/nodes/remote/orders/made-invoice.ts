import { decodeBolt11, expiresAtMsOf, timestampOf } from '../../../codecs/bolt11/index.ts';
import { paymentId, paymentIndex } from '../../../model/payment-index.ts';
import type { CreatedInvoice, CreateHoldInvoiceCommand, CreateInvoiceCommand } from '../../node.ts';
import { shownPayment } from '../../shown-payment.ts';

interface MadeInvoice {
  readonly paymentHash: string;
  readonly invoice: string;
  readonly paymentSecret: string;
  /** What is taken of the amount before it arrives, where that is known already. */
  readonly feesMsat?: bigint;
}

/** Returns an invoice that the node has made, with its payment as it is at first. */
export function createdInvoice(
  { paymentHash, invoice, paymentSecret, feesMsat = 0n }: MadeInvoice,
  { amountMsat, personalNote, externalId, message }: Omit<CreateInvoiceCommand, 'preimage'>,
): CreatedInvoice {
  const createdAtMs = timestampOf(invoice) * 1000;
  const expiresAtMs = expiresAtMsOf(invoice);
  return {
    payment: shownPayment({
      index: paymentIndex(createdAtMs, paymentId('ln', paymentHash)),
      rail: 'invoice',
      direction: 'inbound',
      statusMsg: 'invoice generated',
      createdAtMs,
      hash: paymentHash,
      amountMsat,
      feesMsat,
      invoice,
      personalNote,
      externalId,
      message,
      expiresAtMs,
    }),
    invoice,
    paymentHash,
    paymentSecret,
    expiresAtMs,
  };
}

/** Whether an invoice for a hash has the terms of a repeated command. */
export function hasTerms(invoice: string, command: CreateHoldInvoiceCommand): boolean {
  const found = decodeBolt11(invoice, { verifySignature: false });
  return (
    found.amountMsat === command.amountMsat &&
    found.expirySecs === command.expirationSecs &&
    found.descriptionHash === (command.descriptionHash?.hash ?? null) &&
    (found.description || null) === command.description
  );
}
