import { formatAmountMsat } from '../../model/amount.ts';
import { refused } from '../../model/errors.ts';

/** The share of the sendable balance that is set aside for routing fees, in parts per million. */
const ROUTING_PPM = 10_000n;
const MILLION = 1_000_000n;

/** What can be sent of an amount when its routing fees come out of it too, in millisatoshis. */
export function lessRoutingFees(maxSendableMsat: bigint): bigint {
  return (maxSendableMsat * MILLION) / (MILLION + ROUTING_PPM);
}

/**
 * Throws `refused` when the channels cannot send the amount: what cannot be sent at all makes no payment
 * (docs/decisions.md 14).
 */
export function requireEnough(amountMsat: bigint, sendableMsat: bigint): void {
  if (amountMsat <= sendableMsat) return;
  throw refused(
    `The wallet can send ${formatAmountMsat(sendableMsat)} sats over Lightning now: pay less, or open a channel.`,
  );
}
