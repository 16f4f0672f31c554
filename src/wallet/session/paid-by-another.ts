import { ApiError } from '../../model/errors.ts';
import type { Payment } from '../../model/payment.ts';
import type { PaymentIndex } from '../../model/payment-index.ts';
import { seesOnlyOwn } from './own-payments.ts';
import { allows, type Onlooker } from './session.ts';

/**
 * Error 106 for what another client of the wallet has paid or is paying. It tells `data.status` and nothing else
 * (docs/decisions.md 46): `data.sent: "no"` would say that no money moved.
 */
export class PaidByAnother extends ApiError {
  constructor(
    { status }: Pick<Payment, 'status'>,
    message = 'Another client of this wallet has paid this already or is paying it.',
  ) {
    super('refused', message, { data: { status } });
  }

  override with(): this {
    return this;
  }
}

/**
 * Throws {@link PaidByAnother} for an outgoing payment that the caller may not see. Its own payer may see it, and
 * callers that may read payments (docs/decisions.md 46).
 */
export async function requireMaySee(session: Onlooker, payment: Payment): Promise<void> {
  if (!(await maySee(session, payment.index))) throw new PaidByAnother(payment);
}

/**
 * Throws {@link PaidByAnother} for the payment of a key of which it is not known whose it is, unless the caller may see
 * that payment (docs/decisions.md 148).
 */
export async function requireMaySeeOfKey(
  session: Onlooker,
  payment: Pick<Payment, 'index' | 'status'>,
): Promise<void> {
  if (await maySee(session, payment.index)) return;
  throw new PaidByAnother(
    payment,
    'This Idempotency-Key was used for a payment before an upgrade from version 0.1, which did not keep by whom, and these credentials may not read that payment. data.status says how it stands; where it has failed, use a new key.',
  );
}

/** Returns whether the caller may see every payment of the wallet. */
export function seesEveryPayment(session: Onlooker): boolean {
  return session.isOwner || (allows(session, 'get_payment_by_id') && !seesOnlyOwn(session));
}

/** Returns whether the caller may see a payment. */
export async function maySee(session: Onlooker, index: PaymentIndex): Promise<boolean> {
  if (seesEveryPayment(session)) return true;
  const { store, userPk, caller } = session;
  if ((await store.makers.of(userPk, caller.id, [index])).size > 0) return true;
  // Payments of older versions have no maker.
  return (await store.spends.callerOf(userPk, index)) === caller.id;
}
