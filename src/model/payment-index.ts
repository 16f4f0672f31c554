import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import { z } from 'zod';

/**
 * What a payment is called inside its wallet, whatever its time: `<prefix>_<64 hex>`. Prefixes: `ln` invoice and
 * spontaneous payments, `fs` offer sends, `fr` offer receives, `os` on-chain sends, `or` on-chain receives
 * (decisions section 5), `wf` waived fees.
 */
export type PaymentId = string & { readonly __brand: 'PaymentId' };
/** `<19-digit created_at>-<payment id>`: the identity of a payment in the API; never changes. */
export type PaymentIndex = string & z.core.$brand<'PaymentIndex'>;
/** `u<19-digit updated_at>-<payment id>`: where a payment's last update stands in the order of updates. */
export type UpdatedIndex = string & z.core.$brand<'UpdatedIndex'>;

/** The rail prefixes of payment ids. */
export type IdPrefix = 'ln' | 'fs' | 'fr' | 'os' | 'or' | 'wf';

const ID = /^(?:ln|fs|fr|os|or|wf)_[0-9a-f]{64}$/;
/** Times end before the numbers that JavaScript cannot hold exactly. */
const INDEX = /^000(?:[0-8]\d{3}|900[0-6])\d{12}-(?:ln|fs|fr|os|or|wf)_[0-9a-f]{64}$/;
const UPDATED_INDEX = /^u000(?:[0-8]\d{3}|900[0-6])\d{12}-(?:ln|fs|fr|os|or|wf)_[0-9a-f]{64}$/;

/** Joins a prefix and 32 bytes of lowercase hex. */
export function paymentId(prefix: IdPrefix, hex64: string): PaymentId {
  const id = `${prefix}_${hex64}`;
  if (!ID.test(id)) throw new RangeError('a payment id needs 64 lowercase hex characters');
  return id as PaymentId;
}

/**
 * The id of an on-chain receive: `or_` and the SHA-256 of the outpoint as transactions write it (txid in wire byte
 * order, output number as four bytes, least significant first), since one transaction can pay a wallet twice.
 */
export function receiveId(txid: string, vout: number): PaymentId {
  const outpoint = new Uint8Array(4);
  new DataView(outpoint.buffer).setUint32(0, vout, true);
  const bytes = concatBytes(hexToBytes(txid).reverse(), outpoint);
  return paymentId('or', bytesToHex(sha256(bytes)));
}

/** Joins creation time and id. */
export function paymentIndex(createdAtMs: number, id: PaymentId): PaymentIndex {
  return `${padMs(createdAtMs)}-${id}` as PaymentIndex;
}

/** Joins update time and id. */
export function updatedIndex(updatedAtMs: number, id: PaymentId): UpdatedIndex {
  return `u${padMs(updatedAtMs)}-${id}` as UpdatedIndex;
}

/** When the update was, milliseconds. */
export function updatedAtOfIndex(index: UpdatedIndex): number {
  return Number(index.slice(1, 20));
}

/** The id inside an index that is known to be valid. */
export function idOfIndex(index: PaymentIndex): PaymentId {
  return index.slice(20) as PaymentId;
}

function padMs(ms: number): string {
  return String(ms).padStart(19, '0');
}

/** A payment index in a request. */
export const paymentIndexInput = z
  .string()
  .regex(INDEX, 'must be a payment index such as 0001700000000000000-ln_<64 hex>')
  .brand<'PaymentIndex'>();

/** An updated index in a request. */
export const updatedIndexInput = z
  .string()
  .regex(UPDATED_INDEX, 'must be an updated index such as u0001700000000000000-ln_<64 hex>')
  .brand<'UpdatedIndex'>();
