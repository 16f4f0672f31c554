import type { Budget } from '../model/budget.ts';
import type { BudgetState, ClientRecord } from '../model/client.ts';
import type { DeliveryJson, DeliveryState } from '../model/delivery.ts';
import type { Direction, Payment, Rail } from '../model/payment.ts';
import type { PaymentId, PaymentIndex, UpdatedIndex } from '../model/payment-index.ts';

/**
 * Everything that the sidecar stores, as asynchronous ports that name no database (docs/decisions.md 107). A `walletId`
 * is the wallet's hex user_pk. Every method is one atomic step, and what it wrote is durable when its promise resolves.
 */
export interface Store {
  readonly cache: PaymentCache;
  readonly observations: ObservationStore;
  readonly journal: PaymentJournal;
  readonly spends: SpendStore;
  readonly watches: WatchStore;
  readonly clients: ClientStore;
  readonly outbox: Outbox;
  readonly idempotency: IdempotencyStore;
  readonly budgets: BudgetStore;
  readonly connectorState: ConnectorState;
  readonly identity: StoreIdentity;
  close(): Promise<void>;
}

/**
 * The identity of a store and its counter. The marker file holds both outside the database, and so shows whether the
 * database was restored from a backup (docs/decisions.md 69).
 */
export interface StoreIdentity {
  /** 32 hex characters, drawn when the store was created. */
  readonly id: string;
  /**
   * 32 random bytes that only this store holds. The names of a request's effects are derived from them
   * (docs/decisions.md 52).
   */
  readonly secret: Uint8Array;
  /** Grows with every start, every change of a client or budget and every reservation of a budget. */
  count(): Promise<number>;
  /**
   * Adds one to the counter and returns the new count, which is greater than `atLeast`. A restored store passes its
   * marker's count.
   */
  advance(atLeast?: number): Promise<number>;
}

/**
 * The cache that `list_payments` reads (docs/decisions.md 88). It is out of date between syncs on purpose. It holds the
 * JSON of answers, so that lists need no parsing.
 */
export interface PaymentCache {
  /** The newest update in the cache; null when the cache is empty or was cleared. */
  cursor(walletId: string): Promise<UpdatedIndex | null>;
  /**
   * Stores payments and moves the cursor forward, never back; a null cursor leaves it where it is. Returns how many
   * payments are new to the cache, and how many have changed.
   */
  apply(
    walletId: string,
    payments: readonly Payment[],
    cursor: UpdatedIndex | null,
  ): Promise<{ numNew: number; numUpdated: number }>;
  /**
   * The JSON of one cached payment, as answers carry it, and whether the payment is final. Null when it is not cached.
   */
  get(walletId: string, index: PaymentIndex): Promise<{ json: string; final: boolean } | null>;
  list(
    walletId: string,
    query: CacheQuery,
  ): Promise<{ json: string[]; nextIndex: PaymentIndex | null }>;
  /** Replaces the row of a payment if it is cached. */
  refresh(walletId: string, payment: Payment): Promise<void>;
  clear(walletId: string): Promise<void>;
}

/** The query of `list_payments`. */
export interface CacheQuery {
  readonly filter: 'all' | 'pending' | 'completed' | 'failed' | 'finalized';
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  /** The payment after which the page begins; it is not part of the page itself. */
  readonly after: PaymentIndex | null;
  readonly direction: Direction | null;
  readonly rail: Rail | null;
  /** Only payments created at or after this time, in milliseconds. */
  readonly sinceMs: number | null;
  /** Only payments created before this time, in milliseconds. */
  readonly untilMs: number | null;
}

/** A row of the journal: a payment, and the node's attempt that it stands for. */
export interface JournalRow {
  readonly payment: Payment;
  /** The node's own number of an outgoing Lightning attempt. Null while it is unknown, and for all other payments. */
  readonly attempt: number | null;
  /** The newest attempt that the node had before it was asked to send. Null where no attempt is expected. */
  readonly afterAttempt: number | null;
}

