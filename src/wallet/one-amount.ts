import { formatAmountMsat } from '../model/amount.ts';
import { refused } from '../model/errors.ts';
import type { NamedMethod } from './payment-string.ts';

/**
 * Throws error 106 when the amounts that stand in one payment string contradict each other, also in a method that
 * cannot be paid: then nobody knows what is asked for, and nothing of the string may be paid (decisions section 13).
 * An offer may ask for less, since its amount is the least that it takes.
 */
export function requireOneAmount(
  methods: readonly NamedMethod[],
  uriAmountMsat: bigint | null,
): void {
  const invoiced = methods.flatMap((method) =>
    method.kind === 'invoice' && method.invoice.amountMsat !== null
      ? [method.invoice.amountMsat]
      : [],
  );
  const askedMsat = uriAmountMsat ?? invoiced[0];
  if (askedMsat === undefined) return;
  const asked = `${uriAmountMsat === null ? 'an invoice' : 'the URI'} for ${formatAmountMsat(askedMsat)} sats`;
  const other = invoiced.find((amountMsat) => amountMsat !== askedMsat);
  if (other !== undefined) {
    throw contradiction(`an invoice in it asks for ${formatAmountMsat(other)} sats and ${asked}`);
  }
  for (const method of methods) {
    if (method.kind !== 'offer' || (method.offer.amountMsat ?? 0n) <= askedMsat) continue;
    const leastMsat = formatAmountMsat(method.offer.amountMsat ?? 0n);
    throw contradiction(`an offer in it asks for at least ${leastMsat} sats and ${asked}`);
  }
}

/** Throws error 106 when a URI and the record that its name leads to have different amounts. */
export function requireSameUriAmount(uriMsat: bigint | null, recordMsat: bigint | null): void {
  if (uriMsat === null || recordMsat === null || uriMsat === recordMsat) return;
  throw contradiction(
    `the record of its name asks for ${formatAmountMsat(recordMsat)} sats and the URI for ${formatAmountMsat(uriMsat)} sats`,
  );
}

function contradiction(what: string) {
  return refused(`This payment string cannot be used: ${what}. Ask the receiver for another one.`);
}
