import { formatAmountMsat } from '../../../model/amount.ts';
import { type ClnRefusal, CODES } from './refusal.ts';

/** Tells of an error answer to a request that moves money whether it proves that nothing was done. */
export type Certainty = (refusal: ClnRefusal) => boolean;

/** A refusal with a code comes from the node itself, which has done nothing then. */
export const anyRefusal: Certainty = ({ code }) => code !== null;

/**
 * The codes with which `xpay` fails before it has reserved a route, so that no part was sent and none will be: the
 * parameters, the command or the rune, no route, one too expensive, an expired invoice, or one that the operator's
 * plugins declined. With every other code a part may still leave after the answer.
 */
const BEFORE_SENDING: ReadonlySet<number> = new Set([
  -32602, -32601, 1501, 1502, 1503, 205, 206, 207, 213, 217,
]);

/** Whether `xpay` has sent nothing and sends nothing any more. */
export const refusesToPay: Certainty = ({ code }) => code !== null && BEFORE_SENDING.has(code);

/** How `xpay` gives up where lightningd begins no part of a hash because of another attempt (lightningd/pay.c). */
const GAVE_WAY = /\binjectpaymentonion error 20[01]\b/;

/** Whether `xpay` ended because the hash is paid, or another attempt of it has a part on its way. */
export const gaveWay: Certainty = (refusal) =>
  refusal.code === CODES.alreadyPaid ||
  (refusal.code === CODES.pluginError && refusal.says(GAVE_WAY));

/** The codes with which no command begins: the parameters, the command or the rune. */
const NOT_BEGUN: ReadonlySet<number> = new Set([-32602, -32601, 1501, 1502, 1503]);

/** Whether `sendpsbt` did not begin. No other error is proof: the transaction may have reached the network. */
export const refusesToPublish: Certainty = ({ code }) => code !== null && NOT_BEGUN.has(code);

/** The codes with which a plugin or the node itself ended on the way. */
const CUT_SHORT: ReadonlySet<number> = new Set([-3, -4, -5]);
/** The code with which a transaction could not be published; most commands say it in words alone. */
const NOT_PUBLISHED = 303;

/**
 * Whether `fundchannel` ended without a channel. With an error it gives up and releases the coins. Where the funding
 * transaction could not be published, the network may have it all the same.
 */
export const refusesToOpen: Certainty = ({ code, text }) =>
  code !== null && code !== NOT_PUBLISHED && !CUT_SHORT.has(code) && !/broadcast/i.test(text);

/** Messages of `close` from before the peer is asked. */
const BEFORE_A_CLOSE =
  /^(?:Peer leased this channel|Channel is in state|Peer has (?:no active|multiple) channel)/;

/** Whether `close` has asked the peer nothing. */
export const refusesToClose: Certainty = ({ code, text }) =>
  code !== null && (NOT_BEGUN.has(code) || BEFORE_A_CLOSE.test(text));

/** Whether `xpay` itself gave the code, and not lightningd in its place, as when the plugin ended. */
export function isOfXpay(code: number): boolean {
  return code >= 200 && code < 300;
}

/** The reason of an attempt that failed while another one paid the hash; for `status_msg`. */
export const PAID_OTHERWISE = 'paid by another attempt';

/** The reason of an attempt that the node has lost (docs/decisions.md 169); for `status_msg`. */
export const LOST = 'lost by the node when it was stopped, which never pays this invoice again';
/** The reason of a payment that an attempt of another program, which the node has lost, keeps from being made. */
export const LOST_BY_OTHER =
  'not sent: the node has lost another payment of this invoice, and never pays it again';

/** How `xpay` says that the fee limit alone was in the way (plugins/askrene/child/mcf.c). */
const OVER_FEE_LIMIT = /\bwithout excessive cost\b|\bwe had a fee of \w+, greater than max of\b/;

/** Whether `xpay` knows a route, and none within the fee limit. */
export const exceedsFeeLimit: Certainty = (refusal) => refusal.says(OVER_FEE_LIMIT);

/** Why a payment failed, by the error with which `xpay` gave up; for `status_msg`. */
export function failureBy(refusal: ClnRefusal, maxFeeMsat: bigint): string {
  if (refusal.code === CODES.alreadyPaid) return PAID_OTHERWISE;
  if (exceedsFeeLimit(refusal)) return noRouteWithin(maxFeeMsat);
  return refusal.code === 203 ? 'rejected by the receiver' : 'no route';
}

/** That no route costs so little. */
export function noRouteWithin(maxFeeMsat: bigint): string {
  const sats = formatAmountMsat(maxFeeMsat);
  return `no route for at most ${sats} ${sats === '1' ? 'sat' : 'sats'} in fees`;
}
