import { z } from 'zod';
import { once } from '../../../lib/once.ts';
import { positiveAmountInput } from '../../../model/amount.ts';
import { priceInput } from '../../../model/prices/price.ts';
import { hexInput, hexOutput, noteInput } from '../../../model/text.ts';
import { given, implies, withRules } from '../../body-rules.ts';
import {
  exampleLnurl,
  exampleLnurlUrl,
  exampleOffer,
  exampleOutsideInvoice,
} from '../../examples.ts';
import { emptyJson, post } from '../../route.ts';
import { BEHAVIORS } from '../../sandbox-controls.ts';
import { sandboxControls } from './sandbox.ts';

const DEFAULT_BEHAVIOR = 'settle';
const behaviorInput = once(() =>
  z
    .enum(BEHAVIORS)
    .meta({ id: 'OutsideBehavior', description: 'How an outside node meets payments.' })
    .optional()
    .meta({ description: 'What the outside node does with a payment.', default: DEFAULT_BEHAVIOR }),
);

const OUTSIDE_EXPIRATION_SECS = 86_400;

/** Routes that make the outside world's invoices, offers and LNURL services. */
export const sandboxServiceRoutes = [
  post('/sandbox/invoice', 'sandbox', {
    access: 'sandbox',
    summary: 'Create an invoice of an outside node',
    body: () => ({
      amount: positiveAmountInput()
        .optional()
        .describe('Amount in sats; without it the payer chooses.'),
      description: noteInput().optional().describe('Shown to the payer.'),
      expiration_secs: z.int().min(1).max(31_536_000).optional().meta({
        description: 'Seconds until it expires.',
        default: OUTSIDE_EXPIRATION_SECS,
      }),
      behavior: behaviorInput(),
    }),
    response: () => ({
      invoice: z.string().describe('The BOLT 11 invoice.'),
      payment_hash: hexOutput(32).describe('Hash of the payment.'),
    }),
    example: {
      body: { amount: '1000', behavior: 'settle' },
      response: exampleOutsideInvoice,
    },
    handler: async (context, { body }) => {
      const { invoice, paymentHash } = await sandboxControls(context.parts).createInvoice({
        amountMsat: body.amount ?? null,
        description: body.description ?? null,
        expirationSecs: body.expiration_secs ?? OUTSIDE_EXPIRATION_SECS,
        behavior: body.behavior ?? DEFAULT_BEHAVIOR,
      });
      return { invoice, payment_hash: paymentHash };
    },
  }),
  post('/sandbox/offer', 'sandbox', {
    access: 'sandbox',
    summary: 'Create an offer of an outside node',
    body: () =>
      withRules(
        z.object({
          min_amount: positiveAmountInput()
            .optional()
            .describe('Smallest amount in sats; without it any amount is accepted.'),
          description: noteInput().optional().describe('Shown to the payer.'),
          price: priceInput()
            .optional()
            .describe('Its price, for which its issuer asks `min_amount`.'),
          behavior: behaviorInput(),
        }),
        [implies(given('price'), given('min_amount')), 'min_amount', 'is required with price'],
      ),
    response: () => ({ offer: z.string().describe('The BOLT 12 offer.') }),
    example: { body: { description: 'Donations' }, response: { offer: exampleOffer } },
    handler: (context, { body }) =>
      sandboxControls(context.parts).createOffer({
        minAmountMsat: body.min_amount ?? null,
        description: body.description ?? null,
        price: body.price,
        behavior: body.behavior ?? DEFAULT_BEHAVIOR,
      }),
  }),
  post('/sandbox/holds', 'sandbox', {
    access: 'sandbox',
    summary: 'Decide a held payment',
    body: () => ({
      payment_hash: hexInput(32).describe('Hash of the held payment.'),
      settle: z.boolean().describe('Whether the payment succeeds.'),
    }),
    response: emptyJson,
    errors: ['notFound'],
    example: {
      body: { payment_hash: exampleOutsideInvoice.payment_hash, settle: true },
      response: {},
    },
    handler: async (context, { body }) => {
      await sandboxControls(context.parts).decideHold({
        paymentHash: body.payment_hash,
        settle: body.settle,
      });
      return {};
    },
  }),
  post('/sandbox/lnurl', 'sandbox', {
    access: 'sandbox',
    summary: 'Create an LNURL service of the outside world, served by this sidecar',
    body: () =>
      z
        .object({
          tag: z
            .enum(['payRequest', 'withdrawRequest'])
            .describe('Whether the service takes payments or gives withdrawals.'),
          min_amount: positiveAmountInput().describe('Smallest amount in sats.'),
          max_amount: positiveAmountInput().describe(
            'Largest amount in sats; not below `min_amount`.',
          ),
          comment_length: z
            .int()
            .min(0)
            .max(2000)
            .optional()
            .meta({ description: 'The largest number of characters of a comment.', default: 0 }),
          description: noteInput().optional().describe('Shown to the payer.'),
        })
        .refine((body) => body.min_amount <= body.max_amount, {
          path: ['max_amount'],
          message: 'must not be below min_amount',
        }),
    response: () => ({
      lnurl: z.string().describe('The LNURL.'),
      url: z.string().describe('The URL that it stands for.'),
    }),
    example: {
      body: { tag: 'payRequest', min_amount: '1', max_amount: '1000000', comment_length: 100 },
      response: { lnurl: exampleLnurl, url: exampleLnurlUrl },
    },
    handler: (context, { body }) =>
      sandboxControls(context.parts).createLnurl({
        tag: body.tag,
        minMsat: body.min_amount,
        maxMsat: body.max_amount,
        commentLength: body.comment_length ?? 0,
        description: body.description ?? null,
      }),
  }),
];
