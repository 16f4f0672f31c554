/** Where an LND is found. */
export interface LndLocation {
  /** Base URL of its REST interface. */
  readonly url: string;
  /** PEM of its self-signed certificate, which is then the only one accepted; null trusts the system's authorities. */
  readonly cert: string | null;
}
