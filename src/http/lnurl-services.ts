type LnurlJson = Readonly<Record<string, unknown>>;

/** The LNURL services that this sidecar answers for; present while the sandbox node is in use. */
export interface LnurlServices {
  /** First answer of a Lightning Address (LUD-16). */
  lightningAddress(name: string): LnurlJson;
  /** First answer of a service (LUD-03, LUD-06). */
  lnurlFirst(name: string): LnurlJson;
  /** Second answer; an invoice of a wallet is watched before it is given out. */
  lnurlSecond(
    name: string,
    query: Readonly<Record<string, string | undefined>>,
  ): Promise<LnurlJson>;
}
