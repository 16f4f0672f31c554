import { decode } from 'light-bolt11-decoder';
import type { Payment } from '../../client/index.ts';

/** Returns how people named a payment: its note, its message, who paid, or what it was for; null where nobody did. */
export function givenName(payment: Payment): string | null {
  const { personal_note, message, payer_name } = payment;
  return personal_note ?? message ?? payer_name ?? descriptionOf(payment);
}

/**
 * Returns the description in a payment's invoice (BOLT 11), which says what was sold. Null where there is none, and
 * for an invoice that cannot be read. The signature was checked by the sidecar.
 */
export function descriptionOf({ invoice }: Pick<Payment, 'invoice'>): string | null {
  if (invoice === null) return null;
  try {
    const section = decode(invoice).sections.find(({ name }) => name === 'description');
    return section && 'value' in section && section.value ? String(section.value) : null;
  } catch {
    return null;
  }
}
