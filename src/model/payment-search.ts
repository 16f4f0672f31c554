import type { PaymentJson } from './payment.ts';

/** The fields in which a payment is looked for. */
const FIELDS = [
  'personal_note',
  'description',
  'external_id',
  'refund_of',
  'message',
  'payer_name',
  'index',
  'hash',
  'txid',
  'address',
  'invoice',
  'offer_id',
  'status_msg',
  'amount',
] as const satisfies readonly (keyof PaymentJson)[];

/** Returns whether a payment has every word of the search in one of its texts, or its amount; case does not matter. */
export function matches(payment: PaymentJson, search: string): boolean {
  const text = FIELDS.map((field) => payment[field] ?? '')
    .join('\n')
    .toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
