import type { Budget } from '../model/budget.ts';
import type { DeliveryJson, DeliveryState } from '../model/delivery.ts';
import type { Direction, Payment, Rail } from '../model/payment.ts';
import type { PaymentId, PaymentIndex, UpdatedIndex } from '../model/payment-index.ts';

/**
 * What this program remembers, behind async ports that name no database. A `walletId` is the wallet's hex user_pk.
 * Every method is one atomic step; what it wrote is durable when it answers.
 */
export interface Store {
  readonly cache: PaymentCache;
  readonly observations: ObservationStore;
  readonly journal: PaymentJournal;
  readonly intents: IntentStore;
  readonly watches: WatchStore;
  readonly credentials: CredentialStore;
  readonly outbox: Outbox;
  readonly idempotency: IdempotencyStore;
  readonly budgets: BudgetStore;
  readonly connectorState: ConnectorState;
  close(): Promise<void>;
}

/** The payment cache of the contract; stale between syncs on purpose. Keeps response JSON so reads do not parse. */
export interface PaymentCache {
  /** The newest update the cache has taken in; null when it is empty or was cleared. */
  cursor(walletId: string): Promise<UpdatedIndex | null>;
  /** Takes in payments and moves the cursor (never backwards). Counts rows that were not there, and that changed. */
  apply(
    walletId: string,
    payments: readonly Payment[],
    cursor: UpdatedIndex | null,
  ): Promise<{ numNew: number; numUpdated: number }>;
  /** Response JSON of one cached payment and whether it is final; null when not cached. */
  get(walletId: string, index: PaymentIndex): Promise<{ json: string; final: boolean } | null>;
  list(
    walletId: string,
    query: CacheQuery,
  ): Promise<{ json: string[]; nextIndex: PaymentIndex | null }>;
  /** Replaces the row of a payment if it is cached. */
  refresh(walletId: string, payment: Payment): Promise<void>;
  clear(walletId: string): Promise<void>;
}

/** What list_payments asks of the cache. */
export interface CacheQuery {
  readonly filter: 'all' | 'pending' | 'completed' | 'failed' | 'finalized';
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  /** Exclusive. */
  readonly after: PaymentIndex | null;
  readonly direction: Direction | null;
  readonly rail: Rail | null;
  /** created_at bounds, milliseconds, inclusive and exclusive. */
  readonly sinceMs: number | null;
  readonly untilMs: number | null;
}

/** Policy that {@link ObservationStore.apply} runs inside its transaction; both functions are pure. */
export interface ObservationRules {
  /** The payment's next state, or null when the observation changes nothing or is not allowed. */
  readonly transition: (previous: Payment | null, seen: Payment) => Payment | null;
  /** What to deliver for a watched payment that is final; null when no receiver is configured. */
  readonly deliver: (payment: Payment, walletId: string) => DeliveryDraft | null;
}

/** A webhook delivery to write. */
export interface DeliveryDraft {
  /** The webhook-id: derived from wallet and payment. */
  readonly id: string;
  /** The exact body to send and sign. */
  readonly body: string;
  readonly createdAtMs: number;
}

/** Where payments change state on our side. */
export interface ObservationStore {
  /** The connector cursor up to which observations were applied; undefined when none ever was. */
  cursor(walletId: string): Promise<string | null | undefined>;
  /** Sets the cursor where none is set, so that a feed begins there. */
  startAt(walletId: string, cursor: string | null): Promise<void>;
  /**
   * In one transaction: for each observation, the transition (against the journal row when `journaled`), the
   * journal row with its updated_at (strictly increasing per wallet), the outbox row when the payment is final and
   * watched (once per webhook-id, ever), the end of its watch, the settlement of its budget reservation; then the
   * cursor. Answers the payments that changed, in order, with their assigned updated_at, and whether a delivery
   * was written.
   */
  apply(
    walletId: string,
    batch: {
      readonly payments: readonly Payment[];
      readonly cursor: string | null;
      readonly journaled: boolean;
      readonly nowMs: number;
    },
    rules: ObservationRules,
  ): Promise<{ changed: Payment[]; deliveries: number }>;
}

/** Payments of nodes that keep no order of updates of their own, in the order this program saw them change. */
export interface PaymentJournal {
  tip(walletId: string): Promise<UpdatedIndex | null>;
  updatedAfter(walletId: string, after: UpdatedIndex | null, limit: number): Promise<Payment[]>;
  get(walletId: string, index: PaymentIndex): Promise<Payment | null>;
  /** The newest of that id. */
  latest(walletId: string, id: PaymentId): Promise<Payment | null>;
  /** Pending payments. */
  open(walletId: string): Promise<Payment[]>;
  /** Sets or clears the note, as an update. Null when there is no such payment. */
  setPersonalNote(
    walletId: string,
    index: PaymentIndex,
    note: string | null,
    nowMs: number,
  ): Promise<Payment | null>;
}

/** A payment about to be sent. */
export interface Intent {
  readonly payment: Payment;
  /** Whether the payment also becomes a journal row. */
  readonly journaled: boolean;
  readonly reservation: BudgetReservation | null;
  /** The idempotency key of the request that sends it. */
  readonly idempotencyKey: string | null;
}

/** What a payment may cost, held back from its client's budget. */
export interface BudgetReservation {
  readonly clientPk: string;
  readonly amountMsat: bigint;
  readonly nowMs: number;
}

