import type { Payment } from '../../../src/model/payment.ts';
import { idOf } from '../../../src/model/payment.ts';
import type { SendReport } from '../../../src/nodes/node.ts';
import { randomNames } from '../../../src/wallet/effect-names.ts';
import type { SendContext, SendIdentity, SendPlan } from '../../../src/wallet/pay/send.ts';
import type { Session } from '../../../src/wallet/session.ts';
import { sampleDone, sampleFailed, samplePayment } from '../../support/sample-payment.ts';

/** A send of the sample payment of that number; `start` is what the node says when it is asked. */
export function planOf(
  start: (identity: SendIdentity) => Promise<SendReport>,
  change: Partial<SendPlan> & { readonly number?: number } = {},
): SendPlan {
  const { number = 1, ...others } = change;
  const { hash } = samplePayment(number);
  return {
    id: idOf(samplePayment(number)),
    rail: 'invoice',
    amountMsat: 1000n,
    maxFeeMsat: 10n,
    again: 'after-failure',
    details: { hash },
    sign: null,
    start,
    ...others,
  };
}

/** The context of a request of that session. */
export function contextOf(session: Session, change: Partial<SendContext> = {}): SendContext {
  return {
    session,
    signal: new AbortController().signal,
    idempotencyKey: null,
    names: randomNames,
    onSent: () => undefined,
    ...change,
  };
}

/** What the node shows of that send. */
export const shown = (payment: Payment, attempt: number | null = null) =>
  ({ state: 'known', payment, attempt }) as const;

type Sent = (identity: SendIdentity, number?: number) => Payment;
const sentAs =
  (make: typeof samplePayment): Sent =>
  ({ index, createdAtMs }, number = 1) =>
    make(number, { index, createdAtMs, updatedAtMs: createdAtMs });

/** The sample payment of that number under the wallet's identity, pending, completed or failed. */
export const sent = {
  pending: sentAs(samplePayment),
  done: sentAs(sampleDone),
  failed: sentAs(sampleFailed),
};
