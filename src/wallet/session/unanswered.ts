import { quietResolvers } from '../../lib/quiet-resolvers.ts';
import type { PaymentIndex } from '../../model/payment-index.ts';
import { onAbort } from './on-abort.ts';

/**
 * The spends whose request to the node has no answer yet. No reader is shown one of them, since the node may refuse it,
 * and then it was never there (docs/decisions.md 168).
 */
export class Unanswered {
  readonly #answers = new Map<PaymentIndex, Promise<void>>();

  /** Runs the work that stores a spend and asks the node, until its answer is there or known to be lost. */
  async during<T>(index: PaymentIndex, work: () => Promise<T>): Promise<T> {
    const { promise, resolve } = quietResolvers();
    this.#answers.set(index, promise);
    try {
      return await work();
    } finally {
      this.#answers.delete(index);
      resolve();
    }
  }

  has(index: PaymentIndex): boolean {
    return this.#answers.has(index);
  }

  /** Resolves when the spend is not unanswered any more. Rejects with the reason of a signal that aborts before. */
  async until(index: PaymentIndex, signals: readonly AbortSignal[]): Promise<void> {
    const { promise, reject } = quietResolvers<never>();
    const stop = onAbort(signals, reject);
    try {
      await Promise.race([this.#answers.get(index), promise]);
    } finally {
      stop();
    }
  }
}
