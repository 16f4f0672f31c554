import { z } from 'zod';
import { amountInput, positiveAmountInput } from '../../model/amount.ts';
import { type ErrorName, rejected } from '../../model/errors.ts';
import { PRIORITIES, paymentJson, type Rail } from '../../model/payment.ts';
import type { Permission } from '../../model/permissions.ts';
import { hexInput, noteInput } from '../../model/text.ts';
import { payAny } from '../../wallet/pay/any.ts';
import { planInvoicePayment, readInvoice } from '../../wallet/pay/invoice.ts';
import { lnurlPayRequest, payLnurl } from '../../wallet/pay/lnurl.ts';
import { planOfferPayment, readOffer } from '../../wallet/pay/offer.ts';
import { payOnchain, readAddress } from '../../wallet/pay/onchain.ts';
import { sendAndWait } from '../../wallet/pay/send.ts';
import { agree, agreedPaymentString } from '../input-comparison.ts';
import { paymentStringInput } from '../query.ts';
import { route } from '../route.ts';
import { answerPayment } from './answer-payment.ts';
import { examplePayment } from './examples.ts';

/** Errors that every pay operation can end with. */
const PAY_ERRORS: readonly ErrorName[] = [
  'refused',
  'overBudget',
  'timeout',
  'unreachable',
  'unreadable',
  'overCapacity',
];

/** Errors of pay operations that may ask a service outside. */
const OUTSIDE_PAY_ERRORS: readonly ErrorName[] = [...PAY_ERRORS, 'serviceFailed'];

/** The request's own cap on routing fees (decisions section 5). */
const maxFeeInput = amountInput
  .optional()
  .meta({ description: 'Most routing fees in sats, in place of --max-fee (addition).' });

const messageInput = noteInput
  .optional()
  .meta({ description: 'Sent to the receiver where the method carries one.' });

/** What a payment made by `pay` needed; every other rail is paid as an invoice. */
const PERMISSION_OF: Readonly<Partial<Record<Rail, Permission>>> = {
  offer: 'pay_offer',
  onchain: 'pay_onchain',
};