/** Rows written before anything is sent. */
export interface IntentStore {
  /**
   * In one transaction: the watch, the journal row, the budget reservation, and the payment's index on the
   * idempotency row. Throws ApiError `overBudget` and writes nothing when the budget does not allow it.
   */
  begin(walletId: string, intent: Intent): Promise<void>;
  /** Undoes {@link begin} when the node refused and nothing was sent. */
  abandon(walletId: string, index: PaymentIndex, idempotencyKey: string | null): Promise<void>;
}

/** What a delivery is owed for. */
export type Watch =
  | { readonly kind: 'payment'; readonly index: PaymentIndex }
  | { readonly kind: 'offer'; readonly offerId: string }
  | { readonly kind: 'address'; readonly address: string };

/** What deliveries are owed for. */
export interface WatchStore {
  add(walletId: string, watch: Watch): Promise<void>;
  /** Wallets with at least one watch. */
  wallets(): Promise<string[]>;
  has(walletId: string): Promise<boolean>;
}

/** Credentials by which watching resumes after a restart. Secret: owner-only file. */
export interface CredentialStore {
  /** Remembers a credentials string; `clientPk` identifies it. */
  remember(walletId: string, clientPk: string, credentials: string): Promise<void>;
  known(walletId: string): Promise<string[]>;
  forget(walletId: string, clientPk: string): Promise<void>;
}

/** A delivery whose attempt is due. */
export interface DueDelivery {
  readonly id: string;
  readonly body: string;
  /** Attempts made before this one. */
  readonly attempts: number;
}

/** Webhook deliveries: attempts are rows, claims are leases, retries are data. */
export interface Outbox {
  /**
   * Leases up to `limit` deliveries that are due and not leased, oldest first. Attempts must be due within two leases:
   * what is due later than that was written before the clock was set back, and is answered too.
   */
  claim(options: { nowMs: number; leaseMs: number; limit: number }): Promise<DueDelivery[]>;
  delivered(id: string, nowMs: number): Promise<void>;
  /** Records a failed attempt; `nextAttemptAtMs` null leaves the delivery `failed`. */
  attemptFailed(id: string, error: string, nextAttemptAtMs: number | null): Promise<void>;
  /** When the next delivery is due or a lease ends; null when nothing is pending. */
  nextDueAt(): Promise<number | null>;
  list(query: DeliveryQuery): Promise<DeliveryJson[]>;
  /** Makes deliveries due again with fresh attempts; answers how many. */
  redeliver(
    which: { readonly walletId: string; readonly nowMs: number } & (
      | { readonly id: string }
      | { readonly sinceMs: number }
    ),
  ): Promise<number>;
  /**
   * Drops settled deliveries older than `beforeMs`, but for the newest `least`, since a clock that jumps ahead must not
   * make failed ones undeliverable; and the oldest settled ones beyond `most`.
   */
  prune(options: { beforeMs: number; least: number; most: number }): Promise<number>;
  /** Deliveries in each state. */
  counts(): Promise<Record<DeliveryState, number>>;
}

/** What the delivery log is asked for. */
export interface DeliveryQuery {
  readonly walletId: string;
  readonly state: DeliveryState | null;
  readonly limit: number;
  /** Only deliveries created before that one; newest first. */
  readonly before: string | null;
}

/** What became of an Idempotency-Key. */
export type IdempotencyState =
  | { readonly state: 'new' }
  | { readonly state: 'conflict' }
  | { readonly state: 'running'; readonly index: PaymentIndex | null }
  | { readonly state: 'done'; readonly httpStatus: number; readonly body: string };

/** Outcomes by Idempotency-Key (decisions section 6). */
export interface IdempotencyStore {
  /** Claims the key for a request with that fingerprint, or tells what became of it. */
  begin(
    walletId: string,
    key: string,
    fingerprint: string,
    nowMs: number,
  ): Promise<IdempotencyState>;
  finish(
    walletId: string,
    key: string,
    outcome: { httpStatus: number; body: string },
  ): Promise<void>;
  /** Releases a key whose request ended before anything was sent. Keeps it when a payment was begun. */
  release(walletId: string, key: string): Promise<void>;
  /**
   * Drops keys from before `beforeMs`, but for the newest `keep`: a clock that jumps ahead must not make recent
   * requests repeatable.
   */
  prune(options: { beforeMs: number; keep: number }): Promise<void>;
}

/** Budgets of clients (decisions section 7). */
export interface BudgetStore {
  set(walletId: string, clientPk: string, budget: Budget | null): Promise<void>;
  /** The budget with what is spent and reserved in its current period; null when the client has none. */
  get(
    walletId: string,
    clientPk: string,
    nowMs: number,
  ): Promise<{ budget: Budget; spentMsat: bigint } | null>;
}

/** JSON rows in which connectors keep what their node cannot, such as which client a root key belongs to. */
export interface ConnectorState {
  get(walletId: string, kind: string, key: string): Promise<unknown>;
  put(walletId: string, kind: string, key: string, value: unknown): Promise<void>;
  list(walletId: string, kind: string): Promise<{ key: string; value: unknown }[]>;
  /** The row of that key, whatever its wallet; keys of such rows are unique by themselves. */
  find(kind: string, key: string): Promise<{ walletId: string; value: unknown } | null>;
}
