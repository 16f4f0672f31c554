import type { PaymentId } from '../../model/payment-index.ts';

/** A wallet's name in the operator's domain (docs/decisions.md 100). */
export interface NameRecord {
  readonly walletId: string;
  /** The kind of node that holds the wallet. */
  readonly nodeKind: string;
  readonly username: string;
  /** The BOLT 12 offer that the name stands for; null on a node without offers. */
  readonly offer: string | null;
  /** When the 24 hours began in which the name can be changed, in milliseconds of the node's clock. */
  readonly windowAtMs: number;
}

/** What a claim is decided from. */
export interface NameStanding {
  /** The wallet's present name. */
  readonly current: NameRecord | null;
  /** The name that has the claimed username now, of this wallet or of another. */
  readonly holder: NameRecord | null;
}

/** The names of wallets. A wallet has one at most, and a username belongs to one wallet. */
export interface NameStore {
  ofWallet(walletId: string): Promise<NameRecord | null>;
  find(username: string): Promise<NameRecord | null>;
  /**
   * Passes what stands to `decide` and writes the wallet's name that it returns, in one transaction. When `decide`
   * throws, nothing is written and the error is passed on. Returns the name.
   */
  claim(
    walletId: string,
    username: string,
    decide: (standing: NameStanding) => NameRecord,
  ): Promise<NameRecord>;
  /**
   * Takes a place among the wallet's unpaid invoices for payers of its name, until the invoice expires or its payment
   * is final. Returns false, and takes none, when `most` are taken, or `mostOfSource` for the same source.
   */
  takePlace(
    walletId: string,
    invoice: { readonly id: PaymentId; readonly source: string; readonly expiresAtMs: number },
    bound: { readonly nowMs: number; readonly most: number; readonly mostOfSource: number },
  ): Promise<boolean>;
  /** Gives back the place of an invoice that was not made. */
  givePlaceBack(walletId: string, id: PaymentId): Promise<void>;
}
