import { z } from 'zod';
import { amountInput, positiveAmountInput } from '../../model/amount.ts';
import { type ErrorName, rejected } from '../../model/errors.ts';
import { PRIORITIES, paymentJson, type Rail } from '../../model/payment.ts';
import type { Permission } from '../../model/permissions.ts';
import { hexInput, noteInput, personalNoteInput } from '../../model/text.ts';
import { payAny } from '../../wallet/pay/any.ts';
import { planInvoicePayment, readInvoice } from '../../wallet/pay/invoice.ts';
import { lnurlPayRequest, payLnurl } from '../../wallet/pay/lnurl.ts';
import { planOfferPayment, readOffer } from '../../wallet/pay/offer.ts';
import { payOnchain, readAddress } from '../../wallet/pay/onchain.ts';
import { sendAndWait } from '../../wallet/pay/send.ts';
import { excludes, given, isTrue } from '../body-rules.ts';
import { agree, agreedPaymentString } from '../input-comparison.ts';
import { paymentStringInput } from '../query.ts';
import { route } from '../route.ts';
import { answerPayment } from './answer-payment.ts';
import {
  exampleAddress,
  exampleInvoice,
  exampleLnurl,
  exampleLnurlPayment,
  exampleOffer,
  exampleOfferPayment,
  exampleOnchainPayment,
  examplePayment,
} from './examples.ts';

/** The errors of every Lightning payment. */
const PAY_ERRORS: readonly ErrorName[] = ['overBudget', 'timeout'];

/** The errors of pay operations that may call an outside service. */
const OUTSIDE_PAY_ERRORS: readonly ErrorName[] = [...PAY_ERRORS, 'serviceFailed'];

/** The request's own cap on routing fees (docs/decisions.md 48). */
const maxFeeInput = amountInput
  .optional()
  .meta({ description: 'The largest routing fees in sats, in place of `--max-fee`. Addition.' });

const messageInput = noteInput
  .optional()
  .meta({ description: 'Message to the receiver, if the method can carry one.' });

const DEFAULT_PRIORITY = 'normal';

/** The permission that a payment of `pay` needed, by rail. Every rail that is missing here is paid as an invoice. */
const PERMISSION_OF: Readonly<Partial<Record<Rail, Permission>>> = {
  offer: 'pay_offer',
  onchain: 'pay_onchain',
};

const onchainBody = z
  .object({
    address: paymentStringInput.meta({ description: "On-chain address of the node's network." }),
    amount: positiveAmountInput
      .optional()
      .meta({ description: 'Amount in sats; required without `send_all`.' }),
    send_all: z.boolean().optional().meta({
      description:
        'True sends everything that can be sent in one transaction, in place of an amount. Addition.',
    }),
    priority: z.enum(PRIORITIES).optional().meta({
      description:
        'How soon the transaction should confirm: `high` after about 1 block, `normal` 3, `background` 72.',
      default: DEFAULT_PRIORITY,
    }),
    client_payment_id: hexInput(32)
      .optional()
      .meta({ description: 'Idempotency key of the payment; random when omitted.' }),
    personal_note: personalNoteInput.optional(),
  })
  .check((context) => {
    const { amount, send_all } = context.value;
    const reject = (path: string, message: string) =>
      context.issues.push({ code: 'custom', path: [path], message, input: context.value });
    const hasAmount = (amount ?? null) !== null;
    if (!hasAmount && send_all !== true) reject('amount', 'is required, or send_all');
    if (hasAmount && send_all === true) reject('amount', 'must be left out with send_all');
  })
  .meta({
    allOf: [excludes('amount', 'send_all'), { anyOf: [given('amount'), isTrue('send_all')] }],
  });

