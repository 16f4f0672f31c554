import { useEffect, useState } from 'preact/hooks';
import { type Place, placeOf } from '../values/place.ts';
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
