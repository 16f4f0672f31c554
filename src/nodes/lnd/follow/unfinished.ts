import { isFinal, type Payment } from '../../../model/payment.ts';

/** LND cancels an expired invoice a moment after its expiry. */
const CANCELED_AFTER_MS = 1000;

interface OpenInvoice {
  readonly expiresAtMs: number;
  /** When it is to be looked up, in milliseconds since the epoch. */
  dueAtMs: number;
}

/**
 * The Lightning payments of a wallet that are not over, as far as its feed has seen them. LND tells of the end of every
 * send and of every payment that arrives, but not of invoices that expire, so those have a time at which they are
 * looked up.
 */
export class Unfinished {
  readonly #invoices = new Map<string, OpenInvoice>();
  readonly #sends = new Set<string>();
  #nextDueAtMs = Number.POSITIVE_INFINITY;

  note(payments: Iterable<Payment>): void {
    for (const payment of payments) {
      const { direction, rail, hash } = payment;
      if (rail === 'onchain' || hash === null) continue;
      if (direction === 'inbound') this.#noteInvoice(hash, payment);
      else if (isFinal(payment)) this.#sends.delete(hash);
      else this.#sends.add(hash);
    }
  }

  /** The payment hashes of all invoices that are open. */
  invoices(): string[] {
    return [...this.#invoices.keys()];
  }

  /** The payment hashes of all sends that are not over. */
  sends(): string[] {
    return [...this.#sends];
  }

  /** When the next invoice is to be looked up, in milliseconds since the epoch; infinite when none is. */
  get nextDueAtMs(): number {
    return this.#nextDueAtMs;
  }

  /**
   * Takes the invoices that are to be looked up now. One that is open even then is due again after as long as has
   * passed since its expiry: LND may be late, it keeps an invoice open whose HTLC is held, and it may have deleted it.
   */
  takeDue(nowMs: number): string[] {
    const due: string[] = [];
    this.#nextDueAtMs = Number.POSITIVE_INFINITY;
    for (const [hash, invoice] of this.#invoices) {
      if (invoice.dueAtMs <= nowMs) {
        due.push(hash);
        invoice.dueAtMs = nowMs + Math.max(nowMs - invoice.expiresAtMs, CANCELED_AFTER_MS);
      }
      this.#nextDueAtMs = Math.min(this.#nextDueAtMs, invoice.dueAtMs);
    }
    return due;
  }

  #noteInvoice(hash: string, payment: Payment): void {
    if (isFinal(payment)) {
      this.#invoices.delete(hash);
      return;
    }
    if (this.#invoices.has(hash)) return;
    const expiresAtMs = payment.expiresAtMs ?? Number.POSITIVE_INFINITY;
    const dueAtMs = expiresAtMs + CANCELED_AFTER_MS;
    this.#invoices.set(hash, { expiresAtMs, dueAtMs });
    this.#nextDueAtMs = Math.min(this.#nextDueAtMs, dueAtMs);
  }
}
