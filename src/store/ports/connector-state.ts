/**
 * JSON values by kind and key: what connectors store because their node cannot, such as which wallet an LND speaks for,
 * and sealed proofs of payment. Null is as if there were none.
 */
export interface ConnectorState {
  get(walletId: string, kind: string, key: string): Promise<unknown>;
  put(walletId: string, kind: string, key: string, value: unknown): Promise<void>;
}
