import { useState } from 'preact/hooks';

/** Returns a state of a page, which its entry of the browser's history keeps: the way back finds it as it was. */
export function useEntryState<T>(start: T): readonly [T, (value: T) => void] {
  const [value, setValue] = useState<T>((history.state as T | null) ?? start);
  const set = (given: T) => {
    history.replaceState(given, '');
    setValue(given);
  };
  return [value, set];
}
