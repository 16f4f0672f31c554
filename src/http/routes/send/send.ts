import { z } from 'zod';
import { once } from '../../../lib/once.ts';
import { positiveAmountInput } from '../../../model/amount.ts';
import { rejected } from '../../../model/errors.ts';
import { paymentJson } from '../../../model/payment.ts';
import { priceInput } from '../../../model/prices/price.ts';
import { addition, noteInput } from '../../../model/text.ts';
import { payAny, permissionToPay } from '../../../wallet/pay/any.ts';
import { planInvoicePayment, readInvoice } from '../../../wallet/pay/invoice.ts';
import { lnurlPayRequest, payLnurl } from '../../../wallet/pay/lnurl.ts';
import { planOfferPayment, readOffer } from '../../../wallet/pay/offer.ts';
import { sendAndWait } from '../../../wallet/pay/send.ts';
import { amountToPay } from '../../../wallet/read/prices.ts';
import { offerPrice } from '../../../wallet/strings/offer-price.ts';
import { answerPayment } from '../../answer-payment.ts';
import { NOT_BESIDE_AMOUNT, PRICE_OR_AMOUNT, withRules } from '../../body-rules.ts';
import {
  exampleInvoice,
  exampleLnurl,
  exampleLnurlPayment,
  exampleOffer,
  exampleOfferPayment,
  examplePayment,
} from '../../examples.ts';
import { agree, agreedPaymentString } from '../../input-comparison.ts';
import { paymentStringInput, sameAsInBody } from '../../query.ts';
import { post } from '../../route.ts';
import {
  agreedNotes,
  maxFeeInput,
  noteQuery,
  notesQuery,
  OUTSIDE_PAY_ERRORS,
  PAY_ERRORS,
  PAYS,
  PAYS_WITH_NOTES,
  sendWordsInput,
  termsInput,
} from './pay-inputs.ts';

const payBody = once(() =>
  withRules(
    z.object({
      payable: paymentStringInput()
        .optional()
        .describe(
          'Payment string: invoice, offer, address, BIP 321 URI, LNURL or name. Required here or in the query.',
        ),
      amount: positiveAmountInput()
        .optional()
        .describe(
          'Amount in sats; required if the payable has none, otherwise equal to that amount.',
        ),
      price: priceInput().optional().meta(addition('In place of `amount`.')),
      ...termsInput(),
    }),
    PRICE_OR_AMOUNT,
  ),
);

