type Ranges = readonly (readonly [bigint, bigint])[];

function within(type: bigint, ranges: Ranges): boolean {
  return ranges.some(([low, high]) => type >= low && type <= high);
}

/** Whether a field belongs to an offer: 1 to 79 and the first experimental range (BOLT 12). */
export function isOfferType(type: bigint): boolean {
  return within(type, [
    [1n, 79n],
    [1_000_000_000n, 1_999_999_999n],
  ]);
}

/** Returns whether a field belongs to an invoice request, including the fields of its offer, without its signature. */
export function isInvoiceRequestType(type: bigint): boolean {
  return within(type, [
    [0n, 159n],
    [1_000_000_000n, 2_999_999_999n],
  ]);
}

/** Returns whether a field belongs to an invoice, including the fields of its request, without its signature. */
export function isInvoiceType(type: bigint): boolean {
  return within(type, [
    [0n, 239n],
    [1_000_000_000n, 3_999_999_999n],
  ]);
}

/** Returns whether a field holds a signature, and so is in no merkle tree (BOLT 12, "Signature Calculation"). */
export function isSignatureType(type: bigint): boolean {
  return within(type, [[240n, 1000n]]);
}
