import type { Payment, Rail } from '../../model/payment.ts';
import type { PaymentId, PaymentIndex } from '../../model/payment-index.ts';
import type { SendReport, SignedSend } from '../../nodes/node.ts';

/** The wallet's own identity of a spend. */
export interface SendIdentity {
  readonly index: PaymentIndex;
  readonly createdAtMs: number;
}

/** What is known of a payment before anything is fetched or signed for it. */
export interface SendTerms {
  readonly id: PaymentId;
  readonly rail: Rail;
  readonly amountMsat: bigint;
  /** The highest fee, in millisatoshis. It counts in the budget until the outcome is known. */
  readonly maxFeeMsat: bigint;
  /** Whether another payment may follow a failed one with the same id. */
  readonly again: 'after-failure' | 'never';
  /**
   * Throws when the payment cannot be made now, for example because its invoice has expired. It is not called when an
   * earlier payment is returned.
   */
  readonly requirePayable?: () => void;
  /** Fields of the payment that are known before the node is asked. */
  readonly details: Partial<Payment>;
}

/** A payment whose invoice the node must fetch first, from the issuer of an offer. */
export interface UnfetchedPlan extends SendTerms {
  /** Fetches and checks the invoice, and returns the plan to pay it. Moves no money. */
  readonly fetch: () => Promise<SendPlan>;
}

/** A payment that is to be made. */
export interface SendPlan extends SendTerms {
  /** What a repeat must send again, as JSON. It is stored before the node is asked; null or absent for nothing. */
  readonly stored?: string | null;
  /** The invoice that was fetched for an offer, as text. It is stored before the node is asked to pay it. */
  readonly fetchedInvoice?: string;
  /**
   * Signs the transaction, which is stored before the node is asked to publish it; null when there is nothing to sign.
   */
  readonly sign: ((identity: SendIdentity) => Promise<SignedSend>) | null;
  /** Asks the node to send, and returns its report. */
  readonly start: (identity: SendIdentity, signed: SignedSend | null) => Promise<SendReport>;
}
