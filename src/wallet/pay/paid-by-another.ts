import { ApiError } from '../../model/errors.ts';
import type { Payment } from '../../model/payment.ts';
import { allows, type Session } from '../session.ts';

/**
 * Error 106 for what another client of the wallet has paid or is paying. It tells `data.status` and nothing else
 * (docs/decisions.md 46): `data.sent: "no"` would say that no money moved.
 */
export class PaidByAnother extends ApiError {
  constructor({ status }: Pick<Payment, 'status'>) {
    super('refused', 'Another client of this wallet has paid this already or is paying it.', {
      data: { status },
    });
  }

  override with(): this {
    return this;
  }
}

/**
 * Throws {@link PaidByAnother} for an outgoing payment that the caller may not see. Its own payer may see it, and
 * callers that may read payments (docs/decisions.md 46).
 */
export async function requireMaySee(session: Session, payment: Payment): Promise<void> {
  if (session.isOwner || allows(session, 'get_payment_by_id')) return;
  const caller = await session.store.spends.callerOf(session.userPk, payment.index);
  if (caller !== session.caller.id) throw new PaidByAnother(payment);
}