/** Routes for paying. */
export const sendRoutes = [
  route({
    method: 'post',
    path: '/v2/node/pay',
    group: 'send',
    access: ['pay_invoice', 'pay_offer', 'pay_onchain'],
    summary: 'Pay any payment string',
    description:
      'Pays by the most recommended method. The answer comes when the payment is completed or failed; an on-chain send is answered while it is pending. `payable` and `amount` may be given in the body or the query.',
    paymentStrings: ['payable'],
    body: z.object({
      payable: paymentStringInput.optional().meta({
        description:
          'Payment string: invoice, offer, address, BIP 321 URI, LNURL or name. Required here or in the query.',
      }),
      amount: positiveAmountInput.optional().meta({
        description:
          'Amount in sats; required if the payable has none, otherwise equal to that amount.',
      }),
      message: messageInput,
      personal_note: personalNoteInput.optional(),
      max_fee: maxFeeInput,
    }),
    neededInBodyOrQuery: ['payable'],
    query: z.object({
      payable: paymentStringInput
        .optional()
        .meta({ description: 'The same as in the body. If both are given, they must be equal.' }),
      amount: positiveAmountInput
        .optional()
        .meta({ description: 'The same as in the body. If both are given, they must be equal.' }),
    }),
    response: paymentJson,
    answersAccepted: 'always',
    permissionOf: (answer) => PERMISSION_OF[paymentJson.parse(answer).rail] ?? 'pay_invoice',
    errors: [...OUTSIDE_PAY_ERRORS, 'notFound', 'unsupported'],
    example: { body: { payable: exampleInvoice }, response: examplePayment },
    handler: (context, { body, query }) => {
      const payable = agreedPaymentString('payable', body.payable, query.payable);
      if (payable === undefined) throw rejected('payable', 'is required, in the body or the query');
      const amountMsat = agree('amount', body.amount, query.amount) ?? null;
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
      'Waits until the payment is completed or failed. Paying an invoice again answers with its first payment while that is pending or completed.',
    paymentStrings: ['invoice'],
    body: z.object({
      invoice: paymentStringInput.meta({ description: 'The BOLT 11 invoice.' }),
      fallback_amount: positiveAmountInput
        .optional()
        .meta({ description: 'Amount in sats; required for an invoice without one.' }),
      personal_note: personalNoteInput.optional(),
      note: noteInput.optional().meta({ description: 'Older name of `personal_note`.' }),
      max_fee: maxFeeInput,
    }),
    response: paymentJson,
    answersAccepted: 'always',
    errors: PAY_ERRORS,
    example: { body: { invoice: exampleInvoice }, response: examplePayment },
    handler: (context, { body }) => {
      const { personal_note, note } = body;
      const terms = {
        amountMsat: body.fallback_amount ?? null,
        maxFeeMsat: body.max_fee ?? null,
        personalNote: agree('note', personal_note, note, 'personal_note and note') ?? null,
        message: null,
      };
      const { session, parts } = context;
      return answerPayment(context, async (send) => {
        const request = { ...terms, invoice: readInvoice(body.invoice) };
        return sendAndWait(send, planInvoicePayment(request, session, parts.fees));
      });
    },
  }),
  route({
    method: 'post',
    path: '/v2/node/pay_offer',
    group: 'send',
    access: 'pay_offer',
    summary: 'Pay a BOLT 12 offer',
    description: 'Waits until the payment is completed or failed.',
    paymentStrings: ['offer'],
    body: z.object({
      offer: paymentStringInput.meta({ description: 'The BOLT 12 offer.' }),
      amount: positiveAmountInput.meta({
        description: "Amount in sats; not below the offer's minimum.",
      }),
      message: messageInput,
      personal_note: personalNoteInput.optional(),
      max_fee: maxFeeInput,
    }),
    response: paymentJson,
    answersAccepted: 'always',
    errors: [...PAY_ERRORS, 'unsupported'],
    example: {
      body: { offer: exampleOffer, amount: '1000', message: 'Thank you' },
      response: exampleOfferPayment,
    },
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
      'The answer is the pending payment, once its transaction is published. Six confirmations complete it. The same `client_payment_id` never sends twice.',
    paymentStrings: ['address'],
    body: onchainBody,
    response: paymentJson,
    answersAccepted: 'always',
    errors: ['overBudget', 'unsupported'],
    example: {
      body: { address: exampleAddress, amount: '50000' },
      response: exampleOnchainPayment,
    },
    handler: (context, { body }) =>
      answerPayment(context, async (send) =>
        payOnchain(send, {
          address: readAddress(body.address),
          amountMsat: body.amount ?? null,
          priority: body.priority ?? DEFAULT_PRIORITY,
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
    description: 'Waits until the payment is completed or failed.',
    paymentStrings: ['lnurl'],
    body: z.object({
      lnurl: paymentStringInput.meta({
        description: '`lnurl1...`, `lnurlp://...` or a Lightning Address.',
      }),
      amount: positiveAmountInput.meta({
        description: 'Amount in sats, within what the service accepts (see analyze).',
      }),
      message: messageInput,
      personal_note: personalNoteInput.optional(),
      max_fee: maxFeeInput,
    }),
    response: paymentJson,
    answersAccepted: 'always',
    errors: OUTSIDE_PAY_ERRORS,
    example: {
      body: { lnurl: exampleLnurl, amount: '1000', message: 'Thank you' },
      response: exampleLnurlPayment,
    },
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
