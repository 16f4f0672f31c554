import type { ApiError } from '../../model/errors.ts';
import type { SendReport } from '../node.ts';
import { type LndRefusal, wasTurnedAway } from './refusal.ts';

/**
 * Which answers prove that LND did not do what moves money (decisions section 5, unknown is not failed). LND answers
 * most refusals with gRPC code 2 ("unknown"), so its words are the proof, and words not listed here prove nothing.
 */

/** Whether an answer proves that nothing was done and nothing will be. */
export type Certainty = (refusal: LndRefusal) => boolean;

/** For calls that move no money: LND's answer is its refusal. */
export const anyRefusal: Certainty = () => true;

/** Codes 3, 7, 12, 16: the call was never begun, since it or its caller was not accepted. */
const NOT_BEGUN: ReadonlySet<number> = new Set([3, 7, 12, 16]);

/** What LND answers before it records a payment (`extractIntentFromSendRequest` of its router). */
const BEFORE_A_PAYMENT: readonly RegExp[] = [
  /^invoice expired\b/,
  /^self-payments not allowed$/,
  /^amount must (not )?be specified/,
  /^payment request must contain/,
  /^the AMP flag/,
  /^total time lock of .* exceeds max/,
  /^payment amount .* exceeds maximum possible amount/,
  /^feature vector contains unknown required features/,
  /^missing feature dependency/,
  /^invoice not for current active network/,
  /^invalid invoice signature$/,
];

/** What LND answers before it agrees with the peer on a channel's funding, or when the two do not agree. */
const BEFORE_A_CHANNEL: readonly RegExp[] = [
  /^peer [0-9a-f]+ is not online$/,
  /^not enough witness outputs to create funding transaction/,
  /^insufficient funds available to construct transaction/,
  /^reserved wallet balance invalidated/,
  /^channel is too small/,
  /^funding amount is too large/,
  /^local funding amount must be non-zero$/,
  /^received funding error from/,
  /^channels cannot be created before the wallet is fully synced$/,
  /^cannot open channel to self$/,
];

/** What LND answers before it asks the peer to close a channel. */
const BEFORE_A_CLOSE: readonly RegExp[] = [
  /^unable to find channel/,
  /^channel not found/,
  /^cannot close channel with state/,
  /^cannot co-op close frozen channel/,
  /^unable to gracefully close channel while peer is offline/,
];

/** `/v2/router/send`, before its first item. */
export const refusesToPay: Certainty = (refusal) => isCertain(refusal, BEFORE_A_PAYMENT);
/** `/v2/wallet/tx`: whether a transaction that was not accepted will still spread is known of the chain alone. */
export const refusesToPublish: Certainty = (refusal) => isCertain(refusal, []);
/** POST `/v1/channels`. */
export const refusesToOpen: Certainty = (refusal) => isCertain(refusal, BEFORE_A_CHANNEL);
/** DELETE `/v1/channels/...`, before its first item. */
export const refusesToClose: Certainty = (refusal) => isCertain(refusal, BEFORE_A_CLOSE);

function isCertain(refusal: LndRefusal, words: readonly RegExp[]): boolean {
  const { grpcCode, text } = refusal;
  if (wasTurnedAway(refusal) || NOT_BEGUN.has(grpcCode)) return true;
  // A path that LND was not built with; a missing thing is told in other words.
  if (grpcCode === 5 && text === 'Not Found') return true;
  return grpcCode === 2 && words.some((known) => known.test(text));
}

/** What an error of a call that moves money says of it. */
export function reportOf(error: ApiError): SendReport {
  return { state: error.outcomeUnknown ? 'unknown' : 'refused', error };
}
