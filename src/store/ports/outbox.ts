import type {
  AttemptJson,
  DeliveryJson,
  DeliveryState,
  WebhookEvent,
} from '../../model/webhooks/delivery.ts';

/** A new webhook delivery, for one endpoint or more. */
export interface DeliveryDraft {
  /** The webhook-id, derived from the wallet, the payment and the event (docs/decisions.md 91, 117). */
  readonly id: string;
  readonly event: WebhookEvent;
  /** The exact body to send and sign. */
  readonly body: string;
  readonly createdAtMs: number;
  /** The ids of the endpoints that it is for. */
  readonly endpoints: readonly string[];
}

/** The name of a delivery: a webhook-id has one for each endpoint. */
export interface DeliveryKey {
  readonly id: string;
  readonly endpoint: string;
}

/** A delivery that is due for an attempt. */
export interface DueDelivery extends DeliveryKey {
  readonly body: string;
  /** Attempts made before this one. */
  readonly attempts: number;
}

/** An attempt that is over. */
export interface AttemptRecord {
  readonly atMs: number;
  readonly durationMs: number;
  /** The status of the answer; null where none came. */
  readonly httpStatus: number | null;
  /** Why it failed; null where it was delivered. */
  readonly error: string | null;
  readonly headers: Readonly<Record<string, string>>;
  /** The first part of the answer's body; null where none came. */
  readonly answer: string | null;
}

/** An endpoint with pending deliveries, and when the first and the last of them are due, in milliseconds. */
export interface QueuedEndpoint {
  readonly endpoint: string;
  readonly firstDueAtMs: number;
  readonly lastDueAtMs: number;
}

/**
 * Webhook deliveries. A claim is a lease that ends by itself, and retries are times in the row (docs/decisions.md 92).
 * A delivery that was canceled stays so, whatever becomes of an attempt that was already on its way.
 */
export interface Outbox {
  /**
   * Leases at most `limit` deliveries of an endpoint until `leaseUntilMs` and returns them. It takes those that are due
   * at `nowMs`, the longest due first, and those with a due time after `lastPossibleMs`: they were written before the
   * clock was set back.
   */
  claim(options: {
    endpoint: string;
    nowMs: number;
    leaseUntilMs: number;
    lastPossibleMs: number;
    limit: number;
  }): Promise<DueDelivery[]>;
  delivered(key: DeliveryKey, attempt: AttemptRecord): Promise<void>;
  /** Ends a lease: the delivery is due at `nowMs`, and its attempt is not counted. */
  release(key: DeliveryKey, nowMs: number): Promise<void>;
  /**
   * Ends the leases of processes that are known to be gone, so that their deliveries are due at `nowMs`. Returns how
   * many. It is called once, at the start. A store that belongs to one process ends every lease but its own. A store
   * that several processes share would leave the leases of others to end by themselves, since it cannot know which
   * processes are gone.
   */
  releaseAbandoned(nowMs: number): Promise<number>;
  /** Stores a failed attempt. A null `nextAttemptAtMs` makes the delivery `failed` for good. */
  attemptFailed(
    key: DeliveryKey,
    attempt: AttemptRecord,
    nextAttemptAtMs: number | null,
  ): Promise<void>;
  /** The endpoints with pending deliveries. A leased one is due at the end of its lease. */
  queued(): Promise<QueuedEndpoint[]>;
  list(query: DeliveryQuery): Promise<DeliveryJson[]>;
  /** Whether the wallet's log has a delivery with this webhook-id. */
  has(walletId: string, id: string): Promise<boolean>;
  /** Attempts in the order in which they ended. Of each delivery the newest 20 are kept. */
  attempts(query: AttemptQuery): Promise<AttemptJson[]>;
  /**
   * Makes deliveries due again, with all attempts left. Returns how many. It leaves out those of endpoints that are
   * deleted.
   */
  redeliver(
    which: {
      readonly walletId: string;
      readonly nowMs: number;
      /** Null: every endpoint. */
      readonly endpoint: string | null;
    } & ({ readonly id: string } | { readonly sinceMs: number }),
  ): Promise<number>;
  /**
   * Deletes the bodies and attempts of settled deliveries that were created before `beforeMs`, but for the newest
   * `least`: a clock that jumps ahead must not make recent ones undeliverable. It also deletes those of the oldest
   * beyond `most`, and the oldest attempts beyond `mostAttempts`. Returns of how many deliveries.
   */
  prune(options: {
    beforeMs: number;
    least: number;
    most: number;
    mostAttempts: number;
  }): Promise<number>;
  /** How many deliveries there are in each state, without pruned ones. */
  counts(): Promise<Record<DeliveryState, number>>;
}

/** The query of the delivery log. */
export interface DeliveryQuery {
  readonly walletId: string;
  readonly state: DeliveryState | null;
  readonly endpoint: string | null;
  readonly limit: number;
  /** Only deliveries before this one, newest first; without an endpoint: before all of that webhook-id. */
  readonly before: { readonly id: string; readonly endpoint: string | null } | null;
}

/** The query of attempts: all of a wallet, or by webhook-id, endpoint or both. */
export interface AttemptQuery {
  readonly walletId: string;
  readonly id: string | null;
  readonly endpoint: string | null;
  /** Only attempts with a greater number. */
  readonly after: number;
  readonly limit: number;
}
