import { ApiError, endedCredentials, refused } from '../../model/errors.ts';
import { foreignText } from '../../net/foreign-text.ts';

/** LND's words are shown and logged up to here. */
const MAX_CHARACTERS = 300;
/** Longer than any hash, key or id that LND's words name: a token, which must not be shown. */
const TOKEN = /[0-9a-f]{80,}|[0-9a-z+/_-]{100,}/gi;

/** What LND answered instead of a result. */
export class LndRefusal extends Error {
  override readonly name = 'LndRefusal';
  /** LND's own words, safe to show. */
  readonly text: string;
  constructor(
    readonly httpStatus: number,
    /** gRPC status code; 2 is "unknown", which LND gives for most. */
    readonly grpcCode: number,
    words: string,
  ) {
    const text = foreignText(words.replace(TOKEN, '...'), { maxCharacters: MAX_CHARACTERS });
    super(`LND answered ${httpStatus} (${grpcCode}): ${text}`);
    this.text = text;
  }
}

/** gRPC status codes that decide something here. */
const GRPC = {
  canceled: 1,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  internal: 13,
  unavailable: 14,
} as const;

/** LND's refusal inside an error of this connector; null when the error does not come from LND. */
function refusalOf(error: unknown): LndRefusal | null {
  const cause = error instanceof ApiError ? error.cause : error;
  return cause instanceof LndRefusal ? cause : null;
}

/** LND's words inside an error of this connector; empty when the error does not come from LND. */
export function refusalText(error: unknown): string {
  return refusalOf(error)?.text ?? '';
}

/** What LND before 0.20 answers to every look-up of an invoice before its first one, with code 2. */
const NO_INVOICES = 'there are no existing invoices';

/** Whether LND answered that it does not know what was asked for. */
export function isUnknownToLnd(error: unknown): boolean {
  const refusal = refusalOf(error);
  if (refusal?.text === NO_INVOICES) return true;
  // A path that LND was not built with answers the same code.
  return refusal?.grpcCode === GRPC.notFound && refusal.text !== 'Not Found';
}

/** Whether LND answered that it has this already. */
export function isAlreadyThere(error: unknown): boolean {
  return refusalOf(error)?.grpcCode === GRPC.alreadyExists;
}

/**
 * What LND answers when a macaroon fails (HTTP 500, code 2, known by the words only). Other answers may hold such words
 * too, so they count only when a second call with the same macaroon is answered so.
 */
const MAY_BE_REJECTED =
  /macaroon|verification failed|expected 1 macaroon|cannot determine data format/;
/** The very words by which LND rejects a macaroon for good. */
const REJECTED: readonly RegExp[] = [
  /^verification failed: signature mismatch/,
  /^(cannot retrieve macaroon: )?cannot get macaroon: root key with id \d+ doesn't exist$/,
  /^(verification failed: )?caveat "time-before [^"]*" not satisfied: macaroon has expired$/,
  /^macaroon has expired$/,
];

/** Whether the macaroon may have been rejected: another call with it tells. */
export function mayBeRejected({ text }: LndRefusal): boolean {
  return text !== PERMISSION_DENIED && !isNotOpen(text) && MAY_BE_REJECTED.test(text);
}

/** Whether LND says that the macaroon is unknown, expired or revoked. */
export function saysRejected({ text }: LndRefusal): boolean {
  return REJECTED.some((words) => words.test(text));
}

const PERMISSION_DENIED = 'permission denied';

/** What a wallet that is not open answers to every call, before it is looked at. */
const NOT_OPEN: readonly (readonly [words: string, advice: string])[] = [
  ['wallet not created', 'PUT /v2/node/signup creates it'],
  ['wallet locked', 'PUT /v2/node/provision unlocks it'],
  ['waiting to start, RPC services not available', 'try again in a moment'],
  ['the RPC server is in the process of starting up', 'try again in a moment'],
];
/** The same, where the call may have begun. */
const CLOSING: readonly (readonly [words: string, advice: string])[] = [
  ['macaroon store is locked', 'try again in a moment'],
  ['server is still in the process of starting', 'try again in a moment'],
  ['shutting down', 'try again in a moment'],
];

function isNotOpen(text: string): boolean {
  return [...NOT_OPEN, ...CLOSING].some(([words]) => text.includes(words));
}

/** Whether LND turned the call away before looking at it: its wallet is not open, or the macaroon does not allow it. */
export function wasTurnedAway({ text }: LndRefusal): boolean {
  return text === PERMISSION_DENIED || NOT_OPEN.some(([words]) => text.startsWith(words));
}

/** How an answer is to be read. */
export interface Reading {
  /** A second call with the same macaroon showed that it is rejected. */
  readonly rejected: boolean;
  /** Whether LND may have done what was asked for although it answers so. */
  readonly outcomeUnknown: boolean;
}

/** The documented error for LND's answer. */
export function refusalError(
  refusal: LndRefusal,
  { rejected, outcomeUnknown }: Reading = { rejected: false, outcomeUnknown: false },
): ApiError {
  const { text, httpStatus, grpcCode } = refusal;
  const options = { cause: refusal, outcomeUnknown };
  if (rejected) return endedCredentials(refusal);
  if (text === PERMISSION_DENIED) {
    return new ApiError(
      'forbidden',
      'LND refused: the macaroon does not allow this call.',
      options,
    );
  }
  const closed = [...NOT_OPEN, ...CLOSING].find(([words]) => text.includes(words));
  if (closed) {
    return new ApiError('unreachable', `LND is not open yet (${text}): ${closed[1]}.`, options);
  }
  if (grpcCode === GRPC.deadlineExceeded) {
    return new ApiError('timeout', 'LND did not answer in time: try again.', options);
  }
  if (grpcCode === GRPC.unavailable || grpcCode === GRPC.canceled) {
    return new ApiError('unreachable', 'LND broke the call off: try again.', options);
  }
  if (httpStatus === 501) {
    return new ApiError('unsupported', 'This LND was built without what this needs.', {
      ...options,
      data: { node: 'lnd' },
    });
  }
  if (outcomeUnknown) {
    return new ApiError('unreadable', `LND does not say whether it was done: ${text}.`, options);
  }
  if (grpcCode === GRPC.notFound) return new ApiError('notFound', `LND: ${text}.`, options);
  return refused(`LND refused: ${text}.`, refusal);
}
