import { z } from 'zod';
import { amountInputFrom, positiveAmountInput } from '../../model/amount.ts';
import { rejected } from '../../model/errors.ts';
import { encodePayment, paymentJson } from '../../model/payment.ts';
import { addressTypeField } from '../../model/receive.ts';
import { externalIdInput, invoiceDescriptionInput, noteInput } from '../../model/text.ts';
import {
  createInvoice,
  createOffer,
  NO_PARTNER,
  nextUnusedAddress,
} from '../../wallet/receive/receive.ts';
import { withdrawLnurl } from '../../wallet/receive/withdraw.ts';
import {
  exampleAddress,
  exampleLnurlWithdraw,
  exampleOffer,
  examplePurchase,
  exampleWithdrawal,
} from '../examples.ts';
import { agree, agreedPaymentString } from '../input-comparison.ts';
import { paymentStringInput, sameAsInBody } from '../query.ts';
import { post } from '../route.ts';
import { agreedNotes, noteQuery, ownWordsInput } from './send/pay-inputs.ts';

/** The type of a new address when the request names none: every payer can pay it. */
const DEFAULT_ADDRESS_TYPE = 'segwit';

/** The smallest amount of a purchase (docs/api.md, Limits). */
const LEAST_PURCHASE_SATS = 5000;
/** How many seconds the invoice of a purchase can be paid (docs/decisions.md 32). */
const PURCHASE_EXPIRATION_SECS = 7200;

/** Routes for receiving money. */
export const receiveRoutes = [
  post('/v2/node/create_offer', 'receive', {
    isTool: true,
    access: 'create_offer',
    specified: true,
    summary: 'Create a BOLT 12 offer',
    description: 'An offer is reusable: many payers can pay it many times.',
    body: () => ({
      description: noteInput().optional().describe('Shown to the payer.'),
      min_amount: positiveAmountInput()
        .optional()
        .describe('Smallest amount in sats; without it any amount is accepted.'),
      expiration_secs: z
        .int()
        .min(1)
        .max(10_000_000_000)
        .optional()
        .describe('Seconds until it expires; without it never.'),
      external_id: externalIdInput().optional(),
    }),
    response: () => ({ offer: z.string().describe('The BOLT 12 offer.') }),
    errors: ['unsupported'],
    example: { body: { description: 'Donations' }, response: { offer: exampleOffer } },
    handler: async ({ session }, { body }) => ({
      offer: await createOffer(session, {
        description: body.description ?? null,
        minAmountMsat: body.min_amount ?? null,
        expirationSecs: body.expiration_secs ?? null,
        externalId: body.external_id ?? null,
      }),
    }),
  }),
  post('/v2/node/get_next_unused_address', 'receive', {
    access: 'get_next_unused_address',
    ofWallet: true,
    specified: true,
    summary: 'Get an on-chain receive address',
    description:
      'The answer is the same address of a type until a payment to it is seen, so other callers may have received it too.',
    body: () => ({
      type: addressTypeField().optional().meta({
        description: 'Kind of the address: `segwit` (P2WPKH) or `taproot` (P2TR).',
        addition: true,
        default: DEFAULT_ADDRESS_TYPE,
      }),
    }),
    response: () => ({
      address: z.string().describe('An address without payments.'),
    }),
    errors: ['unsupported'],
    example: {
      body: {},
      response: { address: exampleAddress },
    },
    handler: async ({ session }, { body }) => ({
      address: await nextUnusedAddress(session, body.type ?? DEFAULT_ADDRESS_TYPE),
    }),
  }),
  post('/v2/node/withdraw_lnurl', 'receive', {
    access: 'create_invoice',
    specified: true,
    summary: 'Withdraw from an LNURL-withdraw service',
    description:
      'Waits until the money has arrived. `lnurl`, `amount`, `description` and `personal_note` may be given in the body or the query.',
    paymentStrings: ['lnurl'],
    body: () => ({
      lnurl: paymentStringInput()
        .optional()
        .describe('`lnurl1...` or `lnurlw://...`. Required here or in the query.'),
      amount: positiveAmountInput()
        .optional()
        .describe('Amount in sats; without it the most that the service allows.'),
      description: invoiceDescriptionInput()
        .optional()
        .describe('Description for the service; else the one that it suggests.'),
      ...ownWordsInput(),
    }),
    neededInBodyOrQuery: ['lnurl'],
    query: () => ({
      lnurl: sameAsInBody(paymentStringInput()),
      amount: sameAsInBody(positiveAmountInput()),
      description: sameAsInBody(invoiceDescriptionInput()),
      ...noteQuery(),
    }),
    response: paymentJson,
    movesMoney: true,
    answersAccepted: 'repeats',
    errors: ['serviceFailed', 'timeout'],
    example: {
      body: { lnurl: exampleLnurlWithdraw },
      response: exampleWithdrawal,
    },
    handler: async ({ session, parts, signal, names }, { body, query }) => {
      const lnurl = agreedPaymentString('lnurl', body.lnurl, query.lnurl);
      if (lnurl === undefined) throw rejected('lnurl', 'is required, in the body or the query');
      const request = {
        lnurl,
        amountMsat: agree('amount', body.amount, query.amount) ?? null,
        description: agree('description', body.description, query.description) || null,
        ...agreedNotes(body, query),
      };
      const effects = { names, signal };
      return encodePayment(await withdrawLnurl(session, request, parts.services, effects));
    },
  }),
  post('/v2/node/buy_with_payment_app', 'receive', {
    access: 'create_invoice',
    specified: true,
    summary: 'Buy Bitcoin through a payment app',
    description:
      'Send the user to `redirect_url` to complete the purchase within two hours; `index` is the inbound payment of the purchase.',
    body: () => ({
      amount: amountInputFrom(LEAST_PURCHASE_SATS).describe('Amount in sats.'),
      external_id: externalIdInput().optional(),
    }),
    response: () => ({
      redirect_url: z.string().describe("The payment app's link for this purchase."),
      index: z.string().describe('Index of the inbound payment.'),
    }),
    example: {
      body: { amount: '5000' },
      response: examplePurchase,
    },
    handler: async ({ session, parts, names }, { body }) => {
      const request = {
        expirationSecs: PURCHASE_EXPIRATION_SECS,
        amountMsat: body.amount,
        description: 'Purchase of bitcoin',
        descriptionHash: null,
        personalNote: null,
        externalId: body.external_id ?? null,
        ...NO_PARTNER,
      };
      const { index, invoice } = await createInvoice(session, request, names);
      return { redirect_url: parts.buyLink(invoice), index };
    },
  }),
];
