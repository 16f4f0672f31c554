import { useEffect, useRef, useState } from 'preact/hooks';
import type { Sidecar } from './sidecar.ts';
import { useSignedIn } from './signed-in.tsx';

/** What was asked of the sidecar, and how the question stands. */
export interface Asked<T> {
  /** The latest answer; null before the first. */
  readonly value: T | null;
  /** Why the latest question has no answer; null when it has one. */
  readonly error: Error | null;
  readonly again: () => void;
}

/**
 * Asks the sidecar when the page is shown and when one of `inputs` changes. The latest answer stays until the next
 * arrives, so that the page does not flicker. To ask again during a question asks once more after it, so that a busy
 * wallet does not keep the page from ever getting an answer.
 */
export function useAsked<T>(
  ask: (sidecar: Sidecar, signal: AbortSignal) => Promise<T>,
  inputs: readonly unknown[] = [],
): Asked<T> {
  const { sidecar } = useSignedIn();
  const [round, setRound] = useState(0);
  const [state, setState] = useState<Omit<Asked<T>, 'again'>>({ value: null, error: null });
  const turn = useRef({ isAsking: false, isStale: false });
  const again = () => {
    turn.current.isStale = turn.current.isAsking;
    if (!turn.current.isAsking) setRound((before) => before + 1);
  };
  useEffect(() => {
    const left = new AbortController();
    turn.current = { isAsking: true, isStale: false };
    const ended = (set: () => void) => {
      if (left.signal.aborted) return;
      const { isStale } = turn.current;
      turn.current = { isAsking: false, isStale: false };
      set();
      if (isStale) again();
    };
    ask(sidecar, left.signal).then(
      (value) => ended(() => setState({ value, error: null })),
      (error: Error) => ended(() => setState(({ value }) => ({ value, error }))),
    );
    return () => left.abort();
  }, [sidecar, round, ...inputs]);
  return { ...state, again };
}

/** Asks like {@link useAsked}, and again after changes of payments. */
export function useLive<T>(...question: Parameters<typeof useAsked<T>>): Asked<T> {
  const { live } = useSignedIn();
  const asked = useAsked(...question);
  useEffect(() => live.onChange(asked.again), [live]);
  return asked;
}
