import type { Payment, Rail } from '../../model/payment.ts';
import type { PaymentId, PaymentIndex } from '../../model/payment-index.ts';
import type { SendReport, SignedSend } from '../../nodes/node.ts';
import type { FeeCap, OfferTerms, SpontaneousTerms } from './spend.ts';

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
export type SendPlan = LightningPlan | OnchainPlan;

/** A payment that is asked for in one step. */
export interface LightningPlan extends SendTerms {
  readonly rail: Exclude<Rail, 'onchain'>;
  /** What a repeat must send again. It is stored before the node is asked; absent where nothing is sent again. */
  readonly repeat?: FeeCap | OfferTerms | SpontaneousTerms;
  /** The invoice that was fetched for an offer, as text. It is stored before the node is asked to pay it. */
  readonly fetchedInvoice?: string;
  readonly sign: null;
  /** Asks the node to send, and returns its report. */
  readonly start: (identity: SendIdentity) => Promise<SendReport>;
}

/** A payment whose transaction is signed and stored before the node is asked to publish it. */
export interface OnchainPlan extends SendTerms {
  readonly rail: 'onchain';
  /** What is kept of it while it waits for approval, before which nothing is signed. */
  readonly repeat: FeeCap;
  readonly fetchedInvoice?: never;
  readonly sign: (identity: SendIdentity) => Promise<SignedSend>;
  /** Asks the node to publish what was signed, and returns its report. */
  readonly start: (identity: SendIdentity, signed: SignedSend) => Promise<SendReport>;
}
