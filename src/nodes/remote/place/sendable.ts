import { formatAmountMsat } from '../../../model/amount.ts';
import { refused } from '../../../model/errors.ts';

/** The share of the sendable balance that is set aside for routing fees, in parts per million. */
const ROUTING_PPM = 10_000n;
const MILLION = 1_000_000n;

/** What can be sent of an amount when its routing fees come out of it too, in millisatoshis. */
export function lessRoutingFees(maxSendableMsat: bigint): bigint {
  return (maxSendableMsat * MILLION) / (MILLION + ROUTING_PPM);
}

/**
 * Throws `refused` when the channels cannot send the amount: what cannot be sent at all makes no payment
 * (docs/decisions.md 14), while a node may record a failed one.
 */
export function requireEnough(amountMsat: bigint, sendableMsat: bigint): void {
  if (amountMsat <= sendableMsat) return;
  throw refused(
    `The wallet can send ${formatAmountMsat(sendableMsat)} sats over Lightning now: pay less, or open a channel.`,
  );
}

/** What was read earlier than this says nothing of now. */
const FRESH_MS = 1000;

/**
 * What the wallet's channels can send. The node is asked while the wallet still prepares a payment, so that the payment
 * need not wait for the answer.
 */
export class Sendable {
  readonly #elapsedMs: () => number;
  #ahead: { readonly atMs: number; readonly amountMsat: Promise<bigint> } | null = null;

  /** `elapsedMs` is a monotonic clock. */
  constructor(elapsedMs: () => number) {
    this.#elapsedMs = elapsedMs;
  }

  /** Begins to read for the next {@link require}. `read` returns what the channels can send now, in millisatoshis. */
  readAhead(read: () => Promise<bigint>): void {
    // The read that counts is repeated by `require`, which also reports its error.
    const amountMsat = read().catch(() => 0n);
    this.#ahead = { atMs: this.#elapsedMs(), amountMsat };
  }

  /** Throws `refused` when the channels cannot send the amount; see {@link requireEnough}. */
  async require(read: () => Promise<bigint>, amountMsat: bigint): Promise<void> {
    const ahead = this.#ahead;
    this.#ahead = null;
    const isFresh = ahead !== null && this.#elapsedMs() - ahead.atMs < FRESH_MS;
    if (isFresh && amountMsat <= (await ahead.amountMsat)) return;
    requireEnough(amountMsat, await read());
  }
}
