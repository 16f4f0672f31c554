import { type Bolt11Invoice, decodeBolt11 } from '../../codecs/bolt11/index.ts';
import { keptDescription } from '../../model/description.ts';
import { type FeePolicy, feeCapMsat } from '../../model/fee-cap.ts';
import { type SendWords, sendWords } from '../../model/payment.ts';
import { paymentId } from '../../model/payment-index.ts';
import { readOrReject } from '../../model/read-or-error.ts';
import type { OnNode } from '../session/session.ts';
import {
  invoiceExpiryObstacle,
  invoiceNetworkObstacle,
  requireNone,
} from '../strings/obstacles.ts';
import { withoutLightningScheme } from '../strings/payment-string.ts';
import { agreedAmountMsat, amountField } from './agreed-amount.ts';
import type { SendPlan } from './send-plan.ts';

/** A request to pay a BOLT 11 invoice. */
interface InvoicePaymentRequest extends SendWords {
  readonly invoice: Bolt11Invoice;
  /**
   * The amount for an invoice without one, in millisatoshis. If the invoice has an amount, this must equal it or be
   * null.
   */
  readonly amountMsat: bigint | null;
  readonly maxFeeMsat: bigint | null;
  readonly message: string | null;
}

/** Reads an invoice from a request. Throws error 7 for `invoice` when it is not a valid one. */
export function readInvoice(text: string): Bolt11Invoice {
  return readOrReject('invoice', () => decodeBolt11(withoutLightningScheme(text)));
}

/** Checks the payment of an invoice and sets its fee cap. Throws errors 7 and 106. Sends nothing. */
export function planInvoicePayment(
  request: InvoicePaymentRequest,
  { node }: OnNode,
  fees: FeePolicy,
): SendPlan {
  const { invoice, message } = request;
  const words = { ...sendWords(request), message };
  requireNone(invoiceNetworkObstacle(invoice, node));
  const amountMsat = agreedAmountMsat({
    askedMsat: invoice.amountMsat,
    givenMsat: request.amountMsat,
    field: amountField(request, 'fallback_amount'),
  });
  const maxFeeMsat = feeCapMsat(amountMsat, request.maxFeeMsat, fees);
  return {
    id: paymentId('ln', invoice.paymentHash),
    rail: 'invoice',
    amountMsat,
    maxFeeMsat,
    again: 'after-failure',
    details: {
      hash: invoice.paymentHash,
      invoice: invoice.text,
      expiresAtMs: invoice.expiresAtMs,
      description: keptDescription(invoice.description),
      ...words,
    },
    requirePayable: () => requireNone(invoiceExpiryObstacle(invoice, node)),
    repeat: { maxFeeMsat },
    sign: null,
    start: (identity) =>
      node.payInvoice({ ...identity, amountMsat, maxFeeMsat, ...words, invoice }),
  };
}
