/**
 * How a call went wrong:
 * - `refused`: the sidecar answered with an error; `code` says which.
 * - `unreachable`: no connection was made, so the request went nowhere.
 * - `unanswered`: no answer came, though the request may have arrived; browsers report `unreachable` as this too.
 * - `foreign`: what answered is not a wallet-sidecar.
 */
export type ErrorKind = 'refused' | 'unreachable' | 'unanswered' | 'foreign';

/** A method of HTTP that the API uses. */
export type Method = 'GET' | 'POST' | 'PUT';

/** What is known of a call that went wrong. */
interface ErrorFacts {
  readonly kind: ErrorKind;
  readonly code: number | null;
  readonly httpStatus: number | null;
  readonly data: unknown;
  readonly body: unknown;
  readonly retryAfterMs: number | null;
  readonly mayHaveTakenEffect: boolean;
  readonly cause?: unknown;
}

/**
 * A call that the sidecar refused, or that it could not be reached for. The message is the sidecar's own sentence.
 * A payment that was attempted and failed is no error: it is a Payment with `status: 'failed'`.
 */
export class WalletSidecarError extends Error {
  override readonly name = 'WalletSidecarError';
  readonly kind: ErrorKind;
  /** One of `ERROR_CODES`; null unless `kind` is `refused`. */
  readonly code: number | null;
  /** Null when nothing answered. */
  readonly httpStatus: number | null;
  /** What the sidecar says besides, such as `{ issues }` of a rejected request. */
  readonly data: unknown;
  /** The whole JSON that was answered; null when there was none. */
  readonly body: unknown;
  /** Milliseconds after which the same call may succeed; null when the sidecar does not say. */
  readonly retryAfterMs: number | null;
  /**
   * Whether the call may have done what was asked all the same: a payment may be on its way. Call again with the same
   * idempotency key, or look, before you do it anew. False when nothing was done, and for reads.
   */
  readonly mayHaveTakenEffect: boolean;

  constructor(message: string, facts: ErrorFacts) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.kind = facts.kind;
    this.code = facts.code;
    this.httpStatus = facts.httpStatus;
    this.data = facts.data;
    this.body = facts.body;
    this.retryAfterMs = facts.retryAfterMs;
    this.mayHaveTakenEffect = facts.mayHaveTakenEffect;
  }
}

/** Where an error's body was found. */
interface Answered {
  readonly method: Method;
  /** Null for one that stands in a stream. */
  readonly httpStatus: number | null;
  /** The header's text. */
  readonly retryAfter: string | null;
}

/** The error that the body of an answer describes. */
export function errorOf(body: unknown, answered: Answered): WalletSidecarError {
  const { method, httpStatus, retryAfter } = answered;
  const retryAfterMs = /^\d{1,9}$/.test(retryAfter ?? '') ? Number(retryAfter) * 1000 : null;
  const writes = method !== 'GET';
  if (isErrorBody(body)) {
    const { code, msg, data = null } = body;
    const mayHaveTakenEffect = writes && leavesOpen(data, httpStatus ?? 0);
    const facts = { code, httpStatus, data, body, retryAfterMs, mayHaveTakenEffect };
    return new WalletSidecarError(msg, { kind: 'refused', ...facts });
  }
  return new WalletSidecarError(
    'The answer is not that of a wallet-sidecar: see whether the url is right.',
    {
      ...NOTHING_SAID,
      kind: 'foreign',
      httpStatus,
      body,
      retryAfterMs,
      mayHaveTakenEffect: writes,
    },
  );
}

/** The error of a call that got no answer. */
export function unansweredError(
  origin: string,
  method: Method,
  cause: unknown,
): WalletSidecarError {
  const kind = wasNeverConnected(cause) ? 'unreachable' : 'unanswered';
  // Bun itself sends a PUT again when a connection breaks, so the first one may have arrived.
  const mayHaveTakenEffect = method === 'PUT' || (method === 'POST' && kind === 'unanswered');
  return new WalletSidecarError(
    `No sidecar answered at ${origin}: see whether it runs, and whether the url is right.`,
    { ...NOTHING_SAID, kind, mayHaveTakenEffect, cause },
  );
}

/** The same error, for a call of which an earlier attempt may have taken effect. */
export function afterOpenAttempt(error: WalletSidecarError): WalletSidecarError {
  const { message, cause } = error;
  return new WalletSidecarError(message, { ...error, cause, mayHaveTakenEffect: true });
}

const NOTHING_SAID = {
  code: null,
  httpStatus: null,
  data: null,
  body: null,
  retryAfterMs: null,
} as const;

/** The sidecar's own word (`data.sent`) decides; without it a fault of the server, 501 excepted, leaves it open. */
function leavesOpen(data: unknown, httpStatus: number): boolean {
  const sent: unknown = isObject(data) ? data.sent : undefined;
  if (typeof sent === 'string') return sent !== 'no';
  return httpStatus >= 500 && httpStatus !== 501;
}

/** Codes under which Bun and Node say that a connection was never made. */
const NEVER_CONNECTED: ReadonlySet<unknown> = new Set([
  'ConnectionRefused',
  'FailedToOpenSocket',
  'ECONNREFUSED',
  'ENOTFOUND',
]);

/** Bun gives the code on the error, Node on its cause. */
function wasNeverConnected(error: unknown): boolean {
  const cause = isObject(error) ? error.cause : null;
  return [error, cause].some((one) => isObject(one) && NEVER_CONNECTED.has(one.code));
}

function isErrorBody(
  body: unknown,
): body is { readonly code: number; readonly msg: string; readonly data?: unknown } {
  return isObject(body) && typeof body.code === 'number' && typeof body.msg === 'string';
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
