import { useEffect, useState } from 'preact/hooks';
import { WalletSidecarError } from '../../client/index.ts';
import { callersValue } from '../values/kept.ts';
import { newKey } from '../values/key.ts';
import type { Sidecar } from './sidecar.ts';
import { useSignedIn } from './signed-in.tsx';
import type { Act } from './use-act.ts';

/** A request, and the Idempotency-Key that it is sent with however often. */
interface Kept<Request> {
  readonly key: string;
  readonly request: Request;
}

/** Something that must be done once, however often the page is reloaded, and how it stands. */
export interface KeptAct<Request, T> extends Act<Request, T> {
  /** Whether nobody knows what became of the latest request, so that it has to be asked again. */
  readonly isOpen: boolean;
  /** Sends the open request again, with the same key. */
  readonly again: () => void;
  /** Forgets the latest outcome, or the open request. */
  readonly forget: () => void;
}

/**
 * Returns something that must be done once. The key and the request are kept in this tab until the page shows the
 * outcome, so that a page that is reloaded or left in the middle asks again with the same key. `name` tells what is
 * done.
 */
export function useKeptAct<Request, T>(
  name: string,
  act: (sidecar: Sidecar, request: Request, key: string) => Promise<T>,
): KeptAct<Request, T> {
  const { sidecar, about } = useSignedIn();
  const slot = callersValue<Kept<Request>>(sessionStorage, name, about);
  const [state, setState] = useState<State<T>>(() => (slot.read() === null ? IDLE : ASKING_AGAIN));
  // What is kept is forgotten when the outcome is on the page, and not before.
  useEffect(() => {
    if (state.value !== null) slot.forget();
  }, [state.value]);
  const send = ({ key, request }: Kept<Request>, isRepeat: boolean) => {
    setState(isRepeat ? ASKING_AGAIN : { ...IDLE, isBusy: true });
    act(sidecar, request, key).then(
      (value) => setState({ ...IDLE, value }),
      (error: Error) => {
        const isOpen =
          isRepeat || (error instanceof WalletSidecarError && error.mayHaveTakenEffect);
        if (!isOpen) slot.forget();
        setState({ ...IDLE, error, isOpen });
      },
    );
  };
  const again = () => {
    const kept = slot.read();
    if (kept !== null) send(kept, true);
  };
  useEffect(again, []);
  return {
    ...state,
    run(request) {
      const kept = { key: newKey(), request };
      slot.keep(kept);
      send(kept, false);
    },
    again,
    forget() {
      slot.forget();
      setState(IDLE);
    },
  };
}

type State<T> = Pick<KeptAct<never, T>, 'isBusy' | 'value' | 'error' | 'isOpen'>;

const IDLE = { isBusy: false, value: null, error: null, isOpen: false };
const ASKING_AGAIN = { ...IDLE, isBusy: true, isOpen: true };
