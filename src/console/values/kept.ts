import type { PayOnchainRequest, PayRequest, WithdrawLnurlRequest } from '../../client/index.ts';

/** The part of a browser's storage that is used. */
export type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/** Returns a place in a browser's storage that holds one value, as JSON, which outlives a reload. */
function keptValue<T>(store: Store, name: string) {
  return {
    /** Throws when the browser keeps nothing. */
    keep(value: T): void {
      store.setItem(name, JSON.stringify(value));
    },
    /** Returns the value that is kept; null when there is none. */
    read(): T | null {
      const text = store.getItem(name);
      return text === null ? null : (JSON.parse(text) as T);
    },
    forget(): void {
      store.removeItem(name);
    },
  };
}

/** Returns a {@link keptValue} that belongs to one wallet and one caller, so that nobody else is shown it. */
export function callersValue<T>(
  store: Store,
  name: string,
  { user_pk, caller }: { readonly user_pk: string; readonly caller: string },
) {
  return keptValue<T>(store, `wallet-sidecar-console ${name} ${user_pk} ${caller}`);
}

interface Entry {
  readonly state: unknown;
  replaceState(state: unknown, unused: string): void;
}

/** Returns a place in an entry of the history that holds one value of one caller. Another caller reads none. */
export function entryValue<T>(entry: Entry, owner: string) {
  return {
    keep: (value: T) => entry.replaceState({ owner, value }, ''),
    read(): T | null {
      const kept = entry.state as { readonly owner: unknown; readonly value: T } | null;
      return kept?.owner === owner ? kept.value : null;
    },
  };
}

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
