import type { Offer } from '../../src/codecs/bolt12/index.ts';
import { isIssuerKey } from '../../src/codecs/bolt12/issuer-key.ts';
import type { PayerProof } from '../../src/codecs/payer-proof/index.ts';

/**
 * Returns whether a proof is about a payment to the issuer of an offer, by the key that signed the invoice. This
 * identifies the payee, and not one offer.
 */
export function paysIssuerOf(proof: PayerProof, offer: Offer): boolean {
  return isIssuerKey(proof.nodeId, offer);
}
