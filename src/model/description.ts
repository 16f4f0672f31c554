import { descriptionOf } from '../codecs/bolt11/index.ts';
import { bolt12PrefixOf, invoiceDescriptionOf } from '../codecs/bolt12/index.ts';
import { readOr } from '../codecs/codec-error.ts';
import { decodePayment, type Payment, type PaymentJson } from './payment.ts';
import { INVOICE_DESCRIPTION_MAX_BYTES } from './text.ts';

const CUT = '…';

/**
 * Returns the description of an invoice or offer as a payment keeps it (docs/decisions.md 183): null for an empty one,
 * and no longer than an invoice of BOLT 11 can hold, since an offer has no such limit.
 */
export function keptDescription(text: string | null): string | null {
  if (text === null || text === '') return null;
  const bytes = Buffer.from(text.toWellFormed());
  if (bytes.length <= INVOICE_DESCRIPTION_MAX_BYTES) return text.toWellFormed();
  const kept = bytes.subarray(0, INVOICE_DESCRIPTION_MAX_BYTES - Buffer.byteLength(CUT));
  // As part of a stream, a character that is cut through is left out.
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(kept, { stream: true }) + CUT;
}

/** Returns the description in an invoice of BOLT 11 or 12; null without one, and where the invoice cannot be read. */
export function describedBy(invoice: string | null): string | null {
  if (invoice === null) return null;
  const read = bolt12PrefixOf(invoice) === null ? descriptionOf : invoiceDescriptionOf;
  return readOr(
    () => keptDescription(read(invoice)),
    () => null,
  );
}

const NONE_OF_LATER = {
  ...{ external_id: null, refund_of: null, refunded: null },
  ...{ price: null, rate: null, rate_at: null, rate_source: null },
} as const;

/** A payment that was stored by a version before these fields were added. */
type OlderJson = Omit<PaymentJson, 'description' | keyof typeof NONE_OF_LATER> &
  Partial<PaymentJson>;

/** Returns whether a version before these fields were added stored it: inside a text, the quotes would be escaped. */
export function isOlderJson(json: string): boolean {
  return !json.includes('"price":');
}

/** Reads the JSON of a stored payment. Where an older version wrote it, what is missing is added. */
export function storedPayment(json: string): Payment {
  const stored: OlderJson = JSON.parse(json);
  const { description = describedBy(stored.invoice) } = stored;
  return decodePayment({ ...NONE_OF_LATER, ...stored, description });
}
