import { sha256 } from '@noble/hashes/sha2.js';
import { hex } from '@scure/base';
import { type FeePolicy, feeCapMsat } from '../../model/fee-cap.ts';
import { type SendWords, sendWords } from '../../model/payment.ts';
import { paymentId } from '../../model/payment-index.ts';
import type { EffectNames } from '../session/effect-names.ts';
import { nodeGroup, type OnNode } from '../session/session.ts';
import type { SendPlan } from './send-plan.ts';

/** A request to pay a node without an invoice. */
interface SpontaneousPaymentRequest extends SendWords {
  /** Hex public key of the receiving node. */
  readonly nodePk: string;
  readonly amountMsat: bigint;
  readonly maxFeeMsat: bigint | null;
  readonly message: string | null;
}

/**
 * Sets the fee cap and the preimage of a payment without an invoice. The preimage comes from the request's key or from
 * randomness, and names the payment. Throws error 110 where the node has no such payments. Sends nothing.
 */
export function planSpontaneousPayment(
  request: SpontaneousPaymentRequest,
  session: OnNode,
  fees: FeePolicy,
  names: EffectNames,
): SendPlan {
  const spontaneous = nodeGroup(session, 'spontaneous');
  const { nodePk, amountMsat, message } = request;
  const secret = names.bytes('spontaneous payment');
  const hash = hex.encode(sha256(secret));
  const preimage = hex.encode(secret);
  const maxFeeMsat = feeCapMsat(amountMsat, request.maxFeeMsat, fees);
  const words = { message, ...sendWords(request) };
  const repeat = { nodePk, preimage, maxFeeMsat };
  return {
    id: paymentId('ln', hash),
    rail: 'spontaneous',
    amountMsat,
    maxFeeMsat,
    again: 'never',
    details: { hash, ...words },
    repeat,
    sign: null,
    start: (identity) => spontaneous.pay({ ...identity, ...repeat, amountMsat, ...words }),
  };
}
