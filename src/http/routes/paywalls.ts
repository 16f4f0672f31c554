import { createHash } from 'node:crypto';
import { z } from 'zod';
import { once } from '../../lib/once.ts';
import { positiveAmountInput } from '../../model/amount.ts';
import {
  addition,
  hexInput,
  hexOutput,
  invoiceDescriptionInput,
  optionalAddition,
} from '../../model/text.ts';
import { createPaywall, type ForRequest, verifyPaywall } from '../../wallet/receive/paywall.ts';
import { exampleCreatedInvoice, examplePayment } from '../examples.ts';
import { post } from '../route.ts';
import { INVOICE_EXPIRATION_SECS } from './invoices.ts';

/** Agents that pay wait for an approval for an hour. */
const DEFAULT_EXPIRATION_SECS = 3600;
const MOST_URL_CHARACTERS = 2048;
const NO_BODY_HASH = createHash('sha256').digest('hex');
const URL_RULE =
  'must be an absolute http or https URL in ASCII, without a user and a fragment, as the buyer requests it';

/** The request that is sold, in a request. It has a name of its own in the OpenAPI document (docs/decisions.md 167). */
const soldRequestInput = once(() =>
  z
    .object({
      method: z
        .string()
        .regex(/^[A-Z][A-Z-]{0,19}$/)
        .default('GET')
        .describe('Its method.'),
      url: z
        .string()
        .max(MOST_URL_CHARACTERS)
        .refine(isTargetUrl, URL_RULE)
        .describe('Its whole URL.'),
      body_hash: hexInput(32).optional().describe('SHA-256 of its body; without it of none.'),
    })
    .meta({ id: 'SoldRequest', description: 'The request for a resource that is sold.' }),
);

/** For which request a paywall is created or verified. */
const forRequest = () => ({
  request_hash: hexInput(32)
    .optional()
    .describe('Its hash (x402, `http:1`), in place of `request`.'),
  request: optionalAddition(soldRequestInput(), 'The request that is sold, and no other.'),
});

const linesOutput = () => z.array(z.string());

/** Routes for web services that sell their resources. */
export const paywallRoutes = [
  post('/v2/node/create_paywall', 'receive', {
    access: 'create_invoice',
    specified: true,
    summary: 'Ask for payment of a web resource',
    description:
      'Makes an invoice, and the header lines that ask for its payment with the status 402, in three ways: send one, or all.',
    body: () => ({
      amount: positiveAmountInput().describe('Price in sats.'),
      description: invoiceDescriptionInput().describe('What is sold.'),
      ...forRequest(),
      expiration_secs: z.int().min(1).max(INVOICE_EXPIRATION_SECS.most).optional().meta({
        description: 'Seconds until the invoice expires.',
        default: DEFAULT_EXPIRATION_SECS,
      }),
    }),
    response: () => ({
      index: z.string().describe('Index of its payment.'),
      invoice: z.string().describe('The BOLT 11 invoice.'),
      challenges: z
        .object({
          l402: linesOutput().nullable().describe('For L402.'),
          payment: linesOutput().nullable().describe('For Payment; null for parts of a satoshi.'),
          x402: linesOutput().nullable().describe('For x402; null without `request`.'),
        })
        .describe('Header lines for each way.'),
    }),
    errors: ['unsupported'],
    example: {
      body: {
        amount: '25',
        description: 'Report',
        request: { url: 'https://shop.example/report' },
      },
      response: {
        index: exampleCreatedInvoice.index,
        invoice: exampleCreatedInvoice.invoice,
        challenges: {
          l402: [`WWW-Authenticate: L402 macaroon="AgJC...", invoice="lnbc250n1..."`],
          payment: [
            `WWW-Authenticate: Payment id="9f2c...", realm="shop.example"`,
            'Cache-Control: no-store',
          ],
          x402: ['PAYMENT-REQUIRED: eyJhY2NlcHRzIjpb...'],
        },
      },
    },
    handler: async ({ session, names }, { body }) => {
      const order = {
        amountMsat: body.amount,
        description: body.description,
        expirationSecs: body.expiration_secs ?? DEFAULT_EXPIRATION_SECS,
        ...readForRequest(body),
      };
      const { index, invoice, challenges } = await createPaywall(session, order, names);
      const { l402, payment, x402 } = challenges;
      const lines = (some: readonly string[] | null) => some && [...some];
      return {
        index,
        invoice,
        challenges: { l402: lines(l402), payment: lines(payment), x402: lines(x402) },
      };
    },
  }),
  post('/v2/node/verify_paywall', 'receive', {
    access: 'create_invoice',
    specified: true,
    summary: 'Check the payment for a web resource, once',
    description:
      'Says whether a request to a web service proves the payment of a paywall of the same credentials: once, and to a repeat with the same Idempotency-Key again.',
    body: () => ({
      headers: z
        .record(z.string(), z.union([z.string(), z.array(z.string())]))
        .describe('Headers of the request, as they came.'),
      ...forRequest(),
    }),
    response: () => ({
      valid: z.boolean().describe('Whether to give the resource.'),
      index: z.string().nullable().describe('Index of the payment.'),
      payment_hash: hexOutput(32).nullable().describe('Its hash.'),
      receipt: linesOutput().meta(addition('Header lines to send with the resource.')),
    }),
    example: {
      body: {
        headers: { authorization: 'L402 AgJC...:0001...' },
        request: { url: 'https://shop.example/report' },
      },
      response: {
        valid: true,
        index: exampleCreatedInvoice.index,
        payment_hash: examplePayment.hash,
        receipt: [],
      },
    },
    handler: async ({ session, names }, { body }) => {
      const proven = await verifyPaywall(session, body.headers, readForRequest(body), names);
      return {
        valid: proven !== null,
        index: proven?.index ?? null,
        payment_hash: proven?.paymentHash ?? null,
        receipt: [...(proven?.receipt ?? [])],
      };
    },
  }),
];

function readForRequest(body: z.output<z.ZodObject<ReturnType<typeof forRequest>>>): ForRequest {
  const { request, request_hash: requestHash } = body;
  const read = request && {
    method: request.method,
    url: request.url,
    bodyHash: request.body_hash ?? NO_BODY_HASH,
  };
  return { request: read ?? null, requestHash: requestHash ?? null };
}

function isTargetUrl(text: string): boolean {
  const url = /^https?:\/\/[!-~]+$/.test(text) ? URL.parse(text) : null;
  return url !== null && !text.includes('#') && url.username === '' && url.password === '';
}
