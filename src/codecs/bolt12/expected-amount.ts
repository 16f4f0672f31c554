/**
 * What an offer asks for, in millisatoshis: its amount times the quantity (BOLT 12, "expected amount"); null when
 * the offer leaves the amount to the payer or prices it in a currency, which takes a rate of exchange to tell.
 */
export function expectedAmountMsat(terms: {
  readonly currency: string | null;
  readonly amount: bigint | null;
  readonly quantity: bigint | null;
}): bigint | null {
  if (terms.amount === null || terms.currency !== null) return null;
  return terms.amount * (terms.quantity ?? 1n);
}
