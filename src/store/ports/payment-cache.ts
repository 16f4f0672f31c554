import type { Direction, Payment, Rail } from '../../model/payment.ts';
import type { PaymentIndex, UpdatedIndex } from '../../model/payment-index.ts';

/**
 * The cache that `list_payments` reads (docs/decisions.md 88). It is out of date between syncs on purpose. It holds the
 * JSON of answers, so that lists need no parsing.
 */
export interface PaymentCache {
  /** The newest update in the cache; null when the cache is empty or was cleared. */
  cursor(walletId: string): Promise<UpdatedIndex | null>;
  /**
   * Stores payments and moves the cursor forward, never back; a null cursor leaves it where it is. Payments that were
   * read from the journal and are gone since, because their spend gave way, are left out. Returns how many payments are
   * new to the cache, and how many have changed.
   */
  apply(
    walletId: string,
    payments: readonly Payment[],
    cursor: UpdatedIndex | null,
    readFrom?: 'journal' | 'node',
  ): Promise<{ numNew: number; numUpdated: number }>;
  /** The JSON of a cached payment, and whether it is final. Null when it is not cached. */
  get(walletId: string, index: PaymentIndex): Promise<{ json: string; final: boolean } | null>;
  list(
    walletId: string,
    query: CacheQuery,
  ): Promise<{ json: string[]; nextIndex: PaymentIndex | null }>;
  /**
   * The JSON of at most `limit` completed payments in the order in which they were completed, those of one millisecond
   * by their index, and the place of the last one: null when there are none. The page begins after `after`.
   */
  completed(
    walletId: string,
    after: Completion | null,
    limit: number,
  ): Promise<{ json: string[]; last: Completion | null }>;
  /** Replaces the row of a payment if it is cached. */
  refresh(walletId: string, payment: Payment): Promise<void>;
  clear(walletId: string): Promise<void>;
}

/** The place of a payment in the order of completion (docs/decisions.md 192). */
export interface Completion {
  readonly atMs: number;
  readonly index: PaymentIndex;
}

/** The query of `list_payments`. */
export interface CacheQuery {
  readonly filter: 'all' | 'pending' | 'completed' | 'failed' | 'finalized' | 'awaiting';
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
  /** Only payments with this id of the caller's own. */
  readonly externalId: string | null;
  /** Only payments whose id begins or ends with these hex characters in lower case, behind its `ln_`. */
  readonly idPart?: string | undefined;
  /** Only payments that have each of its words (docs/decisions.md 193). */
  readonly text?: string | undefined;
  /** Only payments that this client made, or that arrived on its offers (docs/decisions.md 202). */
  readonly maker?: string | undefined;
}
