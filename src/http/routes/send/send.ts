import { z } from 'zod';
import { once } from '../../../lib/once.ts';
import { positiveAmountInput } from '../../../model/amount.ts';
import { rejected } from '../../../model/errors.ts';
import { paymentJson } from '../../../model/payment.ts';
import { noteInput } from '../../../model/text.ts';
import { payAny, permissionToPay } from '../../../wallet/pay/any.ts';
import { planInvoicePayment, readInvoice } from '../../../wallet/pay/invoice.ts';
import { lnurlPayRequest, payLnurl } from '../../../wallet/pay/lnurl.ts';
import { planOfferPayment, readOffer } from '../../../wallet/pay/offer.ts';
import { sendAndWait } from '../../../wallet/pay/send.ts';
import { isSamePrice, offerPrice } from '../../../wallet/strings/offer-price.ts';
import { answerPayment } from '../../answer-payment.ts';
import {
  AMOUNT_OR_PRICE,
  given,
  NOT_BESIDE_AMOUNT,
  notAll,
  PRICE_OR_AMOUNT,
  withRules,
} from '../../body-rules.ts';
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
  amountGiven,
  maxFeeInput,
  noteQuery,
  notesQuery,
  PAY_ERRORS,
  PAYS,
  PAYS_WITH_NOTES,
  priceToPayInput,
  requireAmountGiven,
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
      price: priceToPayInput(),
      ...termsInput(),
    }),
    PRICE_OR_AMOUNT,
  ),
);

const invoiceBody = once(() =>
  withRules(
    z.object({
      invoice: paymentStringInput().describe('The BOLT 11 invoice.'),
      fallback_amount: positiveAmountInput()
        .optional()
        .describe('Amount in sats; required for an invoice without one.'),
      price: priceToPayInput('fallback_amount'),
      ...sendWordsInput(),
      note: noteInput().optional().describe('Older name of `personal_note`.'),
      max_fee: maxFeeInput(),
    }),
    [
      notAll(given('fallback_amount'), given('price')),
      'price',
      'must be left out where fallback_amount is given',
    ],
  ),
);

const offerBody = once(() =>
  withRules(
    z.object({
      offer: paymentStringInput().describe('The BOLT 12 offer.'),
      amount: positiveAmountInput()
        .optional()
        .describe("Amount in sats; not below the offer's minimum."),
      price: priceToPayInput(),
      ...termsInput(),
    }),
    PRICE_OR_AMOUNT,
    AMOUNT_OR_PRICE,
  ),
);

const lnurlBody = once(() =>
  withRules(
    z.object({
      lnurl: paymentStringInput().describe('`lnurl1...`, `lnurlp://...` or a Lightning Address.'),
      amount: positiveAmountInput()
        .optional()
        .describe('Amount in sats, within what the service accepts (see analyze).'),
      price: priceToPayInput(),
      ...termsInput(),
    }),
    PRICE_OR_AMOUNT,
    AMOUNT_OR_PRICE,
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
    errors: PAY_ERRORS,
    example: { body: { payable: exampleInvoice }, response: examplePayment },
    handler: async (context, { body, query }) => {
      const payable = agreedPaymentString('payable', body.payable, query.payable);
      if (payable === undefined) throw rejected('payable', 'is required, in the body or the query');
      const amountMsat = agree('amount', body.amount, query.amount);
      if (body.price && amountMsat !== undefined) throw rejected('price', NOT_BESIDE_AMOUNT);
      const { services, fees } = context.parts;
      const request = {
        payable,
        maxFeeMsat: body.max_fee ?? null,
        ...agreedNotes(body, query),
        ...(await amountGiven(context, { price: body.price, amount: amountMsat })),
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
    body: invoiceBody,
    ...PAYS,
    query: noteQuery,
    queryIsNew: true,
    errors: PAY_ERRORS,
    example: { body: { invoice: exampleInvoice }, response: examplePayment },
    handler: (context, { body, query }) => {
      const { personal_note, note } = body;
      const inBody = agree('note', personal_note, note, 'personal_note and note');
      const terms = {
        maxFeeMsat: body.max_fee ?? null,
        ...agreedNotes({ ...body, personal_note: inBody }, query),
      };
      const { session, parts } = context;
      return answerPayment(context, async (send) => {
        const invoice = readInvoice(body.invoice);
        const amount = await amountGiven(context, { ...body, amount: body.fallback_amount });
        const request = { ...terms, ...amount, invoice };
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
    body: offerBody,
    ...PAYS_WITH_NOTES,
    errors: PAY_ERRORS,
    example: {
      body: { offer: exampleOffer, amount: '1000', message: 'Thank you' },
      response: exampleOfferPayment,
    },
    handler: (context, { body, query }) =>
      answerPayment(context, async (send) => {
        const { session, parts, names } = context;
        const offer = readOffer(body.offer, session);
        const asked = await offerPrice(offer, parts.services.rates);
        const amount = await requireAmountGiven(context, body);
        // Its issuer counts its own price, at a rate of its own (docs/decisions.md 201).
        const ofPrice = asked && isSamePrice(amount.price, asked.price) ? asked : null;
        const request = {
          offer,
          maxFeeMsat: body.max_fee ?? null,
          ...agreedNotes(body, query),
          ...(ofPrice ?? amount),
          ofPrice: ofPrice?.price,
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
    body: lnurlBody,
    ...PAYS_WITH_NOTES,
    errors: PAY_ERRORS,
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
          ...(await requireAmountGiven(context, body)),
          maxFeeMsat: body.max_fee ?? null,
          ...notes,
        };
        return payLnurl(send, request, services, fees);
      });
    },
  }),
];
