import { formatAmountMsat } from '../../model/amount.ts';
import { refused } from '../../model/errors.ts';
import type { NamedMethod } from './payment-string.ts';

/**
 * Throws error 106 when the amounts in one payment string contradict each other, also when the method that differs
 * cannot be paid: it is then not known which amount is meant, so nothing of the string may be paid
 * (docs/decisions.md 96). An offer's amount is the least that it accepts, so it may be lower.
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

/** Throws error 106 when a URI and the record of the name in it have different amounts. */
export function requireSameUriAmount(uriMsat: bigint | null, recordMsat: bigint | null): void {
  if (uriMsat === null || recordMsat === null || uriMsat === recordMsat) return;
  throw contradiction(
    `the record of its name asks for ${formatAmountMsat(recordMsat)} sats and the URI for ${formatAmountMsat(uriMsat)} sats`,
  );
}

function contradiction(what: string) {
  return refused(`This payment string cannot be used: ${what}. Ask the receiver for another one.`);
}
