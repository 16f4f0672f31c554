import type { LndTransaction } from './wire.ts';

/** Within this time after a transaction was first seen LND has put its own label on it. */
export const LABELED_WITHIN_MS = 500;

/**
 * Holds back unconfirmed transactions without a label until LND had time to label them: one that opens or closes a
 * channel would be taken for a payment otherwise, as it may be heard of from the network first.
 */
export class LabelGrace {
  readonly #elapsedMs: () => number;
  #firstSeenMs = new Map<string, number>();
  #waiting = false;

  /** `elapsedMs` measures durations, whatever is done to the machine's clock. */
  constructor(elapsedMs: () => number) {
    this.#elapsedMs = elapsedMs;
  }

  /** Whether a transaction was held back the last time. */
  get waiting(): boolean {
    return this.#waiting;
  }

  /** The transactions whose labels are as they will stay. */
  ripe(transactions: readonly LndTransaction[]): LndTransaction[] {
    const nowMs = this.#elapsedMs();
    const seen = new Map<string, number>();
    const ripe = transactions.filter(({ tx_hash, label, num_confirmations }) => {
      if (label !== '' || num_confirmations > 0) return true;
      const firstSeenMs = this.#firstSeenMs.get(tx_hash) ?? nowMs;
      seen.set(tx_hash, firstSeenMs);
      return nowMs - firstSeenMs >= LABELED_WITHIN_MS;
    });
    this.#firstSeenMs = seen;
    this.#waiting = ripe.length < transactions.length;
    return ripe;
  }
}