/**
 * The rows that an observation may be about. Each is read from the database when its property is accessed, before
 * anything is written.
 */
export interface MatchCandidates {
  /** The row with the index of the observed payment. */
  readonly sameIndex: JournalRow | null;
  /** The row with the same payment id and the same attempt. */
  readonly sameAttempt: JournalRow | null;
  /** The newest row with the same payment id. */
  readonly latest: JournalRow | null;
}

/** A payment as the node reported it. It has the parts of a connector's observation that the rules need. */
export interface ObservedPayment {
  readonly payment: Payment;
  readonly attempt: number | null;
  readonly ampParts?: readonly { readonly hash: string; readonly preimage: string }[] | null;
  /**
   * True when the sidecar made the observation itself. The node has then shown nothing, so the spend does not become
   * `known`.
   */
  readonly ownWord?: boolean;
}

/**
 * Rules that {@link ObservationStore.apply} runs inside its transaction. All functions are pure, but for what they log.
 */
export interface ObservationRules {
  /** The row that an observation is about, or null when it is about a payment that has none. */
  readonly match: (candidates: MatchCandidates, seen: ObservedPayment) => JournalRow | null;
  /** The next state of the payment, or null when the observation changes nothing or is not allowed. */
  readonly transition: (previous: Payment | null, seen: ObservedPayment) => Payment | null;
  /**
   * What a final payment cost in millisatoshis, which replaces its reservation: 0 gives it back, null leaves it as it
   * is.
   */
  readonly costMsat: (payment: Payment) => bigint | null;
  /** The watches that a final payment can match. One match is enough for a delivery. */
  readonly watchesOf: (payment: Payment) => readonly Watch[];
  /** The delivery for a watched payment that is final; null when no webhook is configured. */
  readonly deliver: (payment: Payment, walletId: string) => DeliveryDraft | null;
}

/** A new webhook delivery. */
export interface DeliveryDraft {
  /** The webhook-id, derived from the wallet and the payment (docs/decisions.md 91). */
  readonly id: string;
  /** The exact body to send and sign. */
  readonly body: string;
  readonly createdAtMs: number;
}

/**
 * Stores what nodes report of payments. A payment's stored status changes here and nowhere else (docs/decisions.md 44).
 */
export interface ObservationStore {
  /** The connector's cursor up to which observations are stored; undefined before the first. */
  cursor(walletId: string): Promise<string | null | undefined>;
  /** Sets the cursor where there is none, so that the feed begins there. */
  startAt(walletId: string, cursor: string | null): Promise<void>;
  /**
   * Applies the observations in order and moves the cursor, in one transaction. For each observation:
   * - it finds the row that the observation is about (in the journal when `journaled`, else among the spends) and the
   *   payment's next state, both by `rules`;
   * - it writes the journal row with its attempt and the next `updated_at`, which strictly increases within a wallet;
   * - it marks the spend as known, or deletes it when the payment is final;
   * - of a final payment it settles the budget reservation, ends the watch, and, if the payment was watched, writes the
   *   delivery, at most once for each webhook-id.
   * Returns the changed payments in order, each with its new `updated_at`, and how many deliveries were written.
   */
  apply(
    walletId: string,
    batch: {
      readonly observations: readonly ObservedPayment[];
      readonly cursor: string | null;
      readonly journaled: boolean;
      readonly nowMs: number;
    },
    rules: ObservationRules,
  ): Promise<{ changed: Payment[]; deliveries: number }>;
}

/**
 * Payments of nodes without an order of updates, in the order in which the sidecar stored their changes
 * (docs/decisions.md 82).
 */
