import type { Payment } from '../../model/payment.ts';
import type { PaymentIndex } from '../../model/payment-index.ts';
import type { PeriodStart } from './budgets.ts';
import type { JournalRow } from './journal.ts';
import type { DeliveryDraft } from './outbox.ts';
import type { Watch } from './watches.ts';
import type { EndpointFilter } from './webhook-endpoints.ts';

/** The rows that an observation may be about, each read when it is accessed, before anything is written. */
export interface MatchCandidates {
  readonly sameIndex: JournalRow | null;
  readonly sameAttempt: JournalRow | null;
  /** The newest row with the same payment id that did not fail, or else the newest. */
  readonly latest: JournalRow | null;
}

/** A payment as the node reported it. It has the parts of a connector's observation that the rules need. */
export interface ObservedPayment {
  readonly payment: Payment;
  readonly attempt: number | null;
  readonly ampParts?: readonly { readonly hash: string; readonly preimage: string }[] | null;
  /** Whether a block has the payment's own transaction, so that no other replaces it now. */
  readonly inBlock?: boolean;
  /** True for the sidecar's own word: the node has shown nothing, so the spend is not `known`. */
  readonly ownWord?: boolean;
  /**
   * The spend about which the node said this. The spend gives way to the row that has the attempt when that is another
   * row, or when the attempt is certainly another program's (`isTaken`).
   */
  readonly answers?: { readonly index: PaymentIndex; readonly isTaken: boolean };
}

/** Pure rules, but for what they log, that {@link ObservationStore.apply} runs inside its transaction. */
export interface ObservationRules {
  /** The row that an observation is about, or null when it is about a payment that has none. */
  readonly match: (candidates: MatchCandidates, seen: ObservedPayment) => JournalRow | null;
  /** The next state of the payment, or null when the observation changes nothing or is not allowed. */
  readonly transition: (previous: Payment | null, seen: ObservedPayment) => Payment | null;
  /**
   * A payment that has no row yet, at an index that is free. `isTaken` says whether a row with that index exists.
   */
  readonly atFreeIndex: (payment: Payment, isTaken: (index: PaymentIndex) => boolean) => Payment;
  /** What a final payment cost, in place of its reservation: 0 gives it back, null leaves it as it is. */
  readonly costMsat: (payment: Payment) => bigint | null;
  readonly periodStart: PeriodStart;
  /** The watches that a final payment can match. One match is enough for a delivery. */
  readonly watchesOf: (payment: Payment) => readonly Watch[];
  /** The watch by which a payment that is not final gets a delivery as it is now; null when it gets none. */
  readonly milestoneOf: (payment: Payment) => Watch | null;
  /**
   * The delivery of a watched payment that is final or at its milestone, for those of the wallet's endpoints that hear
   * of it, and for the configured one; null when no endpoint does.
   */
  readonly deliver: (
    payment: Payment,
    walletId: string,
    endpoints: readonly EndpointFilter[],
  ) => DeliveryDraft | null;
}

/** A spend that gave way: its index leads to this payment from then on. */
export interface GaveWay {
  readonly from: PaymentIndex;
  readonly to: Payment;
}

/** Stores what nodes report. A stored status changes here and nowhere else (docs/decisions.md 44). */
export interface ObservationStore {
  /** The connector's cursor up to which observations are stored; undefined before the first. */
  cursor(walletId: string): Promise<string | null | undefined>;
  /** Sets the cursor where there is none, so that the feed begins there. */
  startAt(walletId: string, cursor: string | null): Promise<void>;
  /**
   * Stores the watches, applies the observations in order and moves the cursor, in one transaction. No observation may
   * end a watch that is stored with it. For each observation:
   * - it finds the row that the observation is about (in the journal when `journaled`, else among the spends) and the
   *   payment's next state, both by `rules`;
   * - it writes the journal row with its attempt and the next `updated_at`, which strictly increases within a wallet,
   *   also of a row that has not changed and that readers were not shown yet; a new row of what arrived on an issued
   *   offer gets the id that is kept for that offer;
   * - it marks the spend as known, or deletes it when the payment is final;
   * - of a final payment it settles the budget reservation, gives back its place among the unpaid invoices of a name,
   *   ends the watches, and, if the payment was watched, writes its deliveries, one for each endpoint. The endpoints of
   *   a webhook-id are those of the first time: when it is observed again, nothing is written;
   * - of a payment at its milestone it ends the watch for that, and, if it was watched, writes its deliveries;
   * - of a spend that gives way it deletes the spend, its journal row and cached row, gives its reservation or cost
   *   back, unbinds its key, moves its watch to the row that has the attempt, and keeps that row's index in its place
   *   (docs/decisions.md 142).
   * Returns the changed payments in order, each with its new `updated_at`, how many deliveries were written, and which
   * spends gave way to which payment.
   */
  apply(
    walletId: string,
    batch: {
      readonly observations: readonly ObservedPayment[];
      readonly watches?: readonly Watch[];
      readonly cursor: string | null;
      readonly journaled: boolean;
      readonly nowMs: number;
    },
    rules: ObservationRules,
  ): Promise<{ changed: Payment[]; deliveries: number; gaveWay: GaveWay[] }>;
}
