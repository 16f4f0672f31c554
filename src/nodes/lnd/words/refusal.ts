import { ApiError, endedCredentials, refused } from '../../../model/errors.ts';
import { foreignText } from '../../../net/foreign-text.ts';
import { MOST_SHOWN_CHARACTERS } from '../../refusals.ts';

/** Longer than any hash, key or id in LND's messages, so it may be a token, which must not be shown. */
const TOKEN = /[0-9a-f]{80,}|[0-9a-z+/_-]{100,}/gi;

/** An error answer of LND. */
export class LndRefusal extends Error {
  override readonly name = 'LndRefusal';
  /** LND's own message, safe to show. */
  readonly text: string;
  constructor(
    readonly httpStatus: number,
    /** The gRPC status code. LND gives most errors code 2, "unknown". */
    readonly grpcCode: number,
    words: string,
  ) {
    const text = foreignText(words.replace(TOKEN, '...'), { maxCharacters: MOST_SHOWN_CHARACTERS });
    super(`LND answered ${httpStatus} (${grpcCode}): ${text}`);
    this.text = text;
  }
}

const GRPC = {
  canceled: 1,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  unavailable: 14,
} as const;

/** LND's error answer inside an error of this connector; null when the error does not come from LND. */
function refusalOf(error: unknown): LndRefusal | null {
  const cause = error instanceof ApiError ? error.cause : error;
  return cause instanceof LndRefusal ? cause : null;
}

/** Returns LND's message inside an error of this connector; empty when the error does not come from LND. */
export function refusalText(error: unknown): string {
  return refusalOf(error)?.text ?? '';
}

/** LND before 0.20 answers this with code 2 to every look-up of an invoice while it has none. */
const NO_INVOICES = 'there are no existing invoices';

/** Returns whether LND answered that it does not know the payment or invoice. */
export function isUnknownToLnd(error: unknown): boolean {
  const refusal = refusalOf(error);
  if (refusal?.text === NO_INVOICES) return true;
  // LND answers with the same code, and with the text "Not Found", for a path that it was built without.
  return refusal?.grpcCode === GRPC.notFound && refusal.text !== 'Not Found';
}

/** Returns null for the answer that LND does not know the payment or invoice. Throws every other error. */
export function nullIfUnknown(error: unknown): null {
  if (isUnknownToLnd(error)) return null;
  throw error;
}

/** Returns whether LND was built without what was asked for. */
export function isMissingAtLnd(error: unknown): boolean {
  return !isUnknownToLnd(error) && refusalText(error) === 'Not Found';
}

/** Returns whether LND answered that it already has the payment. */
export function isAlreadyThere(error: unknown): boolean {
  return refusalOf(error)?.grpcCode === GRPC.alreadyExists;
}

/**
 * Matches messages about a macaroon that LND does not accept (HTTP 500, code 2). Other errors may contain such words,
 * so a match counts only when a second call with the same macaroon fails too.
 */
const MAY_BE_REJECTED =
  /macaroon|verification failed|expected 1 macaroon|cannot determine data format/;
/** The exact messages by which LND says that it will never accept the macaroon again. */
const REJECTED: readonly RegExp[] = [
  /^verification failed: signature mismatch/,
  /^(cannot retrieve macaroon: )?cannot get macaroon: root key with id \d+ doesn't exist$/,
  /^(verification failed: )?caveat "time-before [^"]*" not satisfied: macaroon has expired$/,
  /^macaroon has expired$/,
];

/** Whether LND may not accept the macaroon; a second call with the same macaroon finds out. */
export function mayBeRejected(refusal: LndRefusal): boolean {
  const { text } = refusal;
  return text !== PERMISSION_DENIED && notOpenAs(refusal) === null && MAY_BE_REJECTED.test(text);
}

/** Returns whether LND says that the macaroon is unknown, expired or revoked. */
export function saysRejected({ text }: LndRefusal): boolean {
  return REJECTED.some((words) => words.test(text));
}

const PERMISSION_DENIED = 'permission denied';