export interface PaymentJournal {
  tip(walletId: string): Promise<UpdatedIndex | null>;
  updatedAfter(walletId: string, after: UpdatedIndex | null, limit: number): Promise<Payment[]>;
  get(walletId: string, index: PaymentIndex): Promise<Payment | null>;
  /** The newest payment with that id. */
  latest(walletId: string, id: PaymentId): Promise<Payment | null>;
  /** The pending payments, in the order of their index. */
  open(walletId: string): Promise<Payment[]>;
  /** Sets or clears (null) the note, which is an update of the payment. Null when there is no such payment. */
  setPersonalNote(
    walletId: string,
    index: PaymentIndex,
    note: string | null,
    nowMs: number,
  ): Promise<Payment | null>;
}

/**
 * The state of a spend. `begun`: the request has certainly not left. `asked`: it may have left. `known`: the node has
 * shown the attempt. The row is deleted when the payment is final. See docs/architecture.md, A spend.
 */
export type SpendState = 'begun' | 'asked' | 'known';

/** An outgoing payment that is not over. */
export interface Spend {
  readonly walletId: string;
  /** The payment as it was begun. */
  readonly payment: Payment;
  readonly state: SpendState;
  /**
   * The newest attempt that the node had before it was asked to send. Null on chain, and where the node numbers no
   * attempts.
   */
  readonly afterAttempt: number | null;
  readonly attempt: number | null;
  /** What is sent, as JSON, where a repeat must send exactly the same, such as a signed transaction; null otherwise. */
  readonly plan: string | null;
  /** Hex public key of the client that pays, or `owner`. */
  readonly caller: string;
  /** The Idempotency-Key of the request; null when it had none. */
  readonly idempotencyKey: string | null;
}

/** A spend to begin. */
export interface NewSpend extends Omit<Spend, 'walletId' | 'attempt'> {
  /** Whether the payment is also written to the journal, as it is on nodes without an order of updates. */
  readonly journaled: boolean;
  readonly reservation: BudgetReservation | null;
}

/** An amount that is held back from a client's budget until the cost is known (docs/decisions.md 66). */
export interface BudgetReservation {
  readonly clientPk: string;
  readonly amountMsat: bigint;
  readonly nowMs: number;
}

/** The state of a client's budget, from which a {@link BudgetRule} decides. */
export interface BudgetStanding {
  readonly budgetState: BudgetState;
  /** Null when the client has no budget, or its row is missing. */
  readonly budget: Budget | null;
  /** What is spent and reserved in the current period, in millisatoshis. */
  readonly spentMsat: bigint;
}

/** Throws ApiError `overBudget` (error 109) when a reservation of this amount is not allowed. A pure function. */
export type BudgetRule = (standing: BudgetStanding, amountMsat: bigint) => void;

/** Spends: rows that are written before anything is sent (docs/decisions.md 33). */
export interface SpendStore {
  /**
   * Writes the spend, its watch, its journal row, its budget reservation and the payment's index in the row of its
   * Idempotency-Key, in one transaction. When `allows` throws, nothing is written and the error is passed on.
   */
  begin(walletId: string, spend: NewSpend, allows: BudgetRule): Promise<void>;
  /**
   * Moves a spend from `begun` to `asked` and stores what is sent (see {@link Spend.plan}). Throws when there is no
   * such spend.
   */
  asked(walletId: string, index: PaymentIndex, plan: string | null): Promise<void>;
  /**
   * Undoes {@link begin} where nothing was sent: deletes the spend, its watch, journal row and reservation, and unbinds
   * the key. Leaves a spend alone that the node has shown.
   */
  abandon(walletId: string, index: PaymentIndex): Promise<void>;
  get(walletId: string, index: PaymentIndex): Promise<Spend | null>;
  /**
   * The client that made an outgoing payment, pending or completed. Null when the owner made it, or when it is not
   * known.
   */
  callerOf(walletId: string, index: PaymentIndex): Promise<string | null>;
  /** Every spend of the wallet that is not over, oldest first. */
  unfinished(walletId: string): Promise<Spend[]>;
  /** The wallets that have at least one spend. */
  wallets(): Promise<string[]>;
  /**
   * Reserves for a cost that is not a payment, such as a channel's fee, under a name of its own. Once the name is
   * settled it reserves nothing more, because the name stands for something that happens once.
   */
  reserve(
    walletId: string,
    name: string,
    reservation: BudgetReservation,
    allows: BudgetRule,
  ): Promise<void>;
  /** Replaces the name's reservation by its true cost, in the period in which it was reserved; 0 gives it back. */
  settle(walletId: string, name: string, costMsat: bigint): Promise<void>;
}

