import type { Payment, Rail } from '../../../src/model/payment.ts';
import { idOf } from '../../../src/model/payment.ts';
import type { SendReport } from '../../../src/nodes/node.ts';
import type { SendContext } from '../../../src/wallet/pay/send.ts';
import type {
  LightningPlan,
  SendIdentity,
  SendPlan,
  SendTerms,
} from '../../../src/wallet/pay/send-plan.ts';
import { randomNames } from '../../../src/wallet/session/effect-names.ts';
import { sampleDone, sampleFailed, samplePayment } from '../../support/sample-payment.ts';

/** A plan to send the sample payment of that number; `start` makes the node's report. */
export function planOf(
  start: (identity: SendIdentity) => Promise<SendReport>,
  change: Partial<Omit<SendTerms, 'rail'> & Pick<LightningPlan, 'repeat'>> & {
    readonly rail?: Rail;
    readonly sign?: SendPlan['sign'];
    readonly number?: number;
  } = {},
): SendPlan {
  const { number = 1, rail = 'invoice', sign = null, repeat, ...others } = change;
  const { hash } = samplePayment(number);
  const terms = {
    id: idOf(samplePayment(number)),
    amountMsat: 1000n,
    maxFeeMsat: 10n,
    again: 'after-failure',
    details: { hash },
    start,
    ...others,
  } as const;
  if (rail !== 'onchain') return { ...terms, rail, sign: null, ...(repeat && { repeat }) };
  if (sign === null) throw new Error('An on-chain payment is signed.');
  return { ...terms, rail, sign, repeat: { maxFeeMsat: terms.maxFeeMsat } };
}

/** The context of a pay request in that session. */
export function contextOf(
  session: SendContext['session'],
  change: Partial<SendContext> = {},
): SendContext {
  return {
    session,
    signal: new AbortController().signal,
    idempotencyKey: null,
    names: randomNames,
    onSent: () => undefined,
    goesOn: () => true,
    ...change,
  };
}

/** A `known` report of that payment. */
export const shown = (payment: Payment, attempt: number | null = null) =>
  ({ state: 'known', payment, attempt }) as const;

type Sent = (identity: SendIdentity, number?: number) => Payment;
const sentAs =
  (make: typeof samplePayment): Sent =>
  ({ index, createdAtMs }, number = 1) =>
    make(number, { index, createdAtMs, updatedAtMs: createdAtMs });

/** The sample payment of that number under the wallet's own index, pending, completed or failed. */
export const sent = {
  pending: sentAs(samplePayment),
  done: sentAs(sampleDone),
  failed: sentAs(sampleFailed),
};
