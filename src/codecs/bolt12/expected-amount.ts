/**
 * Returns the amount that an offer asks for, in millisatoshis: its amount times the quantity (BOLT 12, "expected
 * amount"). Null when the payer chooses the amount, and when the offer is priced in a currency, since the exchange rate
 * is not known.
 */
export function expectedAmountMsat(terms: {
  readonly currency: string | null;
  readonly amount: bigint | null;
  readonly quantity: bigint | null;
}): bigint | null {
  if (terms.amount === null || terms.currency !== null) return null;
  return terms.amount * (terms.quantity ?? 1n);
}
