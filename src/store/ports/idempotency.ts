import type { PaymentIndex } from '../../model/payment-index.ts';

/** An Idempotency-Key and its owner: a key belongs to one caller of one wallet (docs/decisions.md 50). */
export interface KeyScope {
  readonly walletId: string;
  /** Hex public key of the client, or `owner`. */
  readonly caller: string;
  readonly key: string;
}

/**
 * Present where it is not known whose the key is: version 0.1 did not keep that, so every caller of the wallet meets it
 * (docs/decisions.md 148). The request of such a key is over or has made its payment.
 */
interface MaybeOfAnyCaller {
  readonly ofAnyCaller?: true;
}

/** The state of an Idempotency-Key. */
export type IdempotencyState =
  | { readonly state: 'new' }
  | { readonly state: 'conflict' }
  | ({
      readonly state: 'running';
      readonly index: PaymentIndex | null;
      /** The JSON that {@link IdempotencyStore.name} wrote; null when nothing was named. */
      readonly effect: string | null;
    } & MaybeOfAnyCaller)
  | ({
      readonly state: 'done';
      readonly httpStatus: number;
      readonly body: string;
    } & MaybeOfAnyCaller)
  /** The outcome was deleted because the client that it created was revoked. */
  | { readonly state: 'gone' };

/** The stored outcomes of requests by Idempotency-Key (docs/decisions.md 49). */
export interface IdempotencyStore {
  /**
   * Claims an unused key for the request with that fingerprint, or returns the state of a used one. A key of any caller
   * counts as used where the caller has not used it itself.
   */
  begin(
    scope: KeyScope,
    fingerprint: string,
    nowMs: number,
    earlierFingerprint?: string,
  ): Promise<IdempotencyState>;
  /** Whether {@link begin} would find the key used, whatever its request was. */
  isUsed(scope: KeyScope): Promise<boolean>;
  /**
   * Stores the names of the request's effects outside as JSON before they are caused, and the index of the payment that
   * they are about (docs/decisions.md 52). Throws when the key is not stored.
   */
  name(
    scope: KeyScope,
    effect: { readonly json: string; readonly index: PaymentIndex | null },
  ): Promise<void>;
  /**
   * Stores the outcome in the caller's own row, if there is one. `subject` is the client whose credentials the outcome
   * holds, null for all other outcomes.
   */
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
  /** Deletes keys from before `beforeMs`, but for the newest `keep`, since a clock may jump ahead. */
  prune(options: { beforeMs: number; keep: number }): Promise<void>;
}
