import type { PaymentIndex } from '../../model/payment-index.ts';

/**
 * What the sidecar watches: one payment, or every payment that arrives on an offer or address. A watched payment gets a
 * delivery when it is final (docs/decisions.md 90). With `held` it gets one when it is held, too
 * (docs/decisions.md 117).
 */
export type Watch =
  | { readonly kind: 'payment'; readonly index: PaymentIndex }
  | { readonly kind: 'held'; readonly index: PaymentIndex }
  | { readonly kind: 'offer'; readonly offerId: string }
  | { readonly kind: 'address'; readonly address: string };

/** The stored watches, see {@link Watch}. */
export interface WatchStore {
  add(walletId: string, watch: Watch): Promise<void>;
  wallets(): Promise<string[]>;
  has(walletId: string): Promise<boolean>;
}