/** Ways to pay. */
export const sendRoutes = [
  route({
    method: 'post',
    path: '/v2/node/pay',
    group: 'send',
    access: ['pay_invoice', 'pay_offer', 'pay_onchain'],
    summary: 'Pay any payment string',
    description:
      'Picks the most recommended method. Blocks until the payment is completed or failed; on-chain sends are answered pending. payable and amount may be given in the body or the query.',
    paymentStrings: ['payable'],
    body: z.object({
      payable: paymentStringInput
        .optional()
        .meta({ description: 'Payment string; here or in the query.' }),
      amount: positiveAmountInput
        .optional()
        .meta({ description: 'Sats; required where the payable has no amount.' }),
      message: messageInput,
      personal_note: noteInput.optional(),
      max_fee: maxFeeInput,
    }),
    neededInBodyOrQuery: ['payable'],
    query: z.object({
      payable: paymentStringInput.optional(),
      amount: positiveAmountInput.optional(),
    }),
    response: paymentJson,
    permissionOf: (answer) => PERMISSION_OF[paymentJson.parse(answer).rail] ?? 'pay_invoice',
    errors: [...OUTSIDE_PAY_ERRORS, 'unsupported'],
    example: { body: { payable: 'lnbcrt10u1p5example' }, response: examplePayment },
    handler: (context, { body, query }) => {
      const payable = agreedPaymentString('payable', body.payable, query.payable);
      if (payable === undefined) throw rejected('payable', 'is required, in the body or the query');
      const amountMsat = agree('amount', body.amount ?? undefined, query.amount) ?? null;
      const request = {
        payable,
        amountMsat,
        maxFeeMsat: body.max_fee ?? null,
        message: body.message ?? null,
        personalNote: body.personal_note ?? null,
      };
      const { services, fees } = context.parts;
      return answerPayment(context, (send) => payAny(send, request, services, fees));
    },
  }),
  route({
    method: 'post',
    path: '/v2/node/pay_invoice',
    group: 'send',
    access: 'pay_invoice',
    summary: 'Pay a BOLT 11 invoice',
    description:
      'Blocks until the payment is completed or failed. Paying an invoice again answers its first payment while that is pending or completed.',
    paymentStrings: ['invoice'],
    body: z.object({
      invoice: paymentStringInput,
      fallback_amount: positiveAmountInput
        .optional()
        .meta({ description: 'Sats; required for amountless invoices.' }),
      personal_note: noteInput.optional(),
      note: noteInput.optional().meta({ description: 'Older name of personal_note.' }),
      max_fee: maxFeeInput,
    }),
    response: paymentJson,
    errors: PAY_ERRORS,
    example: { body: { invoice: 'lnbcrt10u1p5example' }, response: examplePayment },
    handler: (context, { body }) => {
      const { personal_note, note } = body;
      const request = {
        invoice: readInvoice(body.invoice),
        amountMsat: body.fallback_amount ?? null,
        maxFeeMsat: body.max_fee ?? null,
        personalNote: agree('note', personal_note, note, 'personal_note and note') ?? null,
        message: null,
      };
      const { session, parts } = context;
      return answerPayment(context, (send) =>
        sendAndWait(send, planInvoicePayment(request, session.node, parts.fees)),
      );
    },
  }),
  route({
    method: 'post',
    path: '/v2/node/pay_offer',
    group: 'send',
    access: 'pay_offer',
    summary: 'Pay a BOLT 12 offer',
    description: 'Blocks until the payment is completed or failed.',
    paymentStrings: ['offer'],
    body: z.object({
      offer: paymentStringInput,
      amount: positiveAmountInput,
      message: messageInput,
      personal_note: noteInput.optional(),
      max_fee: maxFeeInput,
    }),
    response: paymentJson,
    errors: [...PAY_ERRORS, 'unsupported'],
    example: { body: { offer: 'lno1example', amount: '1000' }, response: examplePayment },
    handler: (context, { body }) =>
      answerPayment(context, (send) => {
        const { session, parts, names } = context;
        const request = {
          offer: readOffer(body.offer, session),
          amountMsat: body.amount,
          maxFeeMsat: body.max_fee ?? null,
          message: body.message ?? null,
          personalNote: body.personal_note ?? null,
          viaName: null,
        };
        return sendAndWait(send, planOfferPayment(request, session, parts.fees, names));
      }),
  }),
  route({
    method: 'post',
    path: '/v2/node/pay_onchain',
    group: 'send',
    access: 'pay_onchain',
    summary: 'Send on chain',
    description:
      'Answers once the transaction is broadcast, pending; six confirmations complete it. The same client_payment_id never sends twice.',
    paymentStrings: ['address'],
    body: z.object({
      address: paymentStringInput,
      amount: positiveAmountInput,
      priority: z.enum(PRIORITIES).optional().meta({ description: 'Default normal.' }),
      client_payment_id: hexInput(32)
        .optional()
        .meta({ description: 'Idempotency key of the payment; random when omitted.' }),
      personal_note: noteInput.optional(),
    }),
    response: paymentJson,
    errors: ['refused', 'overBudget', 'unsupported', 'unreachable', 'unreadable'],
    example: {
      body: { address: 'bcrt1qexample', amount: '50000' },
      response: { ...examplePayment, rail: 'onchain', status: 'pending' },
    },
    handler: (context, { body }) =>
      answerPayment(context, async (send) =>
        payOnchain(send, {
          address: readAddress(body.address),
          amountMsat: body.amount,
          priority: body.priority ?? 'normal',
          clientPaymentId: body.client_payment_id ?? null,
          personalNote: body.personal_note ?? null,
          maxFeeMsat: null,
        }),
      ),
  }),
  route({
    method: 'post',
    path: '/v2/node/pay_lnurl',
    group: 'send',
    access: 'pay_invoice',
    summary: 'Pay an LNURL-pay service or Lightning Address',
    description: 'Blocks until the payment is completed or failed.',
    paymentStrings: ['lnurl'],
    body: z.object({
      lnurl: paymentStringInput.meta({
        description: 'lnurl1..., lnurlp://... or a Lightning Address.',
      }),
      amount: positiveAmountInput,
      message: messageInput,
      personal_note: noteInput.optional(),
      max_fee: maxFeeInput,
    }),
    response: paymentJson,
    errors: OUTSIDE_PAY_ERRORS,
    example: { body: { lnurl: 'alice@example.com', amount: '1000' }, response: examplePayment },
    handler: (context, { body }) => {
      const { services, fees } = context.parts;
      return answerPayment(context, async (send) => {
        const request = {
          request: await lnurlPayRequest(body.lnurl, services, context.signal),
          amountMsat: body.amount,
          maxFeeMsat: body.max_fee ?? null,
          message: body.message ?? null,
          personalNote: body.personal_note ?? null,
        };
        return payLnurl(send, request, services, fees);
      });
    },
  }),
];
