/** The name in the storage; the storage belongs to one origin, port included, and all its tabs. */
const NAME = 'wallet-sidecar-console-key';

/**
 * The key of the session: the half that the page keeps. Without the other half, the cookie, which no script can read,
 * it is worth nothing (docs/decisions.md 133).
 */
export const sessionKey = {
  read: (): string | null => localStorage.getItem(NAME),
  keep: (key: string): void => localStorage.setItem(NAME, key),
  /** Forgets this key, but not a newer one that another tab has got since. */
  forget: (key: string | null): void => {
    if (localStorage.getItem(NAME) === key) localStorage.removeItem(NAME);
  },
  /** Calls `listener` when another tab signs in or out. Returns a function that stops it. */
  onChange(listener: () => void): () => void {
    const heard = (event: Event) => {
      const { key } = event as Event & { readonly key: string | null };
      if (key === NAME || key === null) listener();
    };
    addEventListener('storage', heard);
    return () => removeEventListener('storage', heard);
  },
};
