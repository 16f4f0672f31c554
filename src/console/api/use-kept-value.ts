import { useState } from 'preact/hooks';
import { callersValue } from '../values/kept.ts';
import { useSignedIn } from './signed-in.tsx';

/** A value that this tab keeps until it is forgotten or dropped. It outlives a reload, and belongs to one caller. */
interface KeptValue<T> {
  /** Null when there is none. */
  readonly value: T | null;
  readonly keep: (value: T) => void;
  readonly forget: () => void;
  /** Keeps it no longer for another visit; this page goes on with it. */
  readonly drop: () => void;
}

/** Returns the value that this tab keeps under `name` for the caller who is signed in. */
export function useKeptValue<T>(name: string): KeptValue<T> {
  const { about } = useSignedIn();
  const place = callersValue<T>(sessionStorage, name, about);
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
