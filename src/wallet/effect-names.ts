import { createHmac, randomBytes } from 'node:crypto';
import type { PaymentIndex } from '../model/payment-index.ts';
import type { IdempotencyStore, KeyScope, StoreIdentity } from '../store/ports.ts';

/**
 * Names for what a request causes outside, fixed before it is caused, so that a repeat with the same Idempotency-Key
 * goes on with the same invoice, client, channel or send (decisions section 6). Without a key they are random.
 */
export interface EffectNames {
  /** Whether a repeat gets the same names. */
  readonly isKeyed: boolean;
  /** 32 bytes for that purpose: the same for every repeat of the request, and known only with this store and the caller's credential. */
  bytes(purpose: string): Uint8Array;
  /** What an earlier run of the request has kept for that purpose, or null. */
  earlier(purpose: string): string | null;
  /** A value that is drawn once and kept in the key's row before this resolves; `index` is the payment it is about. */
  kept(
    purpose: string,
    draw: () => string | Promise<string>,
    index?: PaymentIndex,
  ): Promise<string>;
  /** Takes back what was kept, where the effect is known not to have happened. */
  forget(): Promise<void>;
}

/** Names for a request without a key. */
export const randomNames: EffectNames = {
  isKeyed: false,
  bytes: () => new Uint8Array(randomBytes(32)),
  earlier: () => null,
  kept: async (_, draw) => draw(),
  forget: async () => undefined,
};

/** Names for a request with a key; `effect` is what an earlier run of it has kept. */
export function keyedNames(
  scope: KeyScope,
  effect: string | null,
  {
    identity,
    sealKey,
    keys,
  }: {
    readonly identity: StoreIdentity;
    /** Of the caller: a copy of the database alone must not give what was named for it. */
    readonly sealKey: Uint8Array;
    readonly keys: IdempotencyStore;
  },
): EffectNames {
  const earlier: Readonly<Record<string, string>> = effect === null ? {} : JSON.parse(effect);
  const kept: Record<string, string> = { ...earlier };
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
