import type { Log } from '../lib/log.ts';
import type { Payment } from '../model/payment.ts';
import type { UpdatedIndex } from '../model/payment-index.ts';

/** A payment as the node showed it; its attempt decides which row it may change (docs/decisions.md 42). */
export interface Observation {
  readonly payment: Payment;
  /**
   * The node's own identity of an outgoing Lightning attempt, greater for each later attempt of the same payment hash
   * unless the node's clock was set back between the two; null for everything else and on nodes whose payments carry
   * the wallet's own index.
   */
  readonly attempt: number | null;
  /** The parts of an AMP receipt, each with its own hash and preimage (hex); null for every other payment. */
  readonly ampParts?: readonly { readonly hash: string; readonly preimage: string }[] | null;
  /** Whether a block has the payment's own transaction, so that no other replaces it now. */
  readonly inBlock?: boolean;
}

export interface UpdatesOptions {
  /** The connector's own cursor from an {@link UpdateBatch}; null starts at the wallet's first payment. */
  readonly after: string | null;
  /** The unfinished payments that the caller knows, for nodes that must be asked about them again. */
  readonly open: (which: 'all' | 'onchain') => Promise<readonly Payment[]>;
  /**
   * When a wallet is read from its first payment, payments that were made before this time and are over may be left
   * out, in milliseconds since the epoch; null: none.
   */
  readonly historySinceMs: number | null;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** Changes in the order in which they happened. */
export interface UpdateBatch {
  /** On nodes without {@link NodeHistory}, `updatedAtMs` is the time of the change and the journal assigns its own. */
  readonly observations: readonly Observation[];
  /** Resumes after this batch; null when the batch does not move the cursor. */
  readonly cursor: string | null;
  /** Whether everything that happened before the feed was opened has now been given. */
  readonly caughtUp: boolean;
}

/** The history of a node that keeps its own order of updates. For other nodes the store keeps a journal. */
export interface NodeHistory {
  /** The newest update, or null when there is none. */
  tip(): Promise<UpdatedIndex | null>;
  /** Payments updated after `after` in order of (updated_at, id), each in its newest state, at most `limit`. */
  updatedAfter(after: UpdatedIndex | null, limit: number): Promise<Payment[]>;
  /**
   * Puts a payment that waits for approval into the order of updates, or ends it there, and returns it as it stands
   * there then. The request to send it takes its place. One that the node has made or ended stays as it is.
   */
  putAwaiting(payment: Payment): Promise<Payment>;
}
