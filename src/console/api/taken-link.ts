import { linkToken } from '../values/place.ts';

/**
 * Returns the token of the one-time link that the address names, and takes it out of the address and the history, where
 * others could find it. Null for none.
 */
export function takenLink(): string | null {
  const token = linkToken(location.hash);
  if (token !== null) history.replaceState(null, '', location.pathname);
  return token;
}
