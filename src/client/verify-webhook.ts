import type {
  ClientBudgetLow,
  PaymentApprovalRequested,
  PaymentFinalized,
  PaymentHeld,
  WebhookTest,
} from './generated/types.ts';

/** The body of a webhook. */
type WebhookBody =
  | PaymentFinalized
  | PaymentHeld
  | PaymentApprovalRequested
  | ClientBudgetLow
  | WebhookTest;

/** Options of {@link verifyWebhook}. */
export interface VerifyOptions {
  /** How far the webhook's time may differ from now, in seconds. Default: 300. */
  readonly toleranceSecs?: number | undefined;
  /** The present time in milliseconds since the UNIX epoch. Default: the clock. */
  readonly nowMs?: number | undefined;
}

/** Headers in the forms of `fetch`, Node's `http` and most frameworks. */
export type WebhookHeaders =
  | Headers
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * What is wrong with a webhook, in the order of the checks:
 * - `header`: a header is missing.
 * - `timestamp`: its time is not a number of seconds.
 * - `signature`: no signature matches.
 * - `age`: the signature matches, but it was not made now. The webhook may be a replay.
 * - `body`: the signature matches, but the body is not JSON.
 */
export type VerificationProblem = 'header' | 'timestamp' | 'signature' | 'age' | 'body';

/** The webhook was not sent by the sidecar, or it was sent at another time. Answer 400 and do nothing else. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
  readonly problem: VerificationProblem;

  constructor(problem: VerificationProblem, message: string) {
    super(message);
    this.problem = problem;
  }
}

/**
 * Verifies a webhook as Standard Webhooks requires, and returns its body; `type` says which event it is: `webhook.test`
 * is a test, in which no money moved, and `client.budget_low` tells of a client in place of a payment. `body` is the
 * raw body: JSON that was parsed and written again has another signature. A repeated webhook has the same `webhook-id`,
 * so use it to process each one once. Throws `WebhookVerificationError`, and a `TypeError` for a secret that is not
 * base64.
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string,
  options: VerifyOptions = {},
): Promise<WebhookBody> {
  const id = header(headers, 'webhook-id');
  const timestamp = header(headers, 'webhook-timestamp');
  const signatures = header(headers, 'webhook-signature');
  if (!/^\d{1,12}$/.test(timestamp)) {
    throw new WebhookVerificationError(
      'timestamp',
      'The header webhook-timestamp is not a time in seconds: do not trust the webhook.',
    );
  }
  const raw = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const signed = concat(new TextEncoder().encode(`${id}.${timestamp}.`), raw);
  if (!(await isSigned(signed, signatures, secretBytes(secret)))) {
    throw new WebhookVerificationError(
      'signature',
      "No signature of the webhook matches: check that the secret is the endpoint's, and that the body is unchanged.",
    );
  }
  checkAge(Number(timestamp), options);
  return paymentOf(raw);
}

async function isSigned(
  signed: Uint8Array<ArrayBuffer>,
  signatures: string,
  secret: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', secret, algorithm, false, ['verify']);
  for (const signature of signatures.split(' ')) {
    const bytes = signature.startsWith('v1,') ? fromBase64(signature.slice(3)) : null;
    // Web Crypto compares in constant time, so that a signature cannot be guessed byte by byte.
    if (bytes && (await crypto.subtle.verify('HMAC', key, bytes, signed))) return true;
  }
  return false;
}

/** Rejects a webhook that was recorded and is sent again later. */
function checkAge(atSecs: number, { toleranceSecs = 300, nowMs = Date.now() }: VerifyOptions) {
  if (Math.abs(nowMs / 1000 - atSecs) > toleranceSecs) {
    throw new WebhookVerificationError(
      'age',
      'The webhook is too old or too new: check the clocks of both machines.',
    );
  }
}

function paymentOf(raw: Uint8Array): WebhookBody {
  try {
    return JSON.parse(new TextDecoder().decode(raw)) as WebhookBody;
  } catch {
    throw new WebhookVerificationError(
      'body',
      'The body of the webhook is signed, but it is not JSON: check who else has the secret.',
    );
  }
}

function header(headers: WebhookHeaders, name: string): string {
  const value =
    headers instanceof Headers
      ? headers.get(name)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  if (typeof value === 'string' && value !== '') return value;
  throw new WebhookVerificationError(
    'header',
    `The webhook has no header ${name}: check that its endpoint has a secret (--webhook-secret for the configured one).`,
  );
}

function secretBytes(secret: string): Uint8Array<ArrayBuffer> {
  const bytes = fromBase64(secret.startsWith('whsec_') ? secret.slice(6) : secret);
  if (bytes && bytes.length > 0) return bytes;
  throw new TypeError(
    'The webhook secret is not base64 (with or without whsec_): copy the secret of the endpoint.',
  );
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

function concat(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(first.length + second.length);
  joined.set(first);
  joined.set(second, first.length);
  return joined;
}
