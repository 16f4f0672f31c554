import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { hex } from '@scure/base';
import { z } from 'zod';
import { once } from '../lib/once.ts';

/**
 * The id of a payment in its wallet, without a time: `<prefix>_<64 hex>`. The prefixes are `ln` for invoice and
 * spontaneous payments, `fs` for offer sends, `fr` for offer receives, `os` for on-chain sends, and `or` for on-chain
 * receives and rows of fees. Clients know these five and fail on others (docs/decisions.md 23).
 */
export type PaymentId = string & { readonly __brand: 'PaymentId' };
/** `<19-digit created_at>-<payment id>`: names a payment in the API, and never changes (docs/decisions.md 23). */
export type PaymentIndex = string & z.core.$brand<'PaymentIndex'>;
/** `u<19-digit updated_at>-<payment id>`: the place of an update in the order of updates (docs/decisions.md 25). */
export type UpdatedIndex = string & z.core.$brand<'UpdatedIndex'>;

/** The prefixes of payment ids; {@link PaymentId} says what they mean. */
export type IdPrefix = 'ln' | 'fs' | 'fr' | 'os' | 'or';

const ID = /^(?:ln|fs|fr|os|or)_[0-9a-f]{64}$/;
/** Allows only times that JavaScript numbers hold exactly. {@link presentId} replaces the prefix `wf`. */
const INDEX = /^000(?:[0-8]\d{3}|900[0-6])\d{12}-(?:ln|fs|fr|os|or|wf)_[0-9a-fA-F]{64}$/;
const UPDATED_INDEX = /^u000(?:[0-8]\d{3}|900[0-6])\d{12}-(?:ln|fs|fr|os|or|wf)_[0-9a-fA-F]{64}$/;
/** Finds the id of a waived fee of versions up to 0.2.0, at the end of an id, an index or an updated index. */
const FIRST_WAIVED_FEE_ID = /wf_([0-9a-f]{64})$/;

/** Makes an id of a prefix and 64 lowercase hex characters. Throws RangeError for any other text. */
export function paymentId(prefix: IdPrefix, hex64: string): PaymentId {
  const id = `${prefix}_${hex64}`;
  if (!ID.test(id)) throw new RangeError('a payment id needs 64 lowercase hex characters');
  return id as PaymentId;
}

/**
 * Returns the id of an on-chain receive: `or_` and the SHA-256 of the outpoint. It is hashed in the form that
 * transactions use: the txid in wire byte order, then the output's number in four bytes, least significant first. The
 * output is part of the id because one transaction can pay a wallet twice (docs/decisions.md 23).
 */
export function receiveId(txid: string, vout: number): PaymentId {
  return hashedId(outpointBytes(txid, vout));
}

/**
 * Returns the id of the `info` payment that records the waived fee of a channel: `or_` and the SHA-256 of the ten ASCII
 * bytes of `waived fee` and the channel's funding outpoint, in the form that {@link receiveId} uses
 * (docs/decisions.md 24).
 */
export function waivedFeeId(fundingTxid: string, fundingVout: number): PaymentId {
  return hashedId(concatBytes(utf8ToBytes('waived fee'), outpointBytes(fundingTxid, fundingVout)));
}

/**
 * Returns the id of the `info` payment that records what the wallet paid miners for a transaction that pays nobody
 * else: `or_` and the SHA-256 of the ten ASCII bytes of `mining fee` and the first outpoint that it spends, in the form
 * that {@link receiveId} uses (docs/decisions.md 158).
 */
export function miningFeeId(spentTxid: string, spentVout: number): PaymentId {
  return hashedId(concatBytes(utf8ToBytes('mining fee'), outpointBytes(spentTxid, spentVout)));
}

/**
 * Converts an id, an index or an updated index of a waived fee from versions up to 0.2.0 to its present form
 * (docs/decisions.md 24). Returns any other text unchanged.
 *
 * Those versions used the id `wf_<channel id>`, and always funded the channel with the first output of a transaction.
 * The channel id of BOLT 2 is the txid in wire byte order, XORed with the output's number; for output 0 it is the txid
 * itself. So the new id follows from the old one alone.
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

function outpointBytes(txid: string, vout: number): Uint8Array {
  const number = new Uint8Array(4);
  new DataView(number.buffer).setUint32(0, vout, true);
  return concatBytes(hex.decode(txid).reverse(), number);
}

/** Makes an index of a creation time in milliseconds and an id. */
export function paymentIndex(createdAtMs: number, id: PaymentId): PaymentIndex {
  return `${timePart(createdAtMs)}-${id}` as PaymentIndex;
}

/** Makes an updated index of an update time in milliseconds and an id. */
export function updatedIndex(updatedAtMs: number, id: PaymentId): UpdatedIndex {
  return `u${timePart(updatedAtMs)}-${id}` as UpdatedIndex;
}

/** Returns the update time in milliseconds that an updated index holds. */
export function updatedAtOfIndex(index: UpdatedIndex): number {
  return Number(index.slice(1, 20));
}

/** Returns the creation time in milliseconds that an index holds. */
export function createdAtOfIndex(index: PaymentIndex): number {
  return Number(index.slice(0, 19));
}

/** Returns the id that an index holds. */
export function idOfIndex(index: PaymentIndex): PaymentId {
  return index.slice(20) as PaymentId;
}

/** Returns the id that an updated index holds. */
export function idOfUpdatedIndex(index: UpdatedIndex): PaymentId {
  return index.slice(21) as PaymentId;
}

/** Returns the beginning of every index of that time. */
export function timePart(ms: number): string {
  return String(ms).padStart(19, '0');
}

/** A payment index in a request, in the present form and lower case; earlier forms are converted. */
export const paymentIndexInput = once(() =>
  z
    .string()
    .regex(INDEX, 'must be a payment index such as 0001700000000000000-ln_<64 hex>')
    .transform((text) => presentId(text.toLowerCase()))
    .brand<'PaymentIndex'>(),
);

/** The first or last hex characters of an id, by which a person names a payment (docs/decisions.md 102). */
export const idPartInput = once(() =>
  z
    .string()
    .regex(/^[0-9a-fA-F]{4,64}$/, 'must be 4 to 64 hex characters')
    .transform((text) => text.toLowerCase()),
);

/** An updated index in a request, converted as {@link paymentIndexInput} is. */
export const updatedIndexInput = once(() =>
  z
    .string()
    .regex(UPDATED_INDEX, 'must be an updated index such as u0001700000000000000-ln_<64 hex>')
    .transform((text) => presentId(text.toLowerCase()))
    .brand<'UpdatedIndex'>(),
);
