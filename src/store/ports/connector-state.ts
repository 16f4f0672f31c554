/** JSON values that connectors store because their node cannot, such as which wallet an LND speaks for. */
export interface ConnectorState {
  get(walletId: string, kind: string, key: string): Promise<unknown>;
  put(walletId: string, kind: string, key: string, value: unknown): Promise<void>;
}
