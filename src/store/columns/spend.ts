import { storedPayment } from '../../model/description.ts';
import { encodePayment, type Payment } from '../../model/payment.ts';
import type { Spend, SpendState } from '../ports.ts';

/** The columns of a spend that are signed, the same in both engines. */
export interface SpendColumns {
  readonly wallet: string;
  readonly idx: string;
  readonly state: SpendState;
  readonly json: string;
  readonly after_attempt: number | null;
  readonly attempt: number | null;
  readonly plan: string | null;
  readonly caller: string;
  readonly idempotency_key: string | null;
  readonly approve_until: number | null;
}

/** Returns the columns of a spend. */
export function columnsOfSpend(spend: Omit<Spend, 'fetchedInvoice'>): SpendColumns {
  return {
    wallet: spend.walletId,
    idx: spend.payment.index,
    state: spend.state,
    json: JSON.stringify(encodePayment(spend.payment)),
    after_attempt: spend.afterAttempt,
    attempt: spend.attempt,
    plan: spend.plan,
    caller: spend.caller,
    idempotency_key: spend.idempotencyKey,
    approve_until: spend.approveUntilMs,
  };
}

/**
 * Returns the spend of these columns, with the invoice that was fetched for it. Null where the text of its payment is
 * not that of a payment with its index.
 */
export function spendOf(columns: SpendColumns, fetchedInvoice: string | null): Spend | null {
  const payment = paymentIn(columns);
  if (payment === null) return null;
  return {
    walletId: columns.wallet,
    payment,
    state: columns.state,
    afterAttempt: columns.after_attempt,
    attempt: columns.attempt,
    plan: columns.plan,
    fetchedInvoice,
    caller: columns.caller,
    idempotencyKey: columns.idempotency_key,
    approveUntilMs: columns.approve_until,
  };
}

function paymentIn({ idx, json }: SpendColumns): Payment | null {
  try {
    const payment = storedPayment(json);
    return payment.index === idx ? payment : null;
  } catch {
    return null;
  }
}

/** Returns a spend that the node is asked to make, with what is sent. */
export function asked(spend: Spend, plan: string | null): Spend {
  const state = spend.state === 'begun' ? 'asked' : spend.state;
  return { ...spend, state, plan: plan ?? spend.plan };
}

/** Returns a spend that was approved, of a node that had that attempt as its newest, with what is sent. */
export function approved(
  spend: Spend,
  { plan, afterAttempt }: Pick<Spend, 'plan' | 'afterAttempt'>,
): Spend {
  return { ...spend, state: 'asked', payment: approvedPayment(spend.payment), plan, afterAttempt };
}

/** Returns a payment that waits no longer. */
export function approvedPayment(payment: Payment): Payment {
  return { ...payment, statusMsg: 'pending' };
}

/** Returns a spend that the node has shown, with its attempt where it has one; null where it says so already. */
export function known(spend: Spend, attempt: number | null): Spend | null {
  if (spend.state === 'known' && (spend.attempt !== null || attempt === null)) return null;
  return { ...spend, state: 'known', attempt: spend.attempt ?? attempt };
}
