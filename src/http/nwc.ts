/** What routes need of Nostr Wallet Connect (docs/decisions.md 200). */
export interface Nwc {
  /** Returns the relays of a new pairing, the given ones or those of the configuration. Throws error 7 without any. */
  relaysFor(given: readonly string[] | undefined): readonly string[];
  /** Pairs a client that was just made, and returns the URI for its application. A repeat returns the same. */
  pair(credentials: string, relays: readonly string[]): Promise<string>;
  /** Must be called after clients were changed, so that applications are told what they may do now. */
  changed(): void;
}
