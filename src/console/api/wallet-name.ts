import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { KeptValue } from './use-kept-value.ts';

const Context = createContext<KeptValue<string> | null>(null);

/** Gives the pages below it what {@link useWalletName} returns. */
export const WalletNameProvider = Context.Provider;

/** What the person calls the wallet, which this browser keeps. Only the pages of a wallet may ask. */
export function useWalletName(): KeptValue<string> {
  const kept = useContext(Context);
  if (kept === null) throw new Error('No wallet is shown here.');
  return kept;
}
