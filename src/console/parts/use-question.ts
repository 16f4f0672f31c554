import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

interface Question<Asking extends HTMLElement> {
  readonly isAsked: boolean;
  /** What asks, with `tabIndex` -1. It takes the focus, and not its buttons, so that a key held down does nothing. */
  readonly asking: RefObject<Asking | null>;
  /** The button that is there while nothing is asked. */
  readonly button: RefObject<HTMLButtonElement | null>;
  readonly ask: () => void;
  readonly cancel: () => void;
  /** Takes the question away because the answer was yes. */
  readonly agreed: () => void;
}

/** Returns a question in place of a button, which has the focus while it is asked. After "Cancel" the button has it. */
export function useQuestion<Asking extends HTMLElement>(): Question<Asking> {
  const [state, setState] = useState<'idle' | 'asked' | 'canceled'>('idle');
  const asking = useRef<Asking>(null);
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    if (state === 'asked') asking.current?.focus();
    if (state === 'canceled') button.current?.focus();
  }, [state]);
  return {
    isAsked: state === 'asked',
    asking,
    button,
    ask: () => setState('asked'),
    cancel: () => setState('canceled'),
    agreed: () => setState('idle'),
  };
}
