type LnurlJson = Readonly<Record<string, unknown>>;

/** The LNURL services and Lightning Addresses that this sidecar serves. They exist while the sandbox node is in use. */
export interface LnurlServices {
  /** Returns the first answer of a Lightning Address (LUD-16). */
  lightningAddress(name: string): LnurlJson;
  /** Returns the first answer of a service (LUD-03, LUD-06). */
  lnurlFirst(name: string): LnurlJson;
  /** Returns the second answer of a service. An invoice of a wallet is watched before it is answered. */
  lnurlSecond(
    name: string,
    query: Readonly<Record<string, string | undefined>>,
  ): Promise<LnurlJson>;
}
