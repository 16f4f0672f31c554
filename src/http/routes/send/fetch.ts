import { z } from 'zod';
import { once } from '../../../lib/once.ts';
import { positiveAmountInput } from '../../../model/amount.ts';
import { rejected } from '../../../model/errors.ts';
import { encodePayment, paymentJson } from '../../../model/payment.ts';
import { NOTE_MAX_CHARACTERS } from '../../../model/text.ts';
import { fetchPaid, type PaidAnswer } from '../../../wallet/pay/fetch.ts';
import { examplePayment } from '../../examples.ts';
import { post } from '../../route.ts';
import { ownWordsInput } from './pay-inputs.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
/** It has a name of its own in the OpenAPI document (docs/decisions.md 167). */
const fetchMethod = once(() =>
  z
    .enum(METHODS)
    .meta({ id: 'FetchMethod', description: 'The method of a request for a resource.' }),
);
const MOST_URL_CHARACTERS = 8192;
const MOST_HEADERS = 50;

/**
 * Headers of every request. A sidecar refuses what comes from somewhere else (docs/decisions.md 70), as other programs
 * of this machine may: without --require-auth the agent would be the owner there.
 */
const ALWAYS_SENT = { 'accept-encoding': 'identity', 'sec-fetch-site': 'cross-site' };

/** Headers that belong to the connection, or to the proof of payment. */
const NOT_FOR_CALLERS = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'payment-signature',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** The route that pays for web resources. */
export const fetchRoutes = [
  post('/v2/node/fetch', 'send', {
    isTool: true,
    access: 'pay_invoice',
    summary: 'Get a web resource, and pay for it if it asks for payment',
    description:
      'A 402 is paid once by its invoice (L402, Payment with Lightning, x402 with Lightning), and the request is made again with the proof. An Idempotency-Key is required: a repeat with it never pays again, and gets the resource if it was paid. Redirects are not followed. Where `data.sent` is `yes`, the payment was made and the resource not given.',
    body: () => ({
      url: z
        .string()
        .max(MOST_URL_CHARACTERS)
        .describe('An https URL.')
        .meta({ examples: ['https://api.example/report'] }),
      method: fetchMethod().default('GET').describe('The method of the request.'),
      headers: z
        .record(z.string(), z.string())
        .optional()
        .describe('Headers of the request. It has none of the caller otherwise.'),
      body: z.string().optional().describe('The body of the request, as text.'),
      max_cost: positiveAmountInput().describe(
        'The most that may be paid in sats, routing fees included.',
      ),
      ...ownWordsInput(),
    }),
    response: () => ({
      status: z.int().describe('The status of the answer.'),
      headers: z.record(z.string(), z.string()).describe('Its headers, names in lower case.'),
      body: z.string().describe('Its body, at most 256 KiB.'),
      body_encoding: z.enum(['text', 'base64']).describe('How `body` is written.'),
      payment: paymentJson().nullable().describe('The payment for it; null where none was made.'),
    }),
    movesMoney: true,
    needsKey: true,
    endsWait: true,
    errors: ['overBudget', 'timeout', 'serviceFailed'],
    example: {
      body: { url: 'https://api.example/report', max_cost: '100' },
      response: {
        status: 200,
        headers: { 'content-type': 'text/plain' },
        body: 'The report.',
        body_encoding: 'text',
        payment: examplePayment,
      },
    },
    handler: async (context, { body }) => {
      const { session, signal, idempotencyKey, names, parts } = context;
      const url = readUrl(body.url);
      const request = {
        method: body.method,
        url,
        headers: { accept: '*/*', ...readHeaders(body.headers ?? {}), ...ALWAYS_SENT },
        body: Buffer.from(body.body ?? ''),
        maxCostMsat: body.max_cost,
        personalNote: body.personal_note ?? noteOf(url),
        externalId: body.external_id ?? null,
      };
      const sending = { onSent: () => undefined, goesOn: () => true };
      const outcome = await fetchPaid(
        { session, signal, idempotencyKey, names, ...sending },
        request,
        parts.services.requestResource,
        parts.fees,
      );
      return shown(outcome);
    },
  }),
];

/**
 * Returns what a payment is for whose caller does not say it, so that who approves it and who keeps books sees it. A
 * query may hold secrets.
 */
function noteOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`.slice(0, NOTE_MAX_CHARACTERS);
}

function readUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null) throw rejected('url', 'must be an https URL');
  url.hash = '';
  return url.href;
}

function readHeaders(given: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(given).map(
    ([name, value]) => [name.toLowerCase(), value] as const,
  );
  if (entries.length > MOST_HEADERS) {
    throw rejected('headers', `must be at most ${MOST_HEADERS}`);
  }
  for (const [name, value] of entries) {
    if (NOT_FOR_CALLERS.has(name) || name.startsWith('sec-'))
      throw rejected('headers', `${name} is not for the caller to set`);
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name) || !/^[\t -~]*$/.test(value)) {
      throw rejected('headers', 'names and values must be printable ASCII characters');
    }
  }
  return Object.fromEntries(entries);
}

function shown({ status, headers, body, payment }: PaidAnswer) {
  const text = textOf(body);
  return {
    status,
    headers: Object.fromEntries(headers),
    body: text ?? body.toString('base64'),
    body_encoding: text === null ? ('base64' as const) : ('text' as const),
    payment: payment && encodePayment(payment),
  };
}

function textOf(body: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return null;
  }
}
