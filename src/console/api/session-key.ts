/** The name in the storage; the storage belongs to one origin, port included, and all its tabs. */
const NAME = 'wallet-sidecar-console-key';
/** Is there while the latest sign-in was that of a device. */
const DEVICE = 'wallet-sidecar-console-device';

/** The page's half of the session's key, worth nothing without the cookie (docs/decisions.md 133). */
export const sessionKey = {
  read: (): string | null => localStorage.getItem(NAME),
  /** Keeps a key, and whether it is that of a device (docs/decisions.md 196). */
  keep(key: string, isDevice: boolean): void {
    if (isDevice) localStorage.setItem(DEVICE, 'yes');
    else localStorage.removeItem(DEVICE);
    localStorage.setItem(NAME, key);
  },
  /** Whether this browser is a device, or was one until its session ended: only the owner lets it in again. */
  isOfDevice: (): boolean => localStorage.getItem(DEVICE) !== null,
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
