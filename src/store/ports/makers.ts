/** Who made payments, by index, and offers, by id, whose receipts are the maker's (docs/decisions.md 195). */
export interface Makers {
  /** Keeps who made it, where nobody is kept yet. Returns who is kept then. */
  keep(walletId: string, key: string, caller: string): Promise<string>;
  /** Those of the keys that the caller made. */
  of(walletId: string, caller: string, keys: readonly string[]): Promise<ReadonlySet<string>>;
}
