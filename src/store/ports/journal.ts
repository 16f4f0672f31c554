import type { Payment } from '../../model/payment.ts';
import type { PaymentId, PaymentIndex, UpdatedIndex } from '../../model/payment-index.ts';

/** A row of the journal: a payment, and the node's attempt that it stands for. */
export interface JournalRow {
  readonly payment: Payment;
  /** The node's own number of an outgoing Lightning attempt. Null while it is unknown, and for all other payments. */
  readonly attempt: number | null;
  /** The newest attempt that the node had before it was asked to send. Null where no attempt is expected. */
  readonly afterAttempt: number | null;
  /** Whether no reader was shown the payment yet, so that it has no place in the order of updates. */
  readonly isHidden?: boolean;
}

/**
 * Payments of nodes without an order of updates, in the order in which the sidecar stored their changes
 * (docs/decisions.md 82).
 */
export interface PaymentJournal {
  /** The newest update; as {@link updatedAfter}, without payments that no reader is shown yet. */
  tip(walletId: string): Promise<UpdatedIndex | null>;
  updatedAfter(walletId: string, after: UpdatedIndex | null, limit: number): Promise<Payment[]>;
  /** The payment with that index, or the one to which the spend of that index gave way. */
  get(walletId: string, index: PaymentIndex): Promise<Payment | null>;
  /**
   * The newest payment with that id that did not fail, or else the newest. A failed attempt of another program may be
   * younger than the payment that stands.
   */
  latest(walletId: string, id: PaymentId): Promise<Payment | null>;
  /**
   * Shows readers a payment that they were not shown yet, as the newest update. Null when there is none with that
   * index, or readers have been shown it (docs/decisions.md 168).
   */
  show(walletId: string, index: PaymentIndex): Promise<Payment | null>;
  /** The pending payments, in the order of their index, also those that no reader is shown yet. */
  open(walletId: string): Promise<Payment[]>;
  /** Those of {@link open} that are on chain, at a cost that does not grow with the others. */
  openOnchain(walletId: string): Promise<Payment[]>;
  /** Sets or clears (null) the note, which is an update of the payment. Null when there is no such payment. */
  setPersonalNote(
    walletId: string,
    index: PaymentIndex,
    note: string | null,
    nowMs: number,
  ): Promise<Payment | null>;
}
