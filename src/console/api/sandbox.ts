import type { Amount } from '../../client/index.ts';
import type { Sidecar } from './sidecar.ts';
import type { SignedIn } from './signed-in.tsx';
import { type Act, useAct } from './use-act.ts';

/** Returns whether somebody is offered the sandbox's controls: they are for those who may do everything. */
export function steersSandbox({ about, client }: Pick<SignedIn, 'about' | 'client'>): boolean {
  return (
    about.sandbox && (about.owner || (client.scopes.includes('full') && client.budget === null))
  );
}

/** Sends a control of the sandbox, for which the client has no method. */
export function sandboxControl<T>({ transport }: Sidecar, name: string, body: object): Promise<T> {
  return transport.post<T>(`/sandbox/${name}`, body);
}

/** What somebody outside pays; `amount` where the string names none. */
interface OutsidePayment {
  readonly payable: string;
  readonly amount: Amount | undefined;
}

/** Returns a payment by somebody outside to a wallet of the sandbox. */
export function usePayFromOutside(): Act<OutsidePayment, { readonly status: string }> {
  return useAct((sidecar, payment: OutsidePayment) => sandboxControl(sidecar, 'pay', payment));
}
