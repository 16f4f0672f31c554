import { formatAmountMsat } from '../../model/amount.ts';
import { rejected } from '../../model/errors.ts';
import type { Payment } from '../../model/payment.ts';
import type { Permission } from '../../model/permissions.ts';
import { analyze, type PayMethod } from '../analyze.ts';
import type { PaymentServices } from '../payment-services.ts';
import { requirePermission } from '../session.ts';
import type { FeePolicy } from './fee-cap.ts';
import { planInvoicePayment } from './invoice.ts';
import { payLnurl } from './lnurl.ts';
import { planOfferPayment } from './offer.ts';
import { payOnchain } from './onchain.ts';
import { type SendContext, sendAndWait } from './send.ts';

/** A request to pay whatever a payment string asks for (contract, pay). */
export interface AnyPaymentRequest {
  readonly payable: string;
  readonly amountMsat: bigint | null;
  readonly maxFeeMsat: bigint | null;
  readonly message: string | null;
  readonly personalNote: string | null;
}

/** The permission that paying by each method needs (decisions section 7). */
const PERMISSION: Readonly<Record<PayMethod['kind'], Permission>> = {
  offer: 'pay_offer',
  invoice: 'pay_invoice',
  'lnurl-pay': 'pay_invoice',
  onchain: 'pay_onchain',
};

/** Pays by the most recommended method. Answers the finalized payment, or the pending one on chain. */
export async function payAny(
  context: SendContext,
  request: AnyPaymentRequest,
  services: PaymentServices,
  fees: FeePolicy,
): Promise<Payment> {
  const { session } = context;
  const { payable } = request;
  const { payables } = await analyze(payable, 'payable', session.node, services, context.signal);
  const [method] = payables;
  if (!method) throw rejected('payable', 'this string is for withdrawing: use withdraw_lnurl');
  requirePermission(session, PERMISSION[method.kind]);
  const payment = { ...request, amountMsat: agreedAmountMsat(method, request.amountMsat) };
  switch (method.kind) {
    case 'offer': {
      const { viaName } = method;
      const plan = planOfferPayment(
        { ...payment, offer: method.text, viaName },
        session,
        fees,
        context.names,
      );
      return sendAndWait(context, plan);
    }
    case 'invoice': {
      const plan = planInvoicePayment(
        { ...payment, invoice: method.text, message: null },
        session.node,
        fees,
      );
      return sendAndWait(context, plan);
    }
    case 'lnurl-pay':
      return payLnurl(context, { ...payment, request: method.request }, services, fees);
    case 'onchain':
      return payOnchain(context, {
        address: method.text,
        amountMsat: payment.amountMsat,
        priority: 'normal',
        clientPaymentId: null,
        maxFeeMsat: request.maxFeeMsat,
        personalNote: request.personalNote,
      });
  }
}

function agreedAmountMsat(method: PayMethod, givenMsat: bigint | null): bigint {
  const { amountMsat } = method;
  if (amountMsat === null) {
    if (givenMsat !== null) return givenMsat;
    throw rejected('amount', 'the payable has no amount: say how many satoshis to pay');
  }
  if (givenMsat === null || givenMsat === amountMsat) return amountMsat;
  throw rejected(
    'amount',
    `the payable asks for ${formatAmountMsat(amountMsat)} sats: leave the amount out or give the same`,
  );
}
