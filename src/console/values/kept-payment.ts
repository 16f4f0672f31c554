import type { PayOnchainRequest, PayRequest, WithdrawLnurlRequest } from '../../client/index.ts';
import { keptValue, type Store } from './kept.ts';

/** A request that moves money, as it is sent and repeated. */
export type MoneyRequest =
  | { readonly call: 'pay'; readonly request: PayRequest }
  | { readonly call: 'payOnchain'; readonly request: PayOnchainRequest }
  | { readonly call: 'withdrawLnurl'; readonly request: WithdrawLnurlRequest };

/** A request that was kept before it was sent, until its outcome is known. */
export type KeptPayment = MoneyRequest & {
  /** Its Idempotency-Key. */
  readonly key: string;
  /** The wallet and the caller. Another caller's repeat would be another payment. */
  readonly sender: string;
};

const NAME = 'wallet-sidecar-console-payment';

/**
 * The payment of this tab whose outcome is not known yet. It outlives a reload, so that the page then repeats the same
 * request with the same key, which pays once.
 */
export function keptPayments(store: Store) {
  return keptValue<KeptPayment>(store, NAME);
}

/** Returns the name of who sends: the wallet, and the caller that its keys belong to. */
export function senderOf({ user_pk, caller }: { user_pk: string; caller: string }): string {
  return `${user_pk}/${caller}`;
}
