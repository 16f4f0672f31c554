import type { PaymentIndex } from '../../model/payment-index.ts';
import type { ObservedPayment } from '../../store/ports.ts';

/** A call and the feed tell of the same update within moments, so few updates are kept for each wallet. */
const MOST = 32;

interface RecentUpdate {
  readonly updatedAtMs: number;
  /** Resolves to whether the update was stored. */
  readonly isStored: Promise<boolean>;
}

/**
 * The updates that were stored a moment ago, of a node that keeps the history. There every update has a time of its
 * own, so an observation of the same payment with the same time is the same update, and need not be stored again. A
 * call shows it, such as the one that creates an invoice, and the feed shows it as well.
 */
export class RecentUpdates {
  readonly #updates = new Map<PaymentIndex, RecentUpdate>();

  /** Must be called with observations that are being stored. */
  add(observations: readonly ObservedPayment[], stored: Promise<unknown>): void {
    const isStored = stored.then(
      () => true,
      () => false,
    );
    for (const { payment } of observations.slice(-MOST)) {
      const { index, updatedAtMs } = payment;
      this.#updates.delete(index);
      this.#updates.set(index, { updatedAtMs, isStored });
    }
    for (const index of this.#updates.keys()) {
      if (this.#updates.size <= MOST) return;
      this.#updates.delete(index);
    }
  }

  /** Resolves to the observations that are not known to be stored, once the others are. */
  async without(observations: readonly ObservedPayment[]): Promise<readonly ObservedPayment[]> {
    const fresh: ObservedPayment[] = [];
    for (const observation of observations) {
      // Waiting for each would take a twentieth of the time of a first sync.
      const recent = this.#same(observation);
      if (!recent || !(await recent.isStored)) fresh.push(observation);
    }
    return fresh;
  }

  #same({ payment }: ObservedPayment): RecentUpdate | null {
    const recent = this.#updates.get(payment.index);
    return recent?.updatedAtMs === payment.updatedAtMs ? recent : null;
  }
}
