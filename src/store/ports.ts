import type { Budget } from '../model/budget.ts';
import type { BudgetState, ClientRecord } from '../model/client.ts';
import type { DeliveryJson, DeliveryState } from '../model/delivery.ts';
import type { Direction, Payment, Rail } from '../model/payment.ts';
import type { PaymentId, PaymentIndex, UpdatedIndex } from '../model/payment-index.ts';

/**
 * What this program remembers, behind async ports that name no database. A `walletId` is the wallet's hex user_pk.
 * Every method is one atomic step; what it wrote is durable when it returns.
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

/** Which store this is, and how far it has come: a marker outside tells whether it was restored from a backup. */
export interface StoreIdentity {
  /** 32 hex characters, drawn when the store was made. */
  readonly id: string;
  /** 32 random bytes known to this store alone, from which the names of a request's effects follow. */
  readonly secret: Uint8Array;
  /** Grows with every start, every change of a client or budget and every reservation of a budget. */
  count(): Promise<number>;
  /** Counts one more and returns the new count. `atLeast` lifts a restored store over its marker. */
  advance(atLeast?: number): Promise<number>;
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

/** A journal row: a payment and the attempt of the node that it stands for. */
export interface JournalRow {
  readonly payment: Payment;
  /** The node's identity of an outgoing Lightning attempt; null while unknown, and for everything else. */
  readonly attempt: number | null;
  /** The newest attempt of the node before this one was asked for; null where no attempt is expected. */
  readonly afterAttempt: number | null;
}

/** The rows that an observation may be about, each read when it is looked at, before anything is written. */
export interface MatchCandidates {
  /** The row with the observation's own index. */
  readonly sameIndex: JournalRow | null;
  /** The row of the same id with the observation's attempt. */
  readonly sameAttempt: JournalRow | null;
  /** The row of the same id that was created last. */
  readonly latest: JournalRow | null;
}

/** A payment as a node showed it; the part of a connector's observation that rules look at. */
export interface ObservedPayment {
  readonly payment: Payment;
  readonly attempt: number | null;
  readonly ampParts?: readonly { readonly hash: string; readonly preimage: string }[] | null;
  /** True where this program says it of itself: the node has shown nothing, so a send does not become `known`. */
  readonly ownWord?: boolean;
}

/** Policy that {@link ObservationStore.apply} runs inside its transaction; all functions are pure. */
export interface ObservationRules {
  /** The row that an observation is about, or null when it is about a payment that has none. */
  readonly match: (candidates: MatchCandidates, seen: ObservedPayment) => JournalRow | null;
  /** The payment's next state, or null when the observation changes nothing or is not allowed. */
  readonly transition: (previous: Payment | null, seen: ObservedPayment) => Payment | null;
  /** What a final payment's reservation becomes: its cost, nothing (0), or what it was (null). */
  readonly costMsat: (payment: Payment) => bigint | null;
  /** The watches of which any makes a final payment owed a delivery. */
  readonly watchesOf: (payment: Payment) => readonly Watch[];
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
   * In one transaction: for each observation, the match and the transition (against the journal row when `journaled`,
   * else against the spend's row), the journal row with its attempt and its updated_at (strictly increasing per
   * wallet), the spend's row (known with the first observation, gone with the end), the outbox row when the payment is
   * final and watched (once per webhook-id, ever), the end of its watch, the settlement of its budget reservation; then
   * the cursor. Returns the payments that changed, in order, with their assigned updated_at, and whether a delivery was
   * written.
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

/**
 * How far a send has come. `begun`: the request has certainly not left. `asked`: it may have left. `known`: the node
 * has shown the attempt. The row goes when the payment is final.
 */
export type SpendState = 'begun' | 'asked' | 'known';

/** A send that is not over. */
export interface Spend {
  readonly walletId: string;
  /** The payment as it was begun. */
  readonly payment: Payment;
  readonly state: SpendState;
  /** The newest attempt of the node before it was asked; null on nodes that keep the wallet's index. */
  readonly afterAttempt: number | null;
  readonly attempt: number | null;
  /** What is sent, as JSON, where a repeat needs the very same, such as a signed transaction; null otherwise. */
  readonly plan: string | null;
  /** The client that sends, or `owner`. */
  readonly caller: string;
  /** The Idempotency-Key of the request that sends it. */
  readonly idempotencyKey: string | null;
}

/** A send to begin. */
export interface NewSpend extends Omit<Spend, 'walletId' | 'attempt'> {
  /** Whether the payment also becomes a journal row. */
  readonly journaled: boolean;
  readonly reservation: BudgetReservation | null;
}

/** What a payment may cost, held back from its client's budget. */
export interface BudgetReservation {
  readonly clientPk: string;
  readonly amountMsat: bigint;
  readonly nowMs: number;
}

/** What a budget rule decides from. */
export interface BudgetStanding {
  readonly budgetState: BudgetState;
  /** Null when the client has no budget, or its row is missing. */
  readonly budget: Budget | null;
  /** Spent and reserved in the current period. */
  readonly spentMsat: bigint;
}

/** Throws ApiError `overBudget` when a reservation is not allowed. Pure. */
export type BudgetRule = (standing: BudgetStanding, amountMsat: bigint) => void;

/** Rows written before anything is sent. */
export interface SpendStore {
  /**
   * In one transaction: the spend's row, the watch, the journal row, the budget reservation (when `allows` lets it),
   * and the payment's index on the idempotency row. What `allows` throws is thrown on and nothing is written.
   */
  begin(walletId: string, spend: NewSpend, allows: BudgetRule): Promise<void>;
  /** Moves a spend from `begun` to `asked`, with what is sent (see {@link Spend.plan}); durable before it resolves. */
  asked(walletId: string, index: PaymentIndex, plan: string | null): Promise<void>;
  /** Undoes {@link begin} where it is known that nothing was sent: row, watch, journal row, reservation, key's index. */
  abandon(walletId: string, index: PaymentIndex): Promise<void>;
  get(walletId: string, index: PaymentIndex): Promise<Spend | null>;
  /** The client that made an outgoing payment, over or not; null where it was the owner or is not known. */
  callerOf(walletId: string, index: PaymentIndex): Promise<string | null>;
  /** Every send of the wallet that is not over, oldest first. */
  unfinished(walletId: string): Promise<Spend[]>;
  /** Wallets with at least one such send. */
  wallets(): Promise<string[]>;
  /**
   * Reserves for something that is no payment, such as a channel's fee, under a name of its own. Reserves nothing more
   * once the name's cost was settled: what it stands for happens once.
   */
  reserve(
    walletId: string,
    name: string,
    reservation: BudgetReservation,
    allows: BudgetRule,
  ): Promise<void>;
  /** Replaces such a reservation by its true cost, in the period in which it was made; 0 gives it back. */
  settle(walletId: string, name: string, costMsat: bigint): Promise<void>;
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

/** What {@link ClientStore.change} writes, all in one transaction. */
export interface ClientChanges {
  /**
   * Records to write, new ones included. With a client that is revoked the outcomes go that were kept for it: those it
   * was the caller of, and those that hold its credentials.
   */
  readonly records: readonly ClientRecord[];
  /** Budgets to set, or to remove (null). */
  readonly budgets: readonly { readonly clientPk: string; readonly budget: Budget | null }[];
}

/** Clients of all wallets: who may call, with what grant, by which token of the node. */
export interface ClientStore {
  /** The client of that public key, whatever its wallet and state; null when there is none. */
  find(clientPk: string): Promise<ClientRecord | null>;
  /** Every client of the wallet, ended ones too, oldest first. */
  list(walletId: string): Promise<ClientRecord[]>;
  /**
   * Reads every client of the wallet, asks `decide` what to write, and writes it, in one transaction. What `decide`
   * throws is thrown on and nothing is written. Returns what was decided.
   */
  change(
    walletId: string,
    decide: (records: readonly ClientRecord[]) => ClientChanges,
  ): Promise<ClientChanges>;
  /** Whether any client that is active now has a budget. */
  anyBudget(nowMs: number): Promise<boolean>;
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
   * Leases until `leaseUntilMs` up to `limit` deliveries that are due at `nowMs`, oldest first, or that claim to be due
   * after `lastPossibleMs`: those were written before the clock was set back.
   */
  claim(options: {
    nowMs: number;
    leaseUntilMs: number;
    lastPossibleMs: number;
    limit: number;
  }): Promise<DueDelivery[]>;
  delivered(id: string, nowMs: number): Promise<void>;
  /** Gives a lease back: the delivery is due now and its attempt does not count. */
  release(id: string, nowMs: number): Promise<void>;
  /**
   * Gives back the leases of processes that are known to be gone, so that their deliveries are due now; returns how
   * many. To be called once at start. A store that one process owns knows it of every lease but its own; a store that
   * several processes share cannot, and leaves the leases of others, which carry their owner's id, to end by themselves.
   */
  releaseAbandoned(nowMs: number): Promise<number>;
  /** Records a failed attempt; `nextAttemptAtMs` null leaves the delivery `failed`. */
  attemptFailed(id: string, error: string, nextAttemptAtMs: number | null): Promise<void>;
  /** When the next delivery is due or a lease ends; null when nothing is pending. */
  nextDueAt(): Promise<number | null>;
  list(query: DeliveryQuery): Promise<DeliveryJson[]>;
  /** Makes deliveries due again with fresh attempts; returns how many. */
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

/** Whose key it is: a key belongs to one caller of one wallet (decisions section 6). */
export interface KeyScope {
  readonly walletId: string;
  /** Hex public key of the client, or `owner`. */
  readonly caller: string;
  readonly key: string;
}

/** What became of an Idempotency-Key. */
export type IdempotencyState =
  | { readonly state: 'new' }
  | { readonly state: 'conflict' }
  | {
      readonly state: 'running';
      readonly index: PaymentIndex | null;
      /** What {@link IdempotencyStore.name} wrote; null when nothing was named. */
      readonly effect: string | null;
    }
  | { readonly state: 'done'; readonly httpStatus: number; readonly body: string }
  /** The outcome is gone, since the client that it created has ended. */
  | { readonly state: 'gone' };

/** Outcomes by Idempotency-Key (decisions section 6). */
export interface IdempotencyStore {
  /** Claims the key for a request with that fingerprint, or tells what became of it. */
  begin(scope: KeyScope, fingerprint: string, nowMs: number): Promise<IdempotencyState>;
  /** Names an effect outside before it is caused (JSON), and the payment that it is about. */
  name(
    scope: KeyScope,
    effect: { readonly json: string; readonly index: PaymentIndex | null },
  ): Promise<void>;
  /** Keeps the outcome. `subject` is the client that the outcome's secret belongs to; null for all others. */
  finish(
    scope: KeyScope,
    outcome: { httpStatus: number; body: string; subject: string | null },
  ): Promise<void>;
  /** Releases a key whose request ended before anything was sent. Keeps it when a payment or an effect is named. */
  release(scope: KeyScope): Promise<void>;
  /** Takes back what {@link name} wrote, where the effect is known not to have happened, and releases the key. */
  unname(scope: KeyScope): Promise<void>;
  /**
   * Drops keys from before `beforeMs`, but for the newest `keep`: a clock that jumps ahead must not make recent
   * requests repeatable.
   */
  prune(options: { beforeMs: number; keep: number }): Promise<void>;
}

/** Budgets of clients (decisions section 7); {@link ClientStore.change} sets them. */
export interface BudgetStore {
  /** How the client's budget stands; reading costs the same however many payments there were. */
  get(walletId: string, clientPk: string, nowMs: number): Promise<BudgetStanding>;
}

/** JSON rows in which connectors keep what their node cannot, such as which client a root key belongs to. */
export interface ConnectorState {
  get(walletId: string, kind: string, key: string): Promise<unknown>;
  put(walletId: string, kind: string, key: string, value: unknown): Promise<void>;
}
