import type { Payment } from '../../client/index.ts';

/** The fields in which a payment is looked for. */
const FIELDS = [
  'personal_note',
  'description',
  'external_id',
  'message',
  'payer_name',
  'index',
  'hash',
  'txid',
  'address',
  'invoice',
  'offer_id',
  'status_msg',
] as const satisfies readonly (keyof Payment)[];

/** Returns whether a payment has every word of the search in one of its texts, or its amount; case does not matter. */
export function matches(payment: Payment, search: string): boolean {
  const fields = FIELDS.map((field) => payment[field] ?? '');
  const text = [...fields, `${payment.amount ?? ''}`].join('\n').toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
