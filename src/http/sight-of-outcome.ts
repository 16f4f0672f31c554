import { z } from 'zod';
import { once } from '../lib/once.ts';
import { encodePayment, type Payment, paymentJson } from '../model/payment.ts';
import { type PaymentIndex, paymentIndexInput } from '../model/payment-index.ts';
import { requireMaySeeOfKey, seesEveryPayment } from '../wallet/session/paid-by-another.ts';
import { requirePermission, type Session } from '../wallet/session/session.ts';
import type { Route } from './route.ts';

/** What a key leads to: the kept body of an answer, or the payment that its request has made. */
export type KeyOutcome = { readonly body: string } | { readonly index: PaymentIndex };

type Status = Payment['status'];

const NO_PAYMENT = { index: null, status: null };

const keptPayment = once(() =>
  z.object({ index: paymentIndexInput(), status: paymentJson().shape.status }),
);

/**
 * Throws error 106 with `data.status` when the outcome is a payment that the caller may not see, and error 108 when the
 * caller may not pay in that way (docs/decisions.md 148). Answers that are no payment, such as an invoice, hold nothing
 * that a caller with the same request may not see.
 */
export async function requireSightOf(
  outcome: KeyOutcome,
  session: Session,
  { permissionOf }: Pick<Route, 'permissionOf'>,
): Promise<void> {
  if (seesEveryPayment(session)) return;
  const { index, status } =
    'index' in outcome ? { index: outcome.index, status: null } : paymentIn(outcome.body);
  if (index === null) return;
  const payment = await session.history.payment(index);
  if (payment && permissionOf) requirePermission(session, permissionOf(encodePayment(payment)));
  const standing = payment?.status ?? status;
  if (standing !== null) await requireMaySeeOfKey(session, { index, status: standing });
}

function paymentIn(body: string): { index: PaymentIndex; status: Status } | typeof NO_PAYMENT {
  const parsed = keptPayment().safeParse(JSON.parse(body));
  return parsed.success ? parsed.data : NO_PAYMENT;
}
