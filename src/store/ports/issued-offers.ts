/** What the wallet keeps of its offers for itself, where the node does not keep the history (docs/decisions.md 184). */
export interface IssuedOffers {
  /**
   * Keeps the caller's own id, null for none, which payments get that arrive on the offer. Returns false, and keeps
   * nothing, where the offer was kept with another id: a node may make one offer for two requests of the same terms.
   */
  keep(walletId: string, offerId: string, externalId: string | null): Promise<boolean>;
}
