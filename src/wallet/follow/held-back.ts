import { idOf, isFinal, isLightningSend } from '../../model/payment.ts';
import type { PaymentId } from '../../model/payment-index.ts';
import type { ObservedPayment } from '../../store/ports.ts';

interface Held {
  requests: number;
  answer: 'none' | 'stored' | 'lost';
  readonly told: ObservedPayment[];
}

/**
 * What a node tells of payments while a request to send them is on its way. Only the answer to the request says whose
 * an attempt is: one of another program would otherwise be taken for its own (docs/decisions.md 142).
 */
export class HeldBack {
  readonly #byId = new Map<PaymentId, Held>();

  /** Holds back what is told of that payment. Returns a function that ends it, and returns what is to be stored now. */
  hold(id: PaymentId): () => readonly ObservedPayment[] {
    const held = this.#byId.getOrInsertComputed(
      id,
      (): Held => ({ requests: 0, answer: 'none', told: [] }),
    );
    held.requests++;
    return () => {
      held.requests--;
      if (held.requests > 0) return [];
      this.#byId.delete(id);
      return toStore(held);
    };
  }

  /** Must be called where a request may have been carried out and its answer says nothing. */
  answerLost(id: PaymentId): void {
    const held = this.#byId.get(id);
    if (held) held.answer = 'lost';
  }

  /** The observations that are not held back. The answer to a request itself never is, nor the wallet's own word. */
  without(observations: readonly ObservedPayment[]): readonly ObservedPayment[] {
    if (this.#byId.size === 0) return observations;
    return observations.filter((one) => {
      const held = isLightningSend(one.payment) ? this.#byId.get(idOf(one.payment)) : undefined;
      if (held === undefined || one.ownWord) return true;
      if (one.answers) held.answer = 'stored';
      else held.told.push(one);
      return one.answers !== undefined;
    });
  }
}

function toStore({ answer, told }: Held): readonly ObservedPayment[] {
  // The request made nothing, so what the node told is the newest that there is.
  if (answer === 'none') return told;
  // The answer is newer than what was under way before it.
  const ended = told.filter(({ payment }) => isFinal(payment));
  if (answer === 'stored') return ended;
  // An attempt that failed may be another program's, and ours under way: the node is asked which one it has now.
  return ended.filter(({ attempt }) => attempt === null);
}