/**
 * What the sidecar watches: one payment, or every payment that arrives on an offer or address. A watched payment gets a
 * delivery when it is final (docs/decisions.md 90).
 */
export type Watch =
  | { readonly kind: 'payment'; readonly index: PaymentIndex }
  | { readonly kind: 'offer'; readonly offerId: string }
  | { readonly kind: 'address'; readonly address: string };

/** The stored watches, see {@link Watch}. */
export interface WatchStore {
  add(walletId: string, watch: Watch): Promise<void>;
  /** The wallets that have at least one watch. */
  wallets(): Promise<string[]>;
  has(walletId: string): Promise<boolean>;
}

/** What {@link ClientStore.change} writes in one transaction. */
export interface ClientChanges {
  /**
   * Clients to write, new or changed. When a client is revoked, the stored outcomes of its own requests are deleted,
   * and so is the outcome that holds its credentials (docs/decisions.md 53).
   */
  readonly records: readonly ClientRecord[];
  /** Budgets to set; null removes one. */
  readonly budgets: readonly { readonly clientPk: string; readonly budget: Budget | null }[];
}

/** The clients of all wallets, with their grants and their tokens of the node. */
export interface ClientStore {
  /** The client with that public key, of any wallet and in any state; null when there is none. */
  find(clientPk: string): Promise<ClientRecord | null>;
  /** Every client of the wallet, oldest first, revoked and expired ones included. */
  list(walletId: string): Promise<ClientRecord[]>;
  /**
   * Reads every client of the wallet, passes them to `decide`, and writes the changes that it returns, in one
   * transaction. When `decide` throws, nothing is written and the error is passed on. Returns the changes.
   */
  change(
    walletId: string,
    decide: (records: readonly ClientRecord[]) => ClientChanges,
  ): Promise<ClientChanges>;
  /** Whether any client that is active at `nowMs` has a budget. */
  anyBudget(nowMs: number): Promise<boolean>;
}

/** A delivery that is due for an attempt. */
export interface DueDelivery {
  readonly id: string;
  readonly body: string;
  /** Attempts made before this one. */
  readonly attempts: number;
}

/**
 * Webhook deliveries. A claim is a lease that ends by itself, and retries are times in the row (docs/decisions.md 92).
 */
export interface Outbox {
  /**
   * Leases at most `limit` deliveries until `leaseUntilMs` and returns them. It takes those that are due at `nowMs`,
   * the longest due first, and those with a due time after `lastPossibleMs`: they were written before the clock was set
   * back.
   */
  claim(options: {
    nowMs: number;
    leaseUntilMs: number;
    lastPossibleMs: number;
    limit: number;
  }): Promise<DueDelivery[]>;
  delivered(id: string, nowMs: number): Promise<void>;
  /** Ends a lease: the delivery is due at `nowMs`, and its attempt is not counted. */
  release(id: string, nowMs: number): Promise<void>;
  /**
   * Ends the leases of processes that are known to be gone, so that their deliveries are due at `nowMs`. Returns how
   * many. It is called once, at the start. A store that belongs to one process ends every lease but its own. A store
   * that several processes share would leave the leases of others to end by themselves, since it cannot know which
   * processes are gone.
   */
  releaseAbandoned(nowMs: number): Promise<number>;
  /** Counts a failed attempt. A null `nextAttemptAtMs` makes the delivery `failed` for good. */
  attemptFailed(id: string, error: string, nextAttemptAtMs: number | null): Promise<void>;
  /** When the next delivery is due or the next lease ends, in milliseconds; null when no delivery is pending. */
  nextDueAt(): Promise<number | null>;
  list(query: DeliveryQuery): Promise<DeliveryJson[]>;
  /** Makes deliveries due again, with all attempts left. Returns how many. */
  redeliver(
    which: { readonly walletId: string; readonly nowMs: number } & (
      | { readonly id: string }
      | { readonly sinceMs: number }
    ),
  ): Promise<number>;
  /**
   * Deletes the bodies of delivered and failed deliveries that were created before `beforeMs`, but for the newest
   * `least`: a clock that jumps ahead must not make recent ones undeliverable. It also deletes the oldest beyond
   * `most`. Returns how many.
   */
  prune(options: { beforeMs: number; least: number; most: number }): Promise<number>;
  /** How many deliveries there are in each state, without pruned ones. */
  counts(): Promise<Record<DeliveryState, number>>;
}

