import { type LndRefusal, refusalText, wasTurnedAway } from './refusal.ts';

/**
 * Which error answers prove that LND did not move money (docs/decisions.md 81). LND gives most refusals the gRPC code 2
 * ("unknown"), so the words of the message are the proof. Words that are not listed here prove nothing, and the send
 * stays unknown (docs/decisions.md 35).
 */

/** Returns whether an error answer of LND proves that nothing was done and nothing will be. */
export type Certainty = (refusal: LndRefusal) => boolean;

/** For calls that move no money: every error answer counts as a refusal. */
export const anyRefusal: Certainty = () => true;

/** gRPC codes 1, 4 and 14: the call ended without a result, and may have been carried out. */
const NO_RESULT: ReadonlySet<number> = new Set([1, 4, 14]);

/** For `/v2/wallet/psbt/fund`: with an error of its own LND has locked no coin. */
export const refusesToFund: Certainty = ({ grpcCode }) => !NO_RESULT.has(grpcCode);

/** gRPC codes 3, 7, 12 and 16: the call never began, because LND did not accept the request or its caller. */
const NOT_BEGUN: ReadonlySet<number> = new Set([3, 7, 12, 16]);

/** Messages that LND sends before it records a payment (`extractIntentFromSendRequest` of its router). */
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

/** The message for a channel whose coins LND has locked or spent. */
const COIN_TAKEN = /^outpoint already spent or locked by another subsystem/;

/** Messages that LND sends before it agrees with the peer on a channel's funding, or when the two do not agree. */
const BEFORE_A_CHANNEL: readonly RegExp[] = [
  /^peer [0-9a-f]+ is not online$/,
  /^not enough witness outputs to create funding transaction/,
  /^insufficient funds available to construct transaction/,
  /^reserved wallet balance invalidated/,
  COIN_TAKEN,
  /^channel is too small/,
  /^funding amount is too large/,
  /^local funding amount must be non-zero$/,
  /^received funding error from/,
  /^channels cannot be created before the wallet is fully synced$/,
  /^cannot open channel to self$/,
];

/** Messages that LND sends before it asks the peer to close a channel. */
const BEFORE_A_CLOSE: readonly RegExp[] = [
  /^unable to find channel/,
  /^channel not found/,
  /^cannot close channel with state/,
  /^cannot co-op close frozen channel/,
  /^unable to gracefully close channel while peer is offline/,
];

/** Messages that LND sends before its sweeper takes a coin. */
const BEFORE_A_BUMP: readonly RegExp[] = [
  /^the passed output does not belong to the wallet/,
  /^unable to bump fee of a confirmed transaction$/,
];

/** For `/v2/router/send`, before the first item of its stream. */
export const refusesToPay: Certainty = (refusal) => isCertain(refusal, BEFORE_A_PAYMENT);
/** For `/v2/wallet/tx`. No message proves a refusal: a transaction that LND refused may have reached the network. */
export const refusesToPublish: Certainty = (refusal) => isCertain(refusal, []);
/** For POST `/v1/channels`. */
export const refusesToOpen: Certainty = (refusal) => isCertain(refusal, BEFORE_A_CHANNEL);
/** Returns whether LND opened no channel because it has locked or spent a coin that was to fund it. */
export function isCoinTaken(error: unknown): boolean {
  return COIN_TAKEN.test(refusalText(error));
}
/** For DELETE `/v1/channels/...`, before the first item of its stream. */
export const refusesToClose: Certainty = (refusal) => isCertain(refusal, BEFORE_A_CLOSE);

/** For POST `/v2/wallet/bumpfee`. */
export const refusesToBump: Certainty = (refusal) => isCertain(refusal, BEFORE_A_BUMP);

function isCertain(refusal: LndRefusal, words: readonly RegExp[]): boolean {
  const { grpcCode, text } = refusal;
  if (wasTurnedAway(refusal) || NOT_BEGUN.has(grpcCode)) return true;
  // LND answers so for a path that it was built without. For a payment or invoice that it does not know it uses other
  // words.
  if (grpcCode === 5 && text === 'Not Found') return true;
  return grpcCode === 2 && words.some((known) => known.test(text));
}
