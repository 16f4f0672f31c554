import type { Payment } from '../../model/payment.ts';
import type { PaymentIndex } from '../../model/payment-index.ts';

/** Is called with a payment after a change of it was stored. */
export type PaymentListener = (payment: Payment) => void;

/** Is called with a payment after a change of it was stored, and with null when it is gone: nothing was sent. */
export type OnePaymentListener = (payment: Payment | null) => void;

/** Who is to be told of changed payments: of every one, or of one payment alone. */
export class PaymentListeners {
  readonly #any = new Set<PaymentListener>();
  readonly #byIndex = new Map<PaymentIndex, Set<OnePaymentListener>>();
  #told = 0;

  /** How many changes were told, to whomever listened. */
  get told(): number {
    return this.#told;
  }

  /** Adds a listener for every payment. Returns the function that removes it. */
  add(listener: PaymentListener): () => void {
    this.#any.add(listener);
    return () => void this.#any.delete(listener);
  }

  /** Adds a listener for one payment. Returns the function that removes it. */
  addFor(index: PaymentIndex, listener: OnePaymentListener): () => void {
    const listeners = this.#byIndex.get(index) ?? new Set();
    this.#byIndex.set(index, listeners);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      if (listeners.size > 0 || this.#byIndex.get(index) !== listeners) return;
      this.#byIndex.delete(index);
    };
  }

  emit(payment: Payment): void {
    this.#told++;
    this.emitFor(payment.index, payment);
    for (const listener of this.#any) listener(payment);
  }

  /** Calls the listeners of that index alone. */
  emitFor(index: PaymentIndex, payment: Payment | null): void {
    for (const listener of this.#byIndex.get(index) ?? []) listener(payment);
  }
}
