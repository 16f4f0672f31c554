/** What is known of a call that went wrong. */
interface ErrorFacts {
  readonly code: number | null;
  readonly httpStatus: number | null;
  readonly data: unknown;
  readonly retryAfterMs: number | null;
  readonly cause?: unknown;
}

/**
 * A call that the sidecar refused, or that it could not be reached for. The message is the sidecar's own sentence.
 * A payment that was attempted and failed is no error: it is a Payment with `status: 'failed'`.
 */
export class WalletSidecarError extends Error {
  override readonly name = 'WalletSidecarError';
  /** One of `ERROR_CODES`; null when no sidecar answered. */
  readonly code: number | null;
  /** Null when nothing answered. */
  readonly httpStatus: number | null;
  /** What the sidecar says besides, such as `{ issues }` of a rejected request. */
  readonly data: unknown;
  /** Milliseconds after which the same call may succeed; null when the sidecar does not say. */
  readonly retryAfterMs: number | null;

  constructor(message: string, facts: ErrorFacts) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.code = facts.code;
    this.httpStatus = facts.httpStatus;
    this.data = facts.data;
    this.retryAfterMs = facts.retryAfterMs;
  }
}

/** The error that the body of an answer describes; `retryAfter` is the header's text. */
export function errorOf(
  body: unknown,
  httpStatus: number | null,
  retryAfter: string | null,
): WalletSidecarError {
  const { code, msg, data } = isErrorBody(body) ? body : FOREIGN;
  const retryAfterMs = /^\d{1,9}$/.test(retryAfter ?? '') ? Number(retryAfter) * 1000 : null;
  return new WalletSidecarError(msg, { code, httpStatus, data: data ?? null, retryAfterMs });
}

/** The error of a call that got no answer. */
export function unansweredError(origin: string, cause: unknown): WalletSidecarError {
  return new WalletSidecarError(
    `No sidecar answered at ${origin}: see whether it runs, and whether the url is right.`,
    { code: null, httpStatus: null, data: null, retryAfterMs: null, cause },
  );
}

const FOREIGN = {
  code: null,
  msg: 'The answer is not that of a wallet-sidecar: see whether the url is right.',
  data: null,
} as const;

function isErrorBody(
  body: unknown,
): body is { readonly code: number; readonly msg: string; readonly data?: unknown } {
  if (typeof body !== 'object' || body === null) return false;
  const { code, msg } = body as { readonly code?: unknown; readonly msg?: unknown };
  return typeof code === 'number' && typeof msg === 'string';
}
