import { useState } from 'preact/hooks';
import type { Sidecar } from './sidecar.ts';
import { useSignedIn } from './signed-in.tsx';

/** Something that a person does, and how it stands. */
export interface Act<Input, T> {
  readonly isBusy: boolean;
  /** What the latest one gave; null before it, and after {@link forget}. */
  readonly value: T | null;
  readonly error: Error | null;
  /** Does it. While it is being done, another one does nothing. */
  readonly run: (input: Input) => void;
  readonly forget: () => void;
}

/** Returns something that a person does, with how it stands. `onDone` is called after each one that worked. */
export function useAct<T, Input = void>(
  act: (sidecar: Sidecar, input: Input) => Promise<T>,
  onDone: (value: T) => void = () => undefined,
): Act<Input, T> {
  const { sidecar } = useSignedIn();
  const [state, setState] = useState<Pick<Act<Input, T>, 'isBusy' | 'value' | 'error'>>(IDLE);
  return {
    ...state,
    run(input) {
      if (state.isBusy) return;
      setState({ ...IDLE, isBusy: true });
      act(sidecar, input).then(
        (value) => {
          setState({ ...IDLE, value });
          onDone(value);
        },
        (error: Error) => setState({ ...IDLE, error }),
      );
    },
    forget: () => setState(IDLE),
  };
}

const IDLE = { isBusy: false, value: null, error: null };
