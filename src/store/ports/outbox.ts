import type { DeliveryJson, DeliveryState } from '../../model/delivery.ts';

/** A new webhook delivery. */
export interface DeliveryDraft {
  /** The webhook-id, derived from the wallet, the payment and the event (docs/decisions.md 91, 117). */
  readonly id: string;
  /** The exact body to send and sign. */
  readonly body: string;
  readonly createdAtMs: number;
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