/** Why an LND does not serve. */
export type NotOpen = 'no_wallet' | 'locked' | 'starting';
/** Messages of an LND whose wallet is not open; it sends them before it looks at the call. */
const NOT_OPEN: readonly (readonly [words: string, why: NotOpen])[] = [
  ['wallet not created', 'no_wallet'],
  ['wallet locked', 'locked'],
  ['waiting to start, RPC services not available', 'starting'],
  ['the RPC server is in the process of starting up', 'starting'],
];
/** Messages of an LND that starts or stops, where the call may have begun. */
const CLOSING: readonly string[] = [
  'macaroon store is locked',
  'server is still in the process of starting',
  'shutting down',
];

/** Who opens an LND's wallet: its operator, or the sidecar with the root seed. */
export type Opener = 'operator' | 'rootSeed';

const NEXT_STEPS: Readonly<Record<Opener, Readonly<Record<NotOpen, string>>>> = {
  operator: {
    no_wallet: 'create one with `lncli create`',
    locked: 'unlock it with `lncli unlock`',
    starting: 'try again in a moment',
  },
  rootSeed: {
    no_wallet: 'PUT /v2/node/signup creates it',
    locked: 'PUT /v2/node/provision unlocks it',
    starting: 'try again in a moment',
  },
};

/** Returns what to do about an LND that does not serve. */
export function nextStep(why: NotOpen, opener: Opener): string {
  return NEXT_STEPS[opener][why];
}

/** Returns why the LND does not serve, by its error answer; null when it serves. */
export function notOpenAs({ text }: LndRefusal): NotOpen | null {
  const found = NOT_OPEN.find(([words]) => text.includes(words));
  if (found) return found[1];
  return CLOSING.some((words) => text.includes(words)) ? 'starting' : null;
}

/** Whether LND refused before it looked at the call: a wallet that is not open, or a macaroon without it. */
export function wasTurnedAway({ text }: LndRefusal): boolean {
  return text === PERMISSION_DENIED || NOT_OPEN.some(([words]) => text.startsWith(words));
}

/** Returns error 106 that names signup as the next step (docs/decisions.md 79). */
export function notSignedUp(cause?: unknown): ApiError {
  return refused('This LND has no wallet yet: PUT /v2/node/signup creates it.', cause);
}

/** What is known about an error answer beyond its text. */
export interface Reading {
  /** A second call with the same macaroon showed that LND does not accept the macaroon. */
  readonly rejected: boolean;
  /** Whether LND may have done what was asked, although it answered with an error. */
  readonly outcomeUnknown: boolean;
  /** Who opens the wallet, which decides what to do about one that is not open; its operator if absent. */
  readonly opener?: Opener | undefined;
}

/** Returns the error of this API for an error answer of LND (docs/api.md, Errors). */
export function refusalError(
  refusal: LndRefusal,
  { rejected, outcomeUnknown, opener = 'operator' }: Reading = {
    rejected: false,
    outcomeUnknown: false,
  },
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
  const notOpen = notOpenAs(refusal);
  if (notOpen === 'no_wallet' && opener === 'rootSeed') return notSignedUp(refusal);
  if (notOpen) {
    const advice = nextStep(notOpen, opener);
    return new ApiError('unreachable', `LND is not open yet (${text}): ${advice}.`, options);
  }
  if (grpcCode === GRPC.deadlineExceeded) {
    return new ApiError('timeout', 'LND did not answer in time: try again.', options);
  }
  if (grpcCode === GRPC.unavailable || grpcCode === GRPC.canceled) {
    return new ApiError('unreachable', 'LND ended the call without a result: try again.', options);
  }
  if (httpStatus === 501) {
    return new ApiError(
      'unsupported',
      'This LND was built without a sub-server that this call needs: use a release of LND.',
      { ...options, data: { node: 'lnd' } },
    );
  }
  if (outcomeUnknown) {
    return new ApiError(
      'unreadable',
      `The answer of LND does not say whether it carried out the request: ${text}.`,
      options,
    );
  }
  if (grpcCode === GRPC.notFound)
    return new ApiError('notFound', `LND did not find it: ${text}.`, options);
  return refused(`LND refused: ${text}.`, refusal);
}
