import type { Payment } from '../../model/payment.ts';
import type { PaymentId, PaymentIndex, UpdatedIndex } from '../../model/payment-index.ts';
import type { WalletNode } from '../../nodes/node.ts';
import type { ObservationRules, ObservedPayment, Watch } from '../../store/ports.ts';
import type { FeedStanding } from './feed-standing.ts';
import type { OnePaymentListener, PaymentListener } from './payment-listeners.ts';
import type { Unanswered } from './unanswered.ts';

/** What operations ask of the feed that follows a wallet's payments. */
export interface PaymentFeed {
  /** The spends that no reader is shown yet. */
  readonly unanswered: Unanswered;
  /** The feed's state while it is open; null otherwise. */
  readonly standing: FeedStanding | null;
  /** How many changes were told since the process started. */
  readonly changes: number;
  /** Keeps the feed open until the returned function is called. */
  hold(): () => void;
  /** Calls `listener` after every stored change, until the returned function is called; the feed stays open. */
  listen(listener: PaymentListener): () => void;
  listenTo(index: PaymentIndex, listener: OnePaymentListener): () => void;
  /**
   * Stores where the feed begins, if that is not stored yet. This must be awaited before the first watched payment is
   * made: a feed that began after it would never see it.
   */
  prepare(node: WalletNode): Promise<void>;
  /** Must be called after a watch was stored, so that the feed opens. */
  watchAdded(): void;
  /** Calls the listeners with a change that is stored. */
  emit(payment: Payment): void;
  /**
   * Stores a payment that the node has just shown. Returns it as the journal has it, or as the node showed it when the
   * node keeps the history. Its end is stored in either case, because it must be stored before a caller learns of it.
   */
  record(observation: ObservedPayment, node: WalletNode): Promise<Payment>;
  /** {@link record} for callers that do not need the payment as the journal has it. */
  observe(observation: ObservedPayment, node: WalletNode): Promise<void>;
  /** {@link observe} and {@link prepare} for what the wallet issues, with its watches, in one write. */
  observeIssued(
    observation: ObservedPayment,
    watches: readonly Watch[],
    node: WalletNode,
  ): Promise<void>;
  /** {@link observe} for what the feed may have stored already. */
  observeOnce(observation: ObservedPayment, node: WalletNode): Promise<void>;
  /**
   * Runs a request to send that payment. What the node tells of it meanwhile is stored after the answer, which alone
   * says whose an attempt is; what that has changed is told to `onTold`.
   */
  whileSending<T>(
    id: PaymentId,
    node: WalletNode,
    work: () => Promise<T>,
    onTold?: (changed: readonly Payment[]) => void,
  ): Promise<T>;
  /** Must be called in {@link whileSending} where the answer was lost. The caller then asks the node what it has. */
  answerLost(id: PaymentId): void;
}

/** A wallet's payments in the order of their updates, which either the node or the store's journal keeps. */
export interface History {
  payment(index: PaymentIndex): Promise<Payment | null>;
  /** {@link payment} without asking a node that is followed by a journal. */
  stored(index: PaymentIndex): Promise<Payment | null>;
  /** The newest payment with that id; null when there is none. */
  latest(id: PaymentId): Promise<Payment | null>;
  tip(): Promise<UpdatedIndex | null>;
  /** Payments updated after `after`, oldest update first, in their newest state. Null begins with the first. */
  updatedAfter(after: UpdatedIndex | null, limit: number): Promise<Payment[]>;
  /**
   * Yields all that {@link updatedAfter} returns, in pages of at most `size.payments`, until there is no more. What a
   * node has shown is yielded while the rest is read from it. Throws when the node cannot be read to its end.
   */
  pagesAfter(
    after: UpdatedIndex | null,
    size: { readonly payments: number },
  ): AsyncGenerator<Payment[], void, undefined>;
}

/** Finds out what became of spends whose request may have left. */
export interface SpendResolver {
  /**
   * Resolves once the spends that the previous process left unfinished were compared with the node
   * (docs/decisions.md 41); later calls resolve at once. Throws `unreachable` (error 3) while the node cannot be asked;
   * the next call tries again.
   */
  ready(): Promise<void>;
  /**
   * Deletes a spend whose request certainly did not leave. Throws when that cannot be stored, and then goes on trying:
   * a row that stayed would hold its key and its reservation for ever.
   */
  giveUp(index: PaymentIndex): Promise<void>;
  /**
   * Must be called when the outcome of a spend is unknown. Readers are then shown it (docs/decisions.md 168), and the
   * node is asked until it shows the outcome. What cannot be stored now is stored before the node is asked.
   */
  resolve(index: PaymentIndex): Promise<void>;
  /**
   * Rejects with error 3 once the node has been out of reach for a minute and the payment is still not over, also where
   * another program makes it (docs/decisions.md 36). It never resolves, and stops checking when `signal` aborts.
   */
  outOfReach(index: PaymentIndex, signal: AbortSignal): Promise<never>;
}

/** Payments that wait for approval (docs/decisions.md 187). */
export interface WaitingApprovals {
  /** For how long a payment waits, in milliseconds. */
  readonly waitMs: number;
  /** The rule by which endpoints are told of a payment that begins to wait. */
  readonly deliver: ObservationRules['deliver'];
  /** Must be called after a spend was stored that waits: shows it to readers, and wakes what ends it in time. */
  began(payment: Payment, node: WalletNode): Promise<Payment>;
  /** Ends what waits no longer: the time is over, or the client that asked may not pay any more. */
  sweep(): Promise<void>;
  /** Ends the payment as failed, for which nothing was sent. The caller holds the lock of its id. */
  end(payment: Payment, statusMsg: string, node: WalletNode): Promise<Payment>;
}

/** Guards budgets: a store that does not fit its marker was restored, and does not know what was spent since. */
export interface StoreGuard {
  /** Sentences for health that say what is wrong and what to do; null when all is well. */
  problem(): string | null;
  /** Throws `overBudget` (error 109) while the store is not trusted. It is called for clients with a budget. */
  requireTrusted(): void;
  /**
   * Compares the store with its marker and with what this process has written, and then writes the marker. It does
   * not write the marker of a store that is not trusted. Throws `overCapacity` (error 8) when the file cannot be
   * written or the store cannot be read.
   */
  keepUp(): Promise<void>;
  /** {@link keepUp} and {@link requireTrusted}, to be awaited after a reservation, before anything is sent. */
  requireKept(): Promise<void>;
  /** Called when the owner confirms the budgets: clients may spend again. Throws as {@link keepUp} does. */
  confirm(): Promise<void>;
}
