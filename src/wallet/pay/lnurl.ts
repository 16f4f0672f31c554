import { refused, rejected } from '../../model/errors.ts';
import type { FeePolicy } from '../../model/fee-cap.ts';
import { type Payment, type SendWords, sendWords } from '../../model/payment.ts';
import { readOrReject } from '../../model/read-or-error.ts';
import type { LnurlPayRequest } from '../../net/lnurl.ts';
import type { PaymentServices } from '../strings/payment-services.ts';
import { type NamedMethod, parseLoneMethod } from '../strings/payment-string.ts';
import { amountField, requireWithin } from './agreed-amount.ts';
import { planInvoicePayment } from './invoice.ts';
import { type SendContext, sendAndWait } from './send.ts';

/** A request to pay an LNURL-pay service whose terms are known. */
interface LnurlPaymentRequest extends SendWords {
  readonly request: LnurlPayRequest;
  readonly amountMsat: bigint;
  readonly maxFeeMsat: bigint | null;
  /**
   * A comment for the payee. It is sent only if the service accepts comments, shortened to the accepted length
   * (LUD-12).
   */
  readonly message: string | null;
}

/**
 * Reads an LNURL or Lightning Address from a request, without a URI around it. Throws error 7 for `lnurl`, which says
 * what is `wanted` when the text is neither.
 */
export function readLnurl(text: string, wanted: string): NamedMethod & { kind: 'lnurl' } {
  const method = readOrReject('lnurl', () => parseLoneMethod(text));
  if (method?.kind === 'lnurl') return method;
  throw rejected('lnurl', `must be ${wanted}`);
}

/**
 * Asks an LNURL-pay service or Lightning Address for its terms (LUD-06, LUD-16). Throws error 106 when the LNURL is for
 * withdrawing.
 */
export async function lnurlPayRequest(
  text: string,
  services: PaymentServices,
  signal: AbortSignal,
): Promise<LnurlPayRequest> {
  const { url } = readLnurl(text, 'an LNURL (lnurl1..., lnurlp://...) or a Lightning Address');
  const found = await services.lnurl.discover(url, { signal });
  if (found.tag === 'payRequest') return found;
  throw refused('This LNURL is for withdrawing: use withdraw_lnurl.');
}

/** Asks the service for an invoice of the amount, checks it (LUD-06) and pays it. */
export async function payLnurl(
  context: SendContext,
  request: LnurlPaymentRequest,
  services: PaymentServices,
  fees: FeePolicy,
): Promise<Payment> {
  const { minSendableMsat, maxSendableMsat } = request.request;
  requireWithin(
    request.amountMsat,
    [minSendableMsat, maxSendableMsat],
    'receiver',
    amountField(request),
  );
  const { invoice, sentComment } = await services.lnurl.requestInvoice(
    request.request,
    { amountMsat: request.amountMsat, comment: request.message },
    { signal: context.signal },
  );
  const plan = planInvoicePayment(
    {
      invoice,
      amountMsat: request.amountMsat,
      maxFeeMsat: request.maxFeeMsat,
      ...sendWords(request),
      message: sentComment,
    },
    context.session,
    fees,
  );
  return sendAndWait(context, plan);
}
