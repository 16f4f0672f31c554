import { ApiError } from '../../model/errors.ts';
import type { Payment } from '../../model/payment.ts';

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
