import type { Payment } from '../../client/index.ts';

/** Returns what a payment is called: its note, its message, who paid, or what it is for; null where nothing says it. */
export function givenName(payment: Payment): string | null {
  const { personal_note, message, payer_name, description } = payment;
  return personal_note ?? message ?? payer_name ?? description ?? null;
}

/** Returns what a list says of a payment beside its name: what it is for, and the caller's own id of it. */
export function besideName(payment: Payment): string[] {
  const name = givenName(payment);
  const texts = new Set([payment.description, payment.external_id]);
  return [...texts].flatMap((words) => (words == null || words === name ? [] : [words]));
}
