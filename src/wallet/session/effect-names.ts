import { createHmac, randomBytes } from 'node:crypto';
import type { PaymentIndex } from '../../model/payment-index.ts';
import type { IdempotencyStore, KeyScope, StoreIdentity } from '../../store/ports.ts';

/** A name that follows from the key; see {@link EffectNames}. It is computed of this word, so no word may change. */
type DrawnName =
  | 'payment'
  | 'spontaneous payment'
  | 'preimage'
  | 'channel'
  | 'client'
  | 'paywall'
  | Fee;

/** What is stored in the key's row under this word, so no word may change; see {@link EffectNames}. */
type KeptName =
  | 'challenge'
  | 'hold invoice'
  | 'price'
  | 'withdrawal'
  | 'handed over'
  | 'token'
  | 'revocation'
  | 'decision'
  | Fee;

/** What an on-chain fee is paid for. */
export type Fee = 'opening' | 'closing' | 'bumping';

/**
 * The names of a request's effects outside, fixed before they are caused. With an Idempotency-Key a repeat gets the
 * same names, and goes on with the same invoice, client, channel or payment (docs/decisions.md 52). Without a key they
 * are random.
 *
 * | effect | its name | before it | a repeat after it |
 * |---|---|---|---|
 * | offer or on-chain payment | `payment`, of its index | the spend's row | finds the payment |
 * | payment without an invoice | `spontaneous payment`, its preimage | the spend's row | finds the payment |
 * | invoice | `preimage` | nothing | makes the same invoice |
 * | hold invoice | `hold invoice`, its hash | the hash | makes the same invoice |
 * | invoice of a price | `price`, the rate, beside the name above | the rate | asks for the same amount |
 * | withdrawal | `withdrawal`, the service's terms, and `preimage` | the terms | asks for the same terms |
 * | its invoice at the service | `handed over` | that mark | hands the same one over |
 * | payment for a resource | `challenge`, with its invoice | the challenge | pays the same invoice, and asks again |
 * | proof of payment taken | `paywall`, who took it | nothing | finds that it took it |
 * | channel | `channel`, unless the caller names it | the reserved fee | the node finds the channel |
 * | fee of a channel or bump | the fee, of its reservation and bound | the bound, then the reservation | keeps both |
 * | client | `client`, its secret | nothing | finds the client |
 * | token of a client | `token`, its id | the id | makes the same token |
 * | revocation | `revocation` | that mark | finds the client revoked |
 * | approval or rejection | `decision` | that mark | finds the payment decided |
 */
export interface EffectNames {
  /** Whether a repeat of the request gets the same names. */
  readonly isKeyed: boolean;
  /**
   * 32 bytes for that purpose, the same for every repeat of the request. They cannot be computed without both this
   * store and the caller's credential.
   */
  bytes(purpose: DrawnName): Uint8Array;
  /** The value that an earlier run of the request stored for that purpose, or null. */
  earlier(purpose: KeptName): string | null;
  /**
   * Draws a value once and stores it in the key's row before it resolves; a repeat gets the stored value. `index` is
   * the payment that the effect is about.
   */
  kept(purpose: KeptName, draw: () => Promise<string>, index?: PaymentIndex): Promise<string>;
  /** Deletes the stored values, where the effect certainly did not happen. */
  forget(): Promise<void>;
}

/** The names of a request without a key. */
export const randomNames: EffectNames = {
  isKeyed: false,
  bytes: () => new Uint8Array(randomBytes(32)),
  earlier: () => null,
  kept: async (_, draw) => draw(),
  forget: async () => undefined,
};

/** Returns the names of a request with a key; `effect` is what an earlier run of it stored, as JSON. */
export function keyedNames(
  scope: KeyScope,
  effect: string | null,
  {
    identity,
    sealKey,
    keys,
  }: {
    readonly identity: StoreIdentity;
    /** The caller's key: a copy of the database alone must not give the names away. */
    readonly sealKey: Uint8Array;
    readonly keys: IdempotencyStore;
  },
): EffectNames {
  const earlier: Readonly<Partial<Record<KeptName, string>>> =
    effect === null ? {} : JSON.parse(effect);
  const kept = { ...earlier };
  return {
    isKeyed: true,
    bytes: (purpose) =>
      new Uint8Array(
        createHmac('sha256', Buffer.concat([identity.secret, sealKey]))
          .update(JSON.stringify([scope.walletId, scope.caller, scope.key, purpose]))
          .digest(),
      ),
    earlier: (purpose) => earlier[purpose] ?? null,
    async kept(purpose, draw, index) {
      const known = kept[purpose];
      if (known !== undefined) return known;
      const drawn = await draw();
      kept[purpose] = drawn;
      await keys.name(scope, { json: JSON.stringify(kept), index: index ?? null });
      return drawn;
    },
    forget: () => keys.unname(scope),
  };
}

/** What the request may have sent before it asks now: an earlier run with its key may have caused that effect. */
export function sentBefore(names: EffectNames, purpose: KeptName): 'no' | 'unknown' {
  return names.earlier(purpose) === null ? 'no' : 'unknown';
}
