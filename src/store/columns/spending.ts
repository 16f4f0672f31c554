/** The columns of an amount that is reserved or spent, the same in both engines. */
export interface SpendingColumns {
  readonly wallet: string;
  /** The name under which it is reserved. */
  readonly idx: string;
  readonly client_pk: string;
  readonly at: number;
  readonly amount_msat: string;
  /** 0 or 1. */
  readonly settled: number;
}

/**
 * Returns rows without those that have the MAC of an earlier one: they are copies of it, which only a writer of the
 * database makes. Rows without a MAC all stay.
 */
export function withoutCopies<Row extends { readonly mac: string | null }>(
  rows: readonly Row[],
): Row[] {
  const macs = rows.map(({ mac }) => mac);
  return rows.filter(({ mac }, at) => mac === null || macs.indexOf(mac) === at);
}
