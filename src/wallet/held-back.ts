import { idOf, type Payment } from '../model/payment.ts';
import type { PaymentId } from '../model/payment-index.ts';
import type { ObservedPayment } from '../store/ports.ts';

/**
 * What a node tells of payments while a request to send them is on its way. Only the answer to the request says whose
 * an attempt is: one of another program would otherwise be taken for its own (docs/decisions.md 142).
 */
export class HeldBack {
  readonly #byId = new Map<PaymentId, { requests: number; readonly told: ObservedPayment[] }>();

  /** Holds back what is told of that payment. Returns a function that ends it, and returns what was told. */
  hold(id: PaymentId): () => readonly ObservedPayment[] {
    const held = this.#byId.getOrInsertComputed(id, () => ({ requests: 0, told: [] }));
    held.requests++;
    return () => {
      held.requests--;
      if (held.requests > 0) return [];
      this.#byId.delete(id);
      return held.told;
    };
  }

  /** The observations that are not held back. The answer to a request itself never is. */
  without(observations: readonly ObservedPayment[]): readonly ObservedPayment[] {
    if (this.#byId.size === 0) return observations;
    return observations.filter((one) => {
      const held = one.answers || !isSend(one.payment) ? null : this.#byId.get(idOf(one.payment));
      held?.told.push(one);
      return !held;
    });
  }
}

function isSend({ direction, rail }: Payment): boolean {
  return direction === 'outbound' && rail !== 'onchain';
}
