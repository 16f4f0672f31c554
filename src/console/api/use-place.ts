import { useEffect, useState } from 'preact/hooks';
import { linkToken, type Place, placeOf } from '../values/place.ts';
import { isAskedFirst } from './leaving.ts';

/** Returns the present place, and draws anew when it changes. A page that asks before it is left stays until then. */
export function usePlace(): Place {
  const [fragment, setFragment] = useState(location.hash);
  useEffect(() => {
    const changed = ({ oldURL }: HashChangeEvent) => {
      const wanted = location.hash;
      if (isAskedFirst(() => location.assign(wanted))) history.pushState(null, '', oldURL);
      else setFragment(wanted);
    };
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  return placeOf(fragment);
}

/**
 * Returns the token of the one-time link that the address names, and takes it out of the address and the history, where
 * others could find it. Null for none.
 */
export function takenLink(): string | null {
  const token = linkToken(location.hash);
  if (token !== null) history.replaceState(null, '', location.pathname);
  return token;
}
