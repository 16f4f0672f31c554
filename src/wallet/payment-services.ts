import type { LnurlClient } from '../net/lnurl.ts';

/** What payment strings lead to on the network, behind the guarded fetch (decisions section 8). */
export interface PaymentServices {
  readonly lnurl: LnurlClient;
  /** The BIP 321 URI that a Human Bitcoin Address resolves to (BIP 353). Throws errors 107 and 113. */
  readonly resolveName: (name: { username: string; domain: string }) => Promise<string>;
}
