import { createHash } from 'node:crypto';
import { encodeTlvRecord, type TlvRecord } from '../tlv.ts';
import { isOfferType } from './ranges.ts';

/**
 * The id of an offer, hex: one SHA-256 over the bytes of its fields, as Core Lightning calculates it (docs/decisions.md
 * 162). `records` are those of the offer itself, or of a request or an invoice for it, which repeat its fields.
 */
export function offerIdOf(records: readonly TlvRecord[]): string {
  const hash = createHash('sha256');
  for (const record of records) if (isOfferType(record.type)) hash.update(encodeTlvRecord(record));
  return hash.digest('hex');
}
