import { requireEnough } from '../remote/sendable.ts';
import { maxSendableMsat } from './channels.ts';
import type { LndRest } from './rest.ts';

/** What was read earlier than this says nothing of now. */
const FRESH_MS = 1000;

/**
 * What the wallet's channels can send. LND is asked while the wallet still prepares a payment, so that the payment need
 * not wait for the answer.
 */
export class Sendable {
  readonly #elapsedMs: () => number;
  #ahead: { readonly atMs: number; readonly amountMsat: Promise<bigint> } | null = null;

  /** `elapsedMs` is a monotonic clock. */
  constructor(elapsedMs: () => number) {
    this.#elapsedMs = elapsedMs;
  }

  /** Begins to read for the next {@link require}. */
  readAhead(owner: LndRest): void {
    // The read that counts is repeated by `require`, which also reports its error.
    const amountMsat = maxSendableMsat(owner).catch(() => 0n);
    this.#ahead = { atMs: this.#elapsedMs(), amountMsat };
  }

  /**
   * Throws `refused` when the channels cannot send the amount: what cannot be sent at all makes no payment
   * (docs/decisions.md 14), while LND would record a failed one.
   */
  async require(owner: LndRest, amountMsat: bigint): Promise<void> {
    const ahead = this.#ahead;
    this.#ahead = null;
    const isFresh = ahead !== null && this.#elapsedMs() - ahead.atMs < FRESH_MS;
    if (isFresh && amountMsat <= (await ahead.amountMsat)) return;
    requireEnough(amountMsat, await maxSendableMsat(owner));
  }
}
