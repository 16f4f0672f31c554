type LnurlJson = Readonly<Record<string, unknown>>;

/** The LNURL services of the sandbox's outside world. They exist while the sandbox node is in use. */
export interface LnurlServices {
  /** Returns the first answer of a pay service as a Lightning Address (LUD-16); null when there is none. */
  lightningAddress(name: string): LnurlJson | null;
  /** Returns the first answer of a service (LUD-03, LUD-06). */
  lnurlFirst(name: string): LnurlJson;
  lnurlSecond(name: string, query: Readonly<Record<string, string | undefined>>): LnurlJson;
}
