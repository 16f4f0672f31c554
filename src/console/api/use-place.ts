import { useEffect, useState } from 'preact/hooks';
import { type Place, placeOf } from '../values/place.ts';

/** Returns the present place, and draws anew when it changes. */
export function usePlace(): Place {
  const [fragment, setFragment] = useState(location.hash);
  useEffect(() => {
    const changed = () => setFragment(location.hash);
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  return placeOf(fragment);
}
