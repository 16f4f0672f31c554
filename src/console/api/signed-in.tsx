import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { ClientInfoResponse, Permission } from '../../client/index.ts';
import type { Live } from './live.ts';
import type { Sidecar } from './sidecar.ts';
import type { Ability, About } from './types.ts';

/** Everything that a page knows of the person who signed in. */
export interface SignedIn {
  readonly sidecar: Sidecar;
  readonly about: About;
  readonly client: ClientInfoResponse;
  readonly live: Live;
}

const Context = createContext<SignedIn | null>(null);

/** Gives the pages below it what {@link useSignedIn} returns. */
export const SignedInProvider = Context.Provider;

/** Returns what is known of the person who signed in. Only pages behind the sign-in may call it. */
export function useSignedIn(): SignedIn {
  const signedIn = useContext(Context);
  if (signedIn === null) throw new Error('This page is shown before the sign-in.');
  return signedIn;
}

/** Returns a function that says whether the credentials have any of these permissions, so that no other is offered. */
export function useMay(): May {
  return mayOf(useSignedIn().client);
}

/** Says whether credentials have any of these permissions. */
export type May = (...permissions: readonly Permission[]) => boolean;

/** Returns what {@link useMay} does, for what is known of a client. */
export function mayOf({
  effective_permissions,
}: Pick<ClientInfoResponse, 'effective_permissions'>): May {
  return (...permissions) => permissions.some((one) => effective_permissions.includes(one));
}

/** Returns a function that says whether the node can do something, so that nothing else is offered. */
export function useCan(): (ability: Ability) => boolean {
  const { about } = useSignedIn();
  return (ability) => about.abilities.includes(ability);
}
