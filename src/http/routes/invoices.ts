import { z } from 'zod';
import { once } from '../../lib/once.ts';
import { amountInput, positiveAmountInput } from '../../model/amount.ts';
import { currencyInput, priceInput } from '../../model/prices/price.ts';
import { createdInvoiceJson } from '../../model/receive.ts';
import {
  hexInput,
  invoiceDescriptionInput,
  optionalAddition,
  timestamp,
} from '../../model/text.ts';
import { currentRate, PRICE_BINDS_SECS, pricedAmount } from '../../wallet/read/prices.ts';
import { createHoldInvoice, settleInvoice } from '../../wallet/receive/hold-invoice.ts';
import { createInvoice } from '../../wallet/receive/receive.ts';
import { atMost, given, implies, notAll, PRICE_OR_AMOUNT, withRules } from '../body-rules.ts';
import { exampleCreatedInvoice, examplePayment, indexInput } from '../examples.ts';
import { emptyJson, get, post } from '../route.ts';
import { ownWordsInput } from './send/pay-inputs.ts';

/** The default and the largest number of seconds until an invoice expires (docs/api.md, Limits). */
export const INVOICE_EXPIRATION_SECS = { default: 86_400, most: 604_800 };
/** The bounds of a partner's proportional fee, in parts per million (docs/api.md, Limits). */
const PARTNER_PROP_FEE_PPM = { least: 5_000, most: 500_000 };

const createInvoiceBody = once(() =>
  withRules(
    z.object({
      expiration_secs: z.int().min(1).max(INVOICE_EXPIRATION_SECS.most).optional().meta({
        description: 'Seconds until it expires; at most a week.',
        default: INVOICE_EXPIRATION_SECS.default,
      }),
      amount: positiveAmountInput()
        .optional()
        .describe('Amount in sats; without it the payer chooses.'),
      description: invoiceDescriptionInput().optional().describe('Shown to the payer.'),
      description_hash: optionalAddition(
        hexInput(32),
        'SHA-256 of a description that the payer gets elsewhere, in place of `description`.',
      ),
      payment_hash: optionalAddition(
        hexInput(32),
        'Makes a hold invoice for this hash: the payment is held until `settle_invoice` is given the preimage.',
      ),
      price: optionalAddition(
        priceInput(),
        'In place of `amount`; binds for 5 minutes, then the invoice expires.',
      ),
      ...ownWordsInput(),
      partner_pk: hexInput(32)
        .optional()
        .describe('user_pk of a partner that takes a fee; needs `partner_prop_fee`.'),
      partner_prop_fee: z
        .int()
        .min(PARTNER_PROP_FEE_PPM.least)
        .max(PARTNER_PROP_FEE_PPM.most)
        .optional()
        .describe("The partner's proportional fee in parts per million; needs `partner_pk`."),
      partner_base_fee: amountInput()
        .optional()
        .describe("The partner's base fee in sats; needs `amount` and `partner_pk`."),
    }),
    needs('partner_pk', 'partner_prop_fee', 'partner_pk'),
    needs('partner_prop_fee', 'partner_pk', 'a partner fee'),
    needs('partner_base_fee', 'partner_pk', 'a partner fee'),
    needs('partner_base_fee', 'amount', 'partner_base_fee'),
    [
      notAll(given('description'), given('description_hash')),
      'description_hash',
      'must be left out where description is given',
    ],
    PRICE_OR_AMOUNT,
    [
      implies(given('price'), atMost('expiration_secs', PRICE_BINDS_SECS)),
      'expiration_secs',
      `must be at most ${PRICE_BINDS_SECS} with price, which binds for that long`,
    ],
  ),
);

function needs(name: string, other: string, why: string) {
  return [implies(given(name), given(other)), other, `is required with ${why}`] as const;
}

/** Routes for BOLT 11 invoices of the wallet. */
export const invoiceRoutes = [
  post('/v2/node/create_invoice', 'receive', {
    isTool: true,
    access: 'create_invoice',
    specified: true,
    summary: 'Create a BOLT 11 invoice',
    body: createInvoiceBody,
    response: createdInvoiceJson,
    errors: ['unsupported', 'serviceFailed'],
    example: {
      body: { amount: '1000', description: 'Coffee' },
      response: exampleCreatedInvoice,
    },
    handler: async ({ session, parts, names }, { body }) => {
      const { description_hash: hash } = body;
      const priced =
        body.price && (await pricedAmount(session, parts.services.rates, body.price, names));
      const defaultSecs = priced ? PRICE_BINDS_SECS : INVOICE_EXPIRATION_SECS.default;
      const request = {
        expirationSecs: body.expiration_secs ?? defaultSecs,
        amountMsat: priced?.amountMsat ?? body.amount ?? null,
        price: priced?.price ?? null,
        description: body.description || null,
        descriptionHash: hash === undefined ? null : { hash, text: null },
        personalNote: body.personal_note ?? null,
        externalId: body.external_id ?? null,
        partnerPk: body.partner_pk ?? null,
        partnerPropFeePpm: body.partner_prop_fee ?? null,
        partnerBaseFeeMsat: body.partner_base_fee ?? null,
      };
      const { payment_hash: paymentHash = null } = body;
      return paymentHash === null
        ? createInvoice(session, request, names)
        : createHoldInvoice(session, { ...request, paymentHash }, names);
    },
  }),
  get('/v2/node/rate', 'receive', {
    // Who may name a price may know what it is worth.
    access: ['create_invoice', 'pay_invoice', 'pay_offer', 'pay_onchain'],
    summary: 'Read what one bitcoin costs',
    description: 'The median of the sources; without `--rate-source` error 110.',
    query: () => ({ currency: currencyInput() }),
    response: () => ({
      rate: z.string().describe('Decimal text.'),
      rate_at: timestamp().describe('When its oldest source was read, in milliseconds.'),
      rate_source: z.string().describe('Names of its sources.'),
    }),
    errors: ['unsupported', 'serviceFailed'],
    example: {
      query: { currency: 'EUR' },
      response: {
        rate: '58123.5',
        rate_at: 1764000000000,
        rate_source: 'kraken, coinbase, bitstamp',
      },
    },
    handler: async ({ session, parts }, { query: { currency } }) => {
      const { rate, rateAtMs, rateSource } = await currentRate(
        session,
        parts.services.rates,
        currency,
      );
      return { rate, rate_at: rateAtMs, rate_source: rateSource };
    },
  }),
  post('/v2/node/settle_invoice', 'receive', {
    access: 'create_invoice',
    summary: 'Settle a held invoice',
    description:
      'Completes the payment of an invoice that was created with `payment_hash`, once its status_msg is `held`. Settling it again does nothing.',
    body: () => ({
      index: indexInput(),
      preimage: hexInput(32).meta({
        description: 'The preimage, whose SHA-256 is the `payment_hash` of the invoice.',
        examples: [examplePayment.preimage],
      }),
    }),
    response: emptyJson,
    errors: ['notFound', 'unsupported'],
    example: {
      body: { index: exampleCreatedInvoice.index, preimage: examplePayment.preimage },
      response: {},
    },
    handler: async ({ session }, { body }) => {
      await settleInvoice(session, body.index, body.preimage);
      return {};
    },
  }),
];
