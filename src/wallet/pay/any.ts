import type { Permission } from '../../model/clients/permissions.ts';
import { refused } from '../../model/errors.ts';
import type { FeePolicy } from '../../model/fee-cap.ts';
import { type Payment, type Rail, type SendWords, sendWords } from '../../model/payment.ts';
import { paymentId } from '../../model/payment-index.ts';
import { grantSignal } from '../clients/grant-signal.ts';
import { requirePermission, type WithHistory } from '../session/session.ts';
import { type Examination, examine, nothingLeft, rank } from '../strings/analyze.ts';
import { invoiceTerms, type PayMethod, type UriTerms } from '../strings/method-terms.ts';
import { isSamePrice, type OfferPrice } from '../strings/offer-price.ts';
import type { PaymentServices } from '../strings/payment-services.ts';
import { agreedAmountMsat, amountField } from './agreed-amount.ts';
import { planInvoicePayment } from './invoice.ts';
import { payLnurl } from './lnurl.ts';
import { planOfferPayment } from './offer.ts';
import { payOnchain } from './onchain.ts';
import { type SendContext, sendAndWait } from './send.ts';

/** A request to pay a payment string by its most recommended method (docs/api.md, Paying). */
interface AnyPaymentRequest extends SendWords {
  readonly payable: string;
  readonly amountMsat: bigint | null;
  readonly maxFeeMsat: bigint | null;
  readonly message: string | null;
}

/** The permission that paying by a method, or on a rail, needs (docs/decisions.md 60). */
export function permissionToPay(kind: PayMethod['kind'] | Rail): Permission {
  if (kind === 'offer') return 'pay_offer';
  return kind === 'onchain' ? 'pay_onchain' : 'pay_invoice';
}

/**
 * Pays by the most recommended method. Returns the finalized payment; on chain, the pending one. Throws error 108 when
 * the caller lacks the permission of that method.
 */
export async function payAny(
  given: SendContext,
  request: AnyPaymentRequest,
  services: PaymentServices,
  fees: FeePolicy,
): Promise<Payment> {
  const { session } = given;
  const { payable } = request;
  const found = await examine(payable, 'payable', session, services, {
    caller: given,
    forPayment: true,
  });
  requireEncodedAmounts(found, request);
  const method = await chosenMethod(session, found);
  const permission = permissionToPay(method.kind);
  requirePermission(session, permission);
  // From here on only this permission counts, although the endpoint accepts any permission to pay.
  const granted = grantSignal(session, () => requirePermission(session, permission));
  try {
    const context = { ...given, signal: AbortSignal.any([given.signal, granted.signal]) };
    return await payBy(method, found.uri, context, request, services, fees);
  } finally {
    granted.stop();
  }
}

/** Throws error 7 when the caller's amount differs from one that an invoice in the payment string encodes. */
function requireEncodedAmounts({ methods }: Examination, request: AnyPaymentRequest): void {
  const { amountMsat: givenMsat } = request;
  const field = amountField(request);
  for (const method of methods) {
    if (method.kind !== 'invoice' || method.invoice.amountMsat === null) continue;
    agreedAmountMsat({ askedMsat: method.invoice.amountMsat, givenMsat, field });
  }
}

function payBy(
  method: PayMethod,
  uri: UriTerms,
  context: SendContext,
  request: AnyPaymentRequest,
  services: PaymentServices,
  fees: FeePolicy,
): Promise<Payment> {
  const { session } = context;
  const priced = priceOf(method, request, uri);
  const payment = {
    ...request,
    amountMsat: agreedAmountMsat({
      // The price of an LNURL service is not what the caller has seen: the caller names the amount.
      askedMsat:
        priced?.amountMsat ?? (method.kind === 'lnurl-pay' ? uri.amountMsat : method.amountMsat),
      givenMsat: priced ? null : request.amountMsat,
      field: amountField(request),
    }),
  };
  switch (method.kind) {
    case 'offer': {
      const { offer, viaName } = method;
      const { signal } = context;
      const wish = { ...payment, ...priced, ofPrice: priced?.price, offer, viaName, signal };
      const plan = planOfferPayment(wish, session, fees, context.names);
      return sendAndWait(context, plan);
    }
    case 'invoice': {
      const { invoice } = method;
      const plan = planInvoicePayment({ ...payment, invoice, message: null }, session, fees);
      return sendAndWait(context, plan);
    }
    case 'lnurl-pay':
      return payLnurl(context, { ...payment, request: method.request }, services, fees);
    case 'onchain':
      return payOnchain(context, {
        address: method.address,
        amountMsat: payment.amountMsat,
        priority: 'normal',
        clientPaymentId: null,
        maxFeeMsat: request.maxFeeMsat,
        ...sendWords(request),
      });
  }
}

/** The price of an offer in a currency, unless another amount is asked for or given; null for every other method. */
function priceOf(
  method: PayMethod,
  { amountMsat: givenMsat, price: given }: AnyPaymentRequest,
  uri: UriTerms,
): OfferPrice | null {
  if (method.kind !== 'offer' || method.price === null || method.minMsat === null) return null;
  const { price, minMsat: amountMsat } = method;
  return isSamePrice(given, price) || (givenMsat ?? uri.amountMsat) === null
    ? { price, amountMsat }
    : null;
}

/**
 * The method to pay by (docs/decisions.md 95). An expired invoice that this wallet paid or is paying comes before
 * methods that are recommended less: the request then returns that payment and pays nothing more.
 */
async function chosenMethod({ history }: WithHistory, found: Examination): Promise<PayMethod> {
  const [best] = found.payables;
  if (best && rank(best) <= rank({ kind: 'invoice' })) return best;
  for (const method of found.methods) {
    if (method.kind !== 'invoice') continue;
    const earlier = await history.latest(paymentId('ln', method.invoice.paymentHash));
    if (earlier === null || earlier.status === 'failed') continue;
    return invoiceTerms(method.invoice, found.uri);
  }
  if (best) return best;
  if (found.claimables.length === 0) throw nothingLeft(found.obstacles);
  const onlyWithdrawal = refused('This string is for withdrawing: use withdraw_lnurl.');
  throw nothingLeft([...found.obstacles, onlyWithdrawal]);
}
