/** The part of a browser's storage that is used. */
export type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/** Returns a place in a browser's storage that holds one value, as JSON, which outlives a reload. */
export function keptValue<T>(store: Store, name: string) {
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
