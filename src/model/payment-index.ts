import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { hex } from '@scure/base';
import { z } from 'zod';

/**
 * What a payment is called inside its wallet, whatever its time: `<prefix>_<64 hex>`. Prefixes: `ln` invoice and
 * spontaneous payments, `fs` offer sends, `fr` offer receives, `os` on-chain sends, `or` on-chain receives and waived
 * fees (decisions section 5). Clients know these five and fail on others.
 */
export type PaymentId = string & { readonly __brand: 'PaymentId' };
/** `<19-digit created_at>-<payment id>`: the identity of a payment in the API; never changes. */
export type PaymentIndex = string & z.core.$brand<'PaymentIndex'>;
/** `u<19-digit updated_at>-<payment id>`: where a payment's last update stands in the order of updates. */
export type UpdatedIndex = string & z.core.$brand<'UpdatedIndex'>;

/** The rail prefixes of payment ids. */
export type IdPrefix = 'ln' | 'fs' | 'fr' | 'os' | 'or';

const ID = /^(?:ln|fs|fr|os|or)_[0-9a-f]{64}$/;
/** Times end before the numbers that JavaScript cannot hold exactly. `wf` is of {@link presentId}. */
const INDEX = /^000(?:[0-8]\d{3}|900[0-6])\d{12}-(?:ln|fs|fr|os|or|wf)_[0-9a-f]{64}$/;
const UPDATED_INDEX = /^u000(?:[0-8]\d{3}|900[0-6])\d{12}-(?:ln|fs|fr|os|or|wf)_[0-9a-f]{64}$/;
/** The first id of a waived fee, at the end of an id, an index or an updated index. */
const FIRST_WAIVED_FEE_ID = /wf_([0-9a-f]{64})$/;

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
  return hashedId(outpointBytes(txid, vout));
}

/**
 * The id of the `info` payment that records what a channel's opening would have cost: `or_` and the SHA-256 of the ten
 * ASCII bytes of `waived fee` and the channel's funding outpoint, as {@link receiveId} writes it.
 */
export function waivedFeeId(fundingTxid: string, fundingVout: number): PaymentId {
  return hashedId(concatBytes(utf8ToBytes('waived fee'), outpointBytes(fundingTxid, fundingVout)));
}

/**
 * The present form of an id, an index or an updated index, for what callers and databases kept from earlier versions;
 * anything else as it is. Those called a waived fee `wf_<channel id>`. They always funded its channel with the
 * transaction's first output, so that the channel id (BOLT 2: the txid in wire byte order, XORed with the output's
 * number) is the txid, and the new id follows from the old one alone, wherever that is kept.
 */
export function presentId<T extends string>(text: T): T {
  const [old, channelId] = FIRST_WAIVED_FEE_ID.exec(text) ?? [];
  if (old === undefined || channelId === undefined) return text;
  const fundingTxid = hex.encode(hex.decode(channelId).reverse());
  return `${text.slice(0, -old.length)}${waivedFeeId(fundingTxid, 0)}` as T;
}

function hashedId(bytes: Uint8Array): PaymentId {
  return paymentId('or', hex.encode(sha256(bytes)));
}

/** An outpoint as transactions write it. */
function outpointBytes(txid: string, vout: number): Uint8Array {
  const number = new Uint8Array(4);
  new DataView(number.buffer).setUint32(0, vout, true);
  return concatBytes(hex.decode(txid).reverse(), number);
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

/** A payment index in a request; one of an earlier version is read as what it is called now. */
export const paymentIndexInput = z
  .string()
  .regex(INDEX, 'must be a payment index such as 0001700000000000000-ln_<64 hex>')
  .transform(presentId)
  .brand<'PaymentIndex'>();

/** An updated index in a request; one of an earlier version is read as what it is called now. */
export const updatedIndexInput = z
  .string()
  .regex(UPDATED_INDEX, 'must be an updated index such as u0001700000000000000-ln_<64 hex>')
  .transform(presentId)
  .brand<'UpdatedIndex'>();
