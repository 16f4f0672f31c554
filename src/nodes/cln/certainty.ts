import type { Certainty } from './rpc.ts';

/**
 * The codes with which `xpay` fails before it has reserved a route, so that no part was sent and none will be: the
 * parameters, the command or the rune, no route, one too expensive, an expired invoice, or one that the operator's plugins
 * declined. With every other code a part may still leave after the answer.
 */
const BEFORE_SENDING: ReadonlySet<number> = new Set([
  -32602, -32601, 1501, 1502, 1503, 205, 206, 207, 213, 217,
]);

/** Whether `xpay` has sent nothing and sends nothing any more. */
export const refusesToPay: Certainty = ({ code }) => code !== null && BEFORE_SENDING.has(code);

/** Why a payment failed, by the code with which `xpay` gave up; for `status_msg`. */
export function failureBy(code: number | null): string {
  return code === 203 ? 'rejected by the receiver' : 'no route';
}
