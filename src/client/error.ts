import type { ErrorData } from './generated/errors.ts';

/**
 * How a call went wrong:
 * - `error`: the sidecar answered with an error; `code` says which one.
 * - `unreachable`: no connection was made, so the request was not sent.
 * - `unanswered`: no answer came, but the request may have arrived.
 * - `foreign`: the answer did not come from a wallet-sidecar.
 */
export type ErrorKind = 'error' | 'unreachable' | 'unanswered' | 'foreign';

/** The HTTP methods of the API. */
export type Method = 'GET' | 'POST' | 'PUT';

/** Details of a call that went wrong. */
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

class FailedCall extends Error {
  override readonly name = 'WalletSidecarError';
  readonly kind: ErrorKind;
  readonly code: number | null;
  /** Null when there was no answer. */
  readonly httpStatus: number | null;
  readonly data: unknown;
  /** The answer's whole JSON; null when there was none. */
  readonly body: unknown;
  /** Milliseconds after which the same call may succeed; null when the sidecar does not say. */
  readonly retryAfterMs: number | null;
  /**
   * Whether the call may have done what you asked, although it failed: a payment may be on its way. Call again with the
   * same idempotency key, or check what happened, before you try anew. False when nothing was done, and for reads.
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

/** An error of the sidecar, with its details by its code. */
type AnsweredError = {
  [Code in keyof ErrorData]: FailedCall & {
    readonly kind: 'error';
    readonly code: Code;
    readonly data: ErrorData[Code];
  };
}[keyof ErrorData];

/** A call to which no sidecar answered. */
type UnansweredError = FailedCall & {
  readonly kind: Exclude<ErrorKind, 'error'>;
  readonly code: null;
  readonly data: null;
};

/**
 * A call that got an error, or no answer, from the sidecar. The message of an error is the sidecar's own sentence. Its
 * `code`, one of `ERROR_CODES`, says what `data` holds: compare it, and `data` has that type. A sidecar of a later
 * version may send a code that is not among them. A payment that was tried and failed is not an error: it is a Payment
 * with `status: 'failed'`.
 */
export type WalletSidecarError = AnsweredError | UnansweredError;

/** The class of the errors, for `instanceof`. */
export const WalletSidecarError = FailedCall as unknown as {
  new (message: string, facts: ErrorFacts): WalletSidecarError;
  readonly prototype: WalletSidecarError;
};

/** The answer or stream that an error's body came with. */
interface Answered {
  readonly method: Method;
  /** Null for an error that came in a stream. */
  readonly httpStatus: number | null;
  /** The text of the `Retry-After` header. */
  readonly retryAfter: string | null;
}

/** Returns the error that the body of an answer describes. */
export function errorOf(body: unknown, answered: Answered): WalletSidecarError {
  const { method, httpStatus, retryAfter } = answered;
  const retryAfterMs = /^\d{1,9}$/.test(retryAfter ?? '') ? Number(retryAfter) * 1000 : null;
  const writes = method !== 'GET';
  if (isErrorBody(body)) {
    const { code, msg, data = null } = body;
    const mayHaveTakenEffect = writes && leavesOpen(data, httpStatus ?? 0);
    const facts = { code, httpStatus, data, body, retryAfterMs, mayHaveTakenEffect };
    return new WalletSidecarError(msg, { kind: 'error', ...facts });
  }
  return new WalletSidecarError('The answer did not come from a wallet-sidecar: check the url.', {
    ...NOTHING_SAID,
    kind: 'foreign',
    httpStatus,
    body,
    retryAfterMs,
    mayHaveTakenEffect: writes,
  });
}

/** A call that got no answer. */
interface Unanswered {
  readonly method: Method;
  readonly hasKey: boolean;
}

/** Returns the error of a call that got no answer. */
export function unansweredError(
  origin: string,
  { method, hasKey }: Unanswered,
  cause: unknown,
): WalletSidecarError {
  const kind = wasNeverConnected(cause) ? 'unreachable' : 'unanswered';
  // Bun itself repeats a PUT when a connection breaks, so an earlier attempt may have arrived.
  const mayHaveTakenEffect = method === 'PUT' || (method === 'POST' && kind === 'unanswered');
  const message =
    kind === 'unreachable'
      ? `No sidecar answered at ${origin}: check that it runs, and check the url.`
      : `The connection to the sidecar at ${origin} ended without an answer: ${afterNoAnswer(method, hasKey)}`;
  return new WalletSidecarError(message, { ...NOTHING_SAID, kind, mayHaveTakenEffect, cause });
}

/** Says what to do after a request that was sent and got no answer. A POST without a key must not be repeated. */
function afterNoAnswer(method: Method, hasKey: boolean): string {
  if (method !== 'POST') return 'call again.';
  const next = hasKey
    ? 'Repeat the call with the same idempotency key.'
    : 'Look what became of it before you try anew.';
  return `it may have taken effect, and a payment may be on its way. ${next}`;
}

/** Returns the same error for a call of which an earlier attempt may have taken effect. */
export function afterOpenAttempt(error: WalletSidecarError, method: Method): WalletSidecarError {
  const { message, kind, cause } = error;
  const earlier =
    kind === 'unreachable' ? ` An earlier attempt was sent: ${afterNoAnswer(method, true)}` : '';
  return new WalletSidecarError(message + earlier, { ...error, cause, mayHaveTakenEffect: true });
}

const NOTHING_SAID = {
  code: null,
  httpStatus: null,
  data: null,
  body: null,
  retryAfterMs: null,
} as const;

/**
 * Whether an error answer leaves open if the request took effect. The sidecar's `data.sent` decides; without it every
 * status from 500 on leaves it open, except 501.
 */
function leavesOpen(data: unknown, httpStatus: number): boolean {
  const sent: unknown = isObject(data) ? data.sent : undefined;
  if (typeof sent === 'string') return sent !== 'no';
  return httpStatus >= 500 && httpStatus !== 501;
}

/** The codes by which Bun and Node report that no connection was made. */
const NEVER_CONNECTED: ReadonlySet<unknown> = new Set([
  'ConnectionRefused',
  'FailedToOpenSocket',
  'ECONNREFUSED',
  'ENOTFOUND',
]);

/** Whether no connection was made. Bun puts the code on the error, Node on its cause. */
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
