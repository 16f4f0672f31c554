import { useState } from 'preact/hooks';
import { entryValue, senderOf } from '../values/kept.ts';
import { useSignedIn } from './signed-in.tsx';

/** Returns a state of a page, which its entry of the browser's history keeps: the way back finds it as it was. */
export function useEntryState<T>(start: T): readonly [T, (value: T) => void] {
  const place = entryValue<T>(history, senderOf(useSignedIn().about));
  const [value, setValue] = useState(place.read() ?? start);
  const set = (given: T) => {
    setValue(given);
    place.keep(given);
  };
  return [value, set];
}
