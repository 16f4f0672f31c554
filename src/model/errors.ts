interface ErrorRow {
  readonly code: number;
  readonly httpStatus: number;
  /** What the code means, for the documentation. */
  readonly meaning: string;
}

/** Every error of the API (docs/decisions.md 10), by its name in this program. */
export const ERRORS = {
  unreachable: { code: 3, httpStatus: 503, meaning: 'The wallet node cannot be reached.' },
  timeout: { code: 4, httpStatus: 504, meaning: 'Timed out; waits too.' },
  unreadable: {
    code: 5,
    httpStatus: 502,
    meaning: 'The wallet node answered something unreadable.',
  },
  internal: { code: 6, httpStatus: 500, meaning: 'Internal error; the log has the request id.' },
  rejected: {
    code: 7,
    httpStatus: 400,
    meaning:
      'Request rejected: format, range, conflict between body and query, unknown value; 405 method, 413 size, 415 content type.',
  },
  overCapacity: { code: 8, httpStatus: 503, meaning: 'Over capacity, or stopping.' },
  unauthenticated: {
    code: 104,
    httpStatus: 401,
    meaning: 'No, malformed, unknown, expired or revoked credentials, or the wrong kind.',
  },
  refused: { code: 106, httpStatus: 400, meaning: 'The node refused or could not do it.' },
  notFound: { code: 107, httpStatus: 404, meaning: 'Payment, client or endpoint not found.' },
  forbidden: {
    code: 108,
    httpStatus: 403,
    meaning: 'The credentials lack the permission that data.permission names.',
  },
  overBudget: { code: 109, httpStatus: 403, meaning: "Over the credential's budget." },
  unsupported: {
    code: 110,
    httpStatus: 501,
    meaning: 'This node cannot do that; data.node names the node.',
  },
  idempotencyConflict: {
    code: 111,
    httpStatus: 422,
    meaning: 'The Idempotency-Key was used for a different request.',
  },
  hostNotAllowed: {
    code: 112,
    httpStatus: 403,
    meaning: "The request's Host or Origin is not allowed.",
  },
  serviceFailed: {
    code: 113,
    httpStatus: 502,
    meaning:
      'A service outside (LNURL, Lightning Address, name, resolver, source of rates) cannot be reached or answers wrongly; data.problem says which. Never the wallet node.',
  },
} as const satisfies Record<string, ErrorRow>;

/** The name of a row of {@link ERRORS}. */
export type ErrorName = keyof typeof ERRORS;

/** The JSON body of every error answer (docs/api.md, Errors). */
export interface ErrorBody {
  readonly code: number;
  readonly msg: string;
  readonly data: unknown;
  readonly sensitive: boolean;
}

/** What is wrong with one field of a rejected request; `path` is empty for the request as a whole. */
export interface Issue {
  readonly path: string;
  readonly message: string;
}

interface ApiErrorOptions {
  /** Extra data for the answer. Never a secret. */
  readonly data?: unknown;
  /** A status other than the table's, for cases such as a wrong method (405) (docs/decisions.md 15). */
  readonly httpStatus?: number;
  /** The underlying error. It goes to the log and never into the answer. */
  readonly cause?: unknown;
  /** Set by connectors when the request may have taken effect at the node although no answer came. */
  readonly outcomeUnknown?: boolean;
}

/** An error of {@link ERRORS}, whose message tells the caller what happened and what to do next. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly data: unknown;
  readonly httpStatus: number;
  /** Whether the request may have taken effect at the node although no answer came. */
  readonly outcomeUnknown: boolean;

  constructor(
    readonly kind: ErrorName,
    message: string,
    options: ApiErrorOptions = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.data = options.data ?? (kind === 'rejected' ? issuesOf('', message) : null);
    this.httpStatus = options.httpStatus ?? ERRORS[kind].httpStatus;
    this.outcomeUnknown = options.outcomeUnknown ?? false;
  }

  /** Returns the same error with more members in its data. Members that it has already are kept. */
  with(data: Readonly<Record<string, unknown>>): ApiError {
    const before = typeof this.data === 'object' && this.data !== null ? this.data : {};
    const { httpStatus, cause, outcomeUnknown } = this;
    return new ApiError(this.kind, this.message, {
      data: { ...data, ...before },
      httpStatus,
      outcomeUnknown,
      ...(cause === undefined ? {} : { cause }),
    });
  }

  body(): ErrorBody {
    return { code: ERRORS[this.kind].code, msg: this.message, data: this.data, sensitive: false };
  }
}

/** Returns whether a caught error is an {@link ApiError} of one of these kinds, or of any kind when none are given. */
export function isApiError(error: unknown, ...kinds: readonly ErrorName[]): error is ApiError {
  return error instanceof ApiError && (kinds.length === 0 || kinds.includes(error.kind));
}

/** Returns an {@link ApiError} unchanged, and error 6 for every other error, which becomes its cause. */
export function internalUnlessApi(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError(
    'internal',
    'Internal error: the log says more under the x-request-id of this answer.',
    { cause: error },
  );
}

/** Makes error 104. The message does not say whether the credentials are unknown, expired or revoked. */
export function endedCredentials(cause?: unknown): ApiError {
  return new ApiError(
    'unauthenticated',
    'These credentials are unknown, expired or revoked: ask the wallet owner for new ones.',
    { cause },
  );
}

/** Makes error 7 for one field, which `data.issues` names (docs/decisions.md 13). */
export function rejected(path: string, message: string): ApiError {
  return new ApiError('rejected', path === '' ? message : `${path}: ${message}`, {
    data: issuesOf(path, message),
  });
}

function issuesOf(path: string, message: string): { readonly issues: readonly Issue[] } {
  return { issues: [{ path, message }] };
}

/** Makes error 106 for an invoice of the wallet that shall pay it. */
export function ownInvoice(): ApiError {
  return refused(
    'This invoice is your own, and a wallet cannot pay itself: give it to the payer, or pay it from another wallet.',
  );
}

/** Makes error 106 for a payment to the wallet's own node. */
export function ownNode(): ApiError {
  return refused("This node_pk is the wallet's own: name the node of another wallet.");
}

/** Makes error 106: the node refused or could not do it, and nothing was sent. */
export function refused(message: string, cause?: unknown): ApiError {
  return new ApiError('refused', message, { cause });
}

/** Error 8 of what this process does not do any more, because it ends. */
export function stoppingError(): ApiError {
  return new ApiError('overCapacity', 'The sidecar is stopping: try again in a moment.');
}
