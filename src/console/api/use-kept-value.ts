import { useState } from 'preact/hooks';
import { callersValue, type Store } from '../values/kept.ts';
import { useSignedIn } from './signed-in.tsx';

/** A value that is kept until it is forgotten or dropped. It outlives a reload, and belongs to one caller. */
export interface KeptValue<T> {
  /** Null when there is none. */
  readonly value: T | null;
  readonly keep: (value: T) => void;
  readonly forget: () => void;
  /** Keeps it no longer for another visit; this page goes on with it. */
  readonly drop: () => void;
}

/** Returns what this tab keeps under `name` for the caller; with `localStorage` this browser keeps it. */
export function useKeptValue<T>(name: string, store: Store = sessionStorage): KeptValue<T> {
  const { about } = useSignedIn();
  const place = callersValue<T>(store, name, about);
  const [value, setValue] = useState(place.read);
  return {
    value,
    keep(given) {
      place.keep(given);
      setValue(given);
    },
    forget() {
      place.forget();
      setValue(null);
    },
    drop: place.forget,
  };
}
