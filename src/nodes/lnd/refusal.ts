import { ApiError, refused } from '../../model/errors.ts';

/** What LND answered instead of a result. */
export class LndRefusal extends Error {
  override readonly name = 'LndRefusal';
  constructor(
    readonly httpStatus: number,
    /** gRPC status code; 2 is "unknown", which LND gives for most. */
    readonly grpcCode: number,
    /** LND's own words. */
    readonly text: string,
  ) {
    super(`LND answered ${httpStatus} (${grpcCode}): ${text}`);
  }
}

/** LND's words inside an error of this connector; empty when the error does not come from LND. */
export function refusalText(error: unknown): string {
  const cause = error instanceof ApiError ? error.cause : error;
  return cause instanceof LndRefusal ? cause.text : '';
}

/** Whether LND answered that it does not know what was asked for. */
export function isUnknownToLnd(error: unknown): boolean {
  const cause = error instanceof ApiError ? error.cause : error;
  return (
    cause instanceof LndRefusal &&
    cause.grpcCode === 5 &&
    // A path that LND was not built with answers the same code.
    cause.text !== 'Not Found'
  );
}

/** LND answers failed authentication as plain errors (HTTP 500, code 2), known by their words only. */
const NOT_AUTHENTICATED = [
  'cannot get macaroon',
  'verification failed',
  'expected 1 macaroon',
  'cannot determine data format',
  'macaroon',
];

/** What a wallet that is not open answers to every call. */
const NOT_OPEN: readonly (readonly [words: string, advice: string])[] = [
  ['wallet not created', 'PUT /v2/node/signup creates it'],
  ['wallet locked', 'PUT /v2/node/provision unlocks it'],
  ['macaroon store is locked', 'try again in a moment'],
  ['waiting to start', 'try again in a moment'],
  ['in the process of starting up', 'try again in a moment'],
  ['server is still in the process of starting', 'try again in a moment'],
  ['shutting down', 'try again in a moment'],
];

/** The documented error for LND's answer. Nothing was done, which LND's answer itself says. */
export function refusalError(refusal: LndRefusal): ApiError {
  const { text, httpStatus, grpcCode } = refusal;
  if (text.includes('permission denied')) {
    return new ApiError('forbidden', 'LND refused: the macaroon does not allow this call.', {
      cause: refusal,
    });
  }
  const closed = NOT_OPEN.find(([words]) => text.includes(words));
  if (closed) {
    const [, advice] = closed;
    return new ApiError('unreachable', `LND is not open yet (${text}): ${advice}.`, {
      cause: refusal,
    });
  }
  if (NOT_AUTHENTICATED.some((words) => text.includes(words))) {
    return new ApiError(
      'unauthenticated',
      'These credentials are unknown, expired or revoked: ask the wallet owner for new ones.',
      { cause: refusal },
    );
  }
  if (grpcCode === 5) return new ApiError('notFound', `LND: ${text}.`, { cause: refusal });
  if (httpStatus === 501) {
    return new ApiError('unsupported', 'This LND was built without what this needs.', {
      data: { node: 'lnd' },
      cause: refusal,
    });
  }
  return refused(`LND refused: ${text}.`, refusal);
}
