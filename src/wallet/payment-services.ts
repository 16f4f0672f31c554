import type { LnurlClient } from '../net/lnurl.ts';

/** What payment strings lead to on the network, behind the guarded fetch (decisions section 8). */
export interface PaymentServices {
  readonly lnurl: LnurlClient;
  /** The BIP 321 URI that a Human Bitcoin Address resolves to (BIP 353). Throws errors 106 and 107. */
  readonly resolveName: (name: { username: string; domain: string }) => Promise<string>;
}
