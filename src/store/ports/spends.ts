import type { ClientRecord } from '../../model/clients/client.ts';
import type { Payment } from '../../model/payment.ts';
import type { PaymentIndex } from '../../model/payment-index.ts';
import type { BudgetReservation, BudgetRules, PeriodStart } from './budgets.ts';
import type { ObservationRules } from './observations.ts';

/**
 * The state of a spend. `begun`: the request has certainly not left. `awaiting`: it leaves only when the payment is
 * approved. `asked`: it may have left. `known`: the node has shown the attempt. The row is deleted when the payment is
 * final. See docs/architecture.md, A spend.
 */
export type SpendState = 'begun' | 'awaiting' | 'asked' | 'known';

/** An outgoing payment that is not over. */
export interface Spend {
  readonly walletId: string;
  /** The payment as it was begun. */
  readonly payment: Payment;
  readonly state: SpendState;
  /** The newest attempt before the node was asked. Null on chain, and where attempts have no numbers. */
  readonly afterAttempt: number | null;
  readonly attempt: number | null;
  /** What is sent, as JSON, where a repeat must send exactly the same, such as a signed transaction; null otherwise. */
  readonly plan: string | null;
  /** The BOLT 12 invoice that was fetched for an offer and is paid, as text; null for every other payment. */
  readonly fetchedInvoice: string | null;
  /** Hex public key of the client that pays, or `owner`. */
  readonly caller: string;
  /** The Idempotency-Key of the request; null when it had none. */
  readonly idempotencyKey: string | null;
  /** Until when the payment can be approved, by the node's clock; null for one that did not wait. */
  readonly approveUntilMs: number | null;
}

/** A spend to begin. */
export interface NewSpend extends Omit<Spend, 'walletId' | 'attempt'> {
  /** Whether the payment is also written to the journal, as it is on nodes without an order of updates. */
  readonly journaled: boolean;
  readonly reservation: BudgetReservation | null;
  /**
   * The newest payment with the same id that the caller has seen, in its status then; null when there was none. Looked
   * at only where the payment is journaled.
   */
  readonly previous: Pick<Payment, 'index' | 'status'> | null;
  /**
   * Throws when a refund would take more than was received, beside what the earlier ones of that payment take, in
   * millisatoshis. A pure function; it is called for payments with a `refundOf`.
   */
  readonly requireLeft?: (refundedMsat: bigint) => void;
  /** The rule by which endpoints are told of a spend that is `awaiting`; of any other they are not told. */
  readonly deliver?: ObservationRules['deliver'];
}

/** Spends: rows that are written before anything is sent (docs/decisions.md 33). */
export interface SpendStore {
  /**
   * Writes the spend, its fetched invoice, its watch, its budget reservation and what it takes of the payment that it
   * refunds (docs/decisions.md 194), in one transaction, and binds it where it is `asked`: its index is written to the
   * row of its Idempotency-Key, and its journal row is written, which readers are shown by an observation or by `show`
   * of the journal (docs/decisions.md 168). Where it is `awaiting` readers are shown its journal row at once, and its
   * deliveries are written (docs/decisions.md 187). So are those of a budget that is low then, unless there are some of
   * its webhook-id (docs/decisions.md 190). When the rules throw, nothing is written and the error is passed on.
   * Returns false, and writes nothing, when the newest payment with its id is not `previous` any more.
   */
  begin(walletId: string, spend: NewSpend, rules: BudgetRules): Promise<boolean>;
  /**
   * Moves a spend from `begun` to `asked`, stores what is sent (see {@link Spend.plan}), and binds it. Throws when
   * there is no such spend.
   */
  asked(
    walletId: string,
    index: PaymentIndex,
    asked: { readonly plan: string | null; readonly journaled: boolean },
  ): Promise<void>;
  /**
   * Moves a spend from `awaiting` to `asked`, with what is sent and the newest attempt that the node has, and its
   * journal row with it. Returns false, and writes nothing, where the spend does not wait, or not at `nowMs` any more,
   * or its client may not pay by `mayPay`: null stands for a client that is not there.
   */
  approve(
    walletId: string,
    index: PaymentIndex,
    approved: {
      readonly plan: string | null;
      readonly afterAttempt: number | null;
      readonly journaled: boolean;
      readonly nowMs: number;
    },
    mayPay: (client: ClientRecord | null) => boolean,
  ): Promise<boolean>;
  /**
   * Undoes {@link begin} where nothing was sent: deletes the spend, its fetched invoice, its watch, journal row, cached
   * row and reservations, and unbinds the key. Leaves a spend alone that the node has shown.
   */
  abandon(walletId: string, index: PaymentIndex, periodStart: PeriodStart): Promise<void>;
  get(walletId: string, index: PaymentIndex): Promise<Spend | null>;
  /**
   * The invoice that was fetched for the payment of an offer, pending or completed: a payer proof of it needs the
   * invoice. Null for every other payment.
   */
  fetchedInvoice(walletId: string, index: PaymentIndex): Promise<string | null>;
  /** The client that made an outgoing payment; null when the owner made it, or it is not known. */
  callerOf(walletId: string, index: PaymentIndex): Promise<string | null>;
  /** Every spend of the wallet that is not over, oldest first. */
  unfinished(walletId: string): Promise<Spend[]>;
  /** What refunds take of these received payments, in millisatoshis, where that is anything. */
  refunded(
    walletId: string,
    received: readonly PaymentIndex[],
  ): Promise<ReadonlyMap<PaymentIndex, bigint>>;
  wallets(): Promise<string[]>;
  /**
   * Reserves for a cost that is not a payment, such as a channel's fee, under a name of its own, and tells of a budget
   * as {@link begin} does. Once the name is settled it reserves nothing more, because the name stands for something
   * that happens once.
   */
  reserve(
    walletId: string,
    name: string,
    reservation: BudgetReservation,
    rules: BudgetRules,
  ): Promise<void>;
  /** Replaces the name's reservation by its true cost, in the period in which it was reserved; 0 gives it back. */
  settle(walletId: string, name: string, costMsat: bigint, periodStart: PeriodStart): Promise<void>;
}
