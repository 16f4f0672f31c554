/** One advance of a store's counter (docs/decisions.md 145). */
export interface Advance {
  readonly count: number;
  /** 16 hex characters, drawn at random for this advance; null for one that was made before stores drew words. */
  readonly word: string | null;
}

/**
 * How a store stands to an advance that was seen of it. `behind`: it has not come that far, so it is an older copy.
 * `branched`: it made another advance in that place, so it is an older copy that was used since.
 */
export type Lineage = 'same' | 'behind' | 'branched';

/** Where a store stands, read at one moment. */
export interface StoreStanding {
  readonly newest: Advance;
  readonly lineage: Lineage;
  /** Whether it was found restored and the owner has not confirmed it since. */
  readonly isUnconfirmed: boolean;
}

/**
 * The identity of a store, and its counter with a random word for each advance. The marker file holds identity and
 * newest advance outside the database, and so shows whether the database was restored from a backup (docs/decisions.md
 * 69, 150).
 */
export interface StoreIdentity {
  /** 32 hex characters, drawn when the store was created. */
  readonly id: string;
  /**
   * 32 random bytes that only this store holds. The names of a request's effects (docs/decisions.md 52) and the MACs of
   * paywalls (docs/decisions.md 188) are derived from them.
   */
  readonly secret: Uint8Array;
  /** Whether rows carry a MAC (docs/decisions.md 171). The marker keeps it. */
  readonly isSigned: boolean;
  /**
   * Returns how the store stands to the advance that a marker holds, and to those that this process has made: a
   * database on another machine may go back while the process runs. Null for no marker. What a marker holds from before
   * the last {@link confirm} fits.
   */
  standing(marked: Advance | null): Promise<StoreStanding>;
  /** Adds one to the counter, which every change of a client or budget and every reservation does too. */
  advance(): Promise<Advance>;
  /** Keeps that the store was found restored, until it is confirmed. `count` is what the marker holds. */
  distrust(count: number): Promise<void>;
  /**
   * The owner vouches for the store as it is. Advances the counter beyond `atLeast`, a marker's count, beyond the
   * markers by which it was found restored, and beyond all that this process has made.
   */
  confirm(atLeast: number): Promise<Advance>;
  /** Calls `look` each time when another database may have taken this one's place, as after a new connection. */
  onDoubt(look: () => void): void;
}
