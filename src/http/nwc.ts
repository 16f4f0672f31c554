/** What a pairing is made of: its relays, and the public key of an application that made its own. */
export interface NwcTerms {
  readonly relays: readonly string[];
  readonly app?: string | undefined;
}

/** What routes need of Nostr Wallet Connect (docs/decisions.md 200). */
export interface Nwc {
  /** Returns a pairing with the given relays or those of the configuration. Throws error 7 for one that cannot be. */
  termsFor(given: { [name in keyof NwcTerms]?: NwcTerms[name] | undefined }): NwcTerms;
  /**
   * Pairs a client that was just made, and returns the URI for its application; none for one that made its key. A
   * repeat returns the same.
   */
  pair(credentials: string, terms: NwcTerms): Promise<{ nwc_uri?: string }>;
  /** Must be called after clients were changed, so that applications are told what they may do now. */
  changed(): void;
}
