import type { LndTransaction } from './wire.ts';

/** Milliseconds after a transaction was first seen within which LND puts its own label on it. */
export const LABELED_WITHIN_MS = 500;

/**
 * Holds back unconfirmed transactions without a label until LND has had time to label them. LND may learn from the
 * network of a transaction that opens or closes a channel before it labels it, and without the label it would look like
 * a payment.
 */
export class LabelGrace {
  readonly #elapsedMs: () => number;
  #firstSeenMs = new Map<string, number>();
  #waiting = false;

  /** `elapsedMs` is a monotonic clock, so that changes of the machine's clock do not matter. */
  constructor(elapsedMs: () => number) {
    this.#elapsedMs = elapsedMs;
  }

  /** Whether the last call of {@link withFinalLabel} held a transaction back. */
  get waiting(): boolean {
    return this.#waiting;
  }

  /** The transactions whose label does not change any more. */
  withFinalLabel(transactions: readonly LndTransaction[]): LndTransaction[] {
    const nowMs = this.#elapsedMs();
    const seen = new Map<string, number>();
    const final = transactions.filter(({ tx_hash, label, num_confirmations }) => {
      if (label !== '' || num_confirmations > 0) return true;
      const firstSeenMs = this.#firstSeenMs.get(tx_hash) ?? nowMs;
      seen.set(tx_hash, firstSeenMs);
      return nowMs - firstSeenMs >= LABELED_WITHIN_MS;
    });
    this.#firstSeenMs = seen;
    this.#waiting = final.length < transactions.length;
    return final;
  }
}