/** Routes for paying. */
export const sendRoutes = [
  post('/v2/node/pay', 'send', {
    isTool: true,
    access: ['pay_invoice', 'pay_offer', 'pay_onchain'],
    specified: true,
    summary: 'Pay any payment string',
    description:
      'Pays by the most recommended method, and needs its permission. It answers when the payment is completed or failed, on chain while it is pending. `payable`, `amount`, `message` and `personal_note` may be given in the body or the query.',
    paymentStrings: ['payable'],
    body: payBody,
    neededInBodyOrQuery: ['payable'],
    query: () => ({
      payable: sameAsInBody(paymentStringInput()),
      amount: sameAsInBody(positiveAmountInput()),
      ...notesQuery(),
    }),
    ...PAYS,
    permissionOf: (answer) => permissionToPay(paymentJson().parse(answer).rail),
    errors: [...OUTSIDE_PAY_ERRORS, 'unsupported'],
    example: { body: { payable: exampleInvoice }, response: examplePayment },
    handler: async (context, { body, query }) => {
      const payable = agreedPaymentString('payable', body.payable, query.payable);
      if (payable === undefined) throw rejected('payable', 'is required, in the body or the query');
      const amountMsat = agree('amount', body.amount, query.amount) ?? null;
      if (body.price && amountMsat !== null) throw rejected('price', NOT_BESIDE_AMOUNT);
      const { services, fees } = context.parts;
      const priced = body.price && (await amountToPay(context.session, services.rates, body.price));
      const request = {
        payable,
        amountMsat,
        maxFeeMsat: body.max_fee ?? null,
        ...agreedNotes(body, query),
        ...priced,
      };
      return answerPayment(context, (send) => payAny(send, request, services, fees));
    },
  }),
  post('/v2/node/pay_invoice', 'send', {
    access: 'pay_invoice',
    specified: true,
    summary: 'Pay a BOLT 11 invoice',
    description:
      'Waits until the payment is completed or failed. Paying an invoice again answers with its first payment while that is pending or completed.',
    paymentStrings: ['invoice'],
    body: () => ({
      invoice: paymentStringInput().describe('The BOLT 11 invoice.'),
      fallback_amount: positiveAmountInput()
        .optional()
        .describe('Amount in sats; required for an invoice without one.'),
      ...sendWordsInput(),
      note: noteInput().optional().describe('Older name of `personal_note`.'),
      max_fee: maxFeeInput(),
    }),
    ...PAYS,
    query: noteQuery,
    queryIsNew: true,
    errors: PAY_ERRORS,
    example: { body: { invoice: exampleInvoice }, response: examplePayment },
    handler: (context, { body, query }) => {
      const { personal_note, note } = body;
      const inBody = agree('note', personal_note, note, 'personal_note and note');
      const terms = {
        amountMsat: body.fallback_amount ?? null,
        maxFeeMsat: body.max_fee ?? null,
        ...agreedNotes({ ...body, personal_note: inBody }, query),
      };
      const { session, parts } = context;
      return answerPayment(context, async (send) => {
        const request = { ...terms, invoice: readInvoice(body.invoice) };
        return sendAndWait(send, planInvoicePayment(request, session, parts.fees));
      });
    },
  }),
  post('/v2/node/pay_offer', 'send', {
    access: 'pay_offer',
    specified: true,
    summary: 'Pay a BOLT 12 offer',
    description: 'Waits until the payment is completed or failed.',
    paymentStrings: ['offer'],
    body: () => ({
      offer: paymentStringInput().describe('The BOLT 12 offer.'),
      amount: positiveAmountInput().describe("Amount in sats; not below the offer's minimum."),
      ...termsInput(),
    }),
    ...PAYS_WITH_NOTES,
    errors: [...PAY_ERRORS, 'unsupported'],
    example: {
      body: { offer: exampleOffer, amount: '1000', message: 'Thank you' },
      response: exampleOfferPayment,
    },
    handler: (context, { body, query }) =>
      answerPayment(context, async (send) => {
        const { session, parts, names } = context;
        const offer = readOffer(body.offer, session);
        await offerPrice(offer, parts.services.rates);
        const request = {
          offer,
          amountMsat: body.amount,
          maxFeeMsat: body.max_fee ?? null,
          ...agreedNotes(body, query),
          viaName: null,
          signal: send.signal,
        };
        return sendAndWait(send, planOfferPayment(request, session, parts.fees, names));
      }),
  }),
  post('/v2/node/pay_lnurl', 'send', {
    access: 'pay_invoice',
    specified: true,
    summary: 'Pay an LNURL-pay service or Lightning Address',
    description: 'Waits until the payment is completed or failed.',
    paymentStrings: ['lnurl'],
    body: () => ({
      lnurl: paymentStringInput().describe('`lnurl1...`, `lnurlp://...` or a Lightning Address.'),
      amount: positiveAmountInput().describe(
        'Amount in sats, within what the service accepts (see analyze).',
      ),
      ...termsInput(),
    }),
    ...PAYS_WITH_NOTES,
    errors: OUTSIDE_PAY_ERRORS,
    example: {
      body: { lnurl: exampleLnurl, amount: '1000', message: 'Thank you' },
      response: exampleLnurlPayment,
    },
    handler: (context, { body, query }) => {
      const { services, fees } = context.parts;
      return answerPayment(context, async (send) => {
        const notes = agreedNotes(body, query);
        const request = {
          request: await lnurlPayRequest(body.lnurl, services, context.signal),
          amountMsat: body.amount,
          maxFeeMsat: body.max_fee ?? null,
          ...notes,
        };
        return payLnurl(send, request, services, fees);
      });
    },
  }),
];
