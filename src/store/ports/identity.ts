/**
 * The identity of a store and its counter. The marker file holds both outside the database, and so shows whether the
 * database was restored from a backup (docs/decisions.md 69).
 */
export interface StoreIdentity {
  /** 32 hex characters, drawn when the store was created. */
  readonly id: string;
  /**
   * 32 random bytes that only this store holds. The names of a request's effects are derived from them
   * (docs/decisions.md 52).
   */
  readonly secret: Uint8Array;
  /** Grows with every start, every change of a client or budget and every reservation of a budget. */
  count(): Promise<number>;
  /**
   * Adds one to the counter and returns the new count, which is greater than `atLeast`. A restored store passes its
   * marker's count.
   */
  advance(atLeast?: number): Promise<number>;
}
