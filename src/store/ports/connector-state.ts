/**
 * JSON values by kind and key: what connectors store because their node cannot, such as which wallet an LND speaks for,
 * sealed proofs of payment, and which proofs a paywall has taken. Null is as if there were none.
 */
export interface ConnectorState {
  get(walletId: string, kind: string, key: string): Promise<unknown>;
  put(walletId: string, kind: string, key: string, value: unknown): Promise<void>;
  /** Stores a value where there is none, in one transaction. Returns the value that is there then. */
  putFirst(walletId: string, kind: string, key: string, value: unknown): Promise<unknown>;
}
