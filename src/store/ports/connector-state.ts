/**
 * JSON values by kind and key: what connectors store because their node cannot, such as which wallet an LND speaks for,
 * sealed proofs of payment, which proofs a paywall has taken, and devices that stay signed in. Null is as if there were
 * none.
 */
export interface ConnectorState {
  get(walletId: string, kind: string, key: string): Promise<unknown>;
  put(walletId: string, kind: string, key: string, value: unknown): Promise<void>;
  /** Stores a value where there is none, in one transaction. Returns the value that is there then. */
  putFirst(walletId: string, kind: string, key: string, value: unknown): Promise<unknown>;
  /** Every value of a kind, by its key. One whose row does not fit is left out. */
  list(walletId: string, kind: string): Promise<ReadonlyMap<string, unknown>>;
  /** Stores what `change` makes of a value that is there, in one transaction; null removes it. */
  change(
    walletId: string,
    kind: string,
    key: string,
    change: (value: unknown) => unknown,
  ): Promise<void>;
}
