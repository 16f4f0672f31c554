import type { HumanBitcoinName } from '../../codecs/human-bitcoin-address.ts';
import type { RequestResource } from '../../net/guarded-fetch.ts';
import type { LnurlClient } from '../../net/lnurl.ts';
import type { Rates } from '../../net/rates.ts';

/** The services outside that payment strings name, reached by the guarded fetch (docs/decisions.md 74). */
export interface PaymentServices {
  readonly lnurl: LnurlClient;
  /** Resolves a Human Bitcoin Address to the BIP 321 URI of its record (BIP 353). Throws errors 107 and 113. */
  readonly resolveName: (name: HumanBitcoinName) => Promise<string>;
  /** What bitcoins cost; null where the configuration names no source (docs/decisions.md 197). */
  readonly rates: Rates | null;
  /** Asks for a web resource that may want to be paid. */
  readonly requestResource: RequestResource;
}
