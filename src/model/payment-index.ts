import { z } from 'zod';

/**
 * What a payment is called inside its wallet, whatever its time: `<prefix>_<64 hex>`. Prefixes: `ln` invoice and
 * spontaneous payments, `fs` offer sends, `fr` offer receives, `os` on-chain sends, `or` on-chain receives
 * (decisions section 5), `wf` waived fees.
 */
export type PaymentId = string & { readonly __brand: 'PaymentId' };
/** `<19-digit created_at>-<payment id>`: the identity of a payment in the API; never changes. */
export type PaymentIndex = string & { readonly __brand: 'PaymentIndex' };
/** `u<19-digit updated_at>-<payment id>`: where a payment's last update stands in the order of updates. */
export type UpdatedIndex = string & { readonly __brand: 'UpdatedIndex' };

/** The rail prefixes of payment ids. */
export type IdPrefix = 'ln' | 'fs' | 'fr' | 'os' | 'or' | 'wf';

const ID = /^(?:ln|fs|fr|os|or|wf)_[0-9a-f]{64}$/;
const INDEX = /^(\d{19})-((?:ln|fs|fr|os|or|wf)_[0-9a-f]{64})$/;

/** Joins a prefix and 32 bytes of lowercase hex. */
export function paymentId(prefix: IdPrefix, hex64: string): PaymentId {
  const id = `${prefix}_${hex64}`;
  if (!ID.test(id)) throw new RangeError('a payment id needs 64 lowercase hex characters');
  return id as PaymentId;
}

/** Joins creation time and id. */
export function paymentIndex(createdAtMs: number, id: PaymentId): PaymentIndex {
  return `${padMs(createdAtMs)}-${id}` as PaymentIndex;
}

/** Joins update time and id. */
export function updatedIndex(updatedAtMs: number, id: PaymentId): UpdatedIndex {
  return `u${padMs(updatedAtMs)}-${id}` as UpdatedIndex;
}

/** Splits a payment index; null when the text is none. */
function parsePaymentIndex(text: string): { createdAtMs: number; id: PaymentId } | null {
  const match = INDEX.exec(text);
  const createdAtMs = Number(match?.[1]);
  if (!match || !Number.isSafeInteger(createdAtMs)) return null;
  return { createdAtMs, id: match[2] as PaymentId };
}

/** Splits an updated index; null when the text is none. */
export function parseUpdatedIndex(text: string): { updatedAtMs: number; id: PaymentId } | null {
  if (!text.startsWith('u')) return null;
  const parsed = parsePaymentIndex(text.slice(1));
  return parsed && { updatedAtMs: parsed.createdAtMs, id: parsed.id };
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
  .refine((text) => parsePaymentIndex(text) !== null, {
    message: 'must be a payment index such as 0001700000000000000-ln_<64 hex>',
  })
  .transform((text) => text as PaymentIndex);

/** An updated index in a request. */
export const updatedIndexInput = z
  .string()
  .refine((text) => parseUpdatedIndex(text) !== null, {
    message: 'must be an updated index such as u0001700000000000000-ln_<64 hex>',
  })
  .transform((text) => text as UpdatedIndex);