/** The query of the delivery log. */
export interface DeliveryQuery {
  readonly walletId: string;
  readonly state: DeliveryState | null;
  readonly limit: number;
  /** The id of a delivery: only those created before it are returned, newest first. */
  readonly before: string | null;
}

/** An Idempotency-Key and its owner: a key belongs to one caller of one wallet (docs/decisions.md 50). */
export interface KeyScope {
  readonly walletId: string;
  /** Hex public key of the client, or `owner`. */
  readonly caller: string;
  readonly key: string;
}

/** The state of an Idempotency-Key. */
export type IdempotencyState =
  | { readonly state: 'new' }
  | { readonly state: 'conflict' }
  | {
      readonly state: 'running';
      readonly index: PaymentIndex | null;
      /** The JSON that {@link IdempotencyStore.name} wrote; null when nothing was named. */
      readonly effect: string | null;
    }
  | { readonly state: 'done'; readonly httpStatus: number; readonly body: string }
  /** The outcome was deleted because the client that it created was revoked. */
  | { readonly state: 'gone' };

/** The stored outcomes of requests by Idempotency-Key (docs/decisions.md 49). */
export interface IdempotencyStore {
  /** Claims an unused key for the request with that fingerprint, or returns the state of a used one. */
  begin(
    scope: KeyScope,
    fingerprint: string,
    nowMs: number,
    earlierFingerprint?: string,
  ): Promise<IdempotencyState>;
  /**
   * Stores the names of the request's effects outside as JSON before they are caused, and the index of the payment that
   * they are about (docs/decisions.md 52). Throws when the key is not stored.
   */
  name(
    scope: KeyScope,
    effect: { readonly json: string; readonly index: PaymentIndex | null },
  ): Promise<void>;
  /** Stores the outcome. `subject` is the client whose credentials the outcome holds, null for all other outcomes. */
  finish(
    scope: KeyScope,
    outcome: { httpStatus: number; body: string; subject: string | null },
  ): Promise<void>;
  /**
   * Frees a key whose request ended before anything was sent. Keeps it when a payment or an effect was named for it.
   */
  release(scope: KeyScope): Promise<void>;
  /** Deletes what {@link name} wrote, where the effect certainly did not happen, and frees the key. */
  unname(scope: KeyScope): Promise<void>;
  /**
   * Deletes keys from before `beforeMs`, but for the newest `keep`: a clock that jumps ahead must not make recent
   * requests repeatable.
   */
  prune(options: { beforeMs: number; keep: number }): Promise<void>;
}

/** The budgets of clients (docs/decisions.md 66). {@link ClientStore.change} sets them. */
export interface BudgetStore {
  /**
   * The state of the client's budget. Reading it costs the same after any number of payments (docs/decisions.md 67).
   */
  get(walletId: string, clientPk: string, nowMs: number): Promise<BudgetStanding>;
}

/** JSON values that connectors store because their node cannot, such as which wallet an LND speaks for. */
export interface ConnectorState {
  get(walletId: string, kind: string, key: string): Promise<unknown>;
  put(walletId: string, kind: string, key: string, value: unknown): Promise<void>;
}
