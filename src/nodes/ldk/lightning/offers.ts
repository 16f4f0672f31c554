import type { CreatedOffer, CreateOfferCommand } from '../../node.ts';
import type { LdkWallet } from '../process/wallet.ts';
import { shapes } from '../words/words.ts';

/** Makes an offer, each time another one; see `NodeOffers.createOffer`. Throws `refused` without a peer. */
export async function createOffer(
  { helper }: LdkWallet,
  { description, minAmountMsat, expiresAtMs }: CreateOfferCommand,
): Promise<CreatedOffer> {
  const order = {
    ...{ description, amount_msat: minAmountMsat },
    // Rounded down, because an offer must not outlive the expiry that was asked for.
    expires_at_secs: expiresAtMs === null ? null : Math.floor(expiresAtMs / 1000),
  };
  const { offer, offer_id, issuer } = await helper.call('create_offer', order, shapes().offer);
  return { offer, offerId: offer_id, issuerId: issuer };
}
