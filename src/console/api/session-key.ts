/** The name in the storage; the storage belongs to one origin, port included, and all its tabs. */
const NAME = 'wallet-sidecar-console-key';

/**
 * The key of the session: the half that the page keeps. Without the other half, the cookie, which no script can read,
 * it is worth nothing (docs/decisions.md 133).
 */
export const sessionKey = {
  read: (): string | null => localStorage.getItem(NAME),
  keep: (key: string): void => localStorage.setItem(NAME, key),
  forget: (): void => localStorage.removeItem(NAME),
  /** Calls `listener` when another tab signs in or out. Returns a function that stops it. */
  onChange(listener: () => void): () => void {
    const heard = ({ key }: StorageEvent) => {
      if (key === NAME || key === null) listener();
    };
    addEventListener('storage', heard);
    return () => removeEventListener('storage', heard);
  },
};
