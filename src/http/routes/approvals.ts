import { encodePayment, paymentJson } from '../../model/payment.ts';
import { approvePayment, rejectPayment } from '../../wallet/pay/approve.ts';
import { exampleAwaitingPayment, exampleRejectedPayment, indexInput } from '../examples.ts';
import { post } from '../route.ts';

/** Routes that decide on payments that wait for approval (docs/decisions.md 187). */
export const approvalRoutes = [
  post('/v2/node/approve', 'send', {
    access: 'approve_payments',
    summary: 'Approve a payment that waits',
    description:
      'It is sent exactly as it was asked for, and returned as it stands then: wait_for_payment tells its end. Where its invoice has expired, or the node refuses it, it becomes failed and nothing is sent.',
    body: () => ({ index: indexInput() }),
    response: paymentJson,
    movesMoney: true,
    errors: ['notFound', 'overBudget'],
    example: {
      body: { index: exampleAwaitingPayment.index },
      response: { ...exampleAwaitingPayment, status_msg: 'pending' },
    },
    handler: async ({ session, names }, { body }) =>
      encodePayment(await approvePayment(session, body.index, names)),
  }),
  post('/v2/node/reject', 'send', {
    access: 'approve_payments',
    summary: 'Reject a payment that waits',
    description:
      'It becomes failed / not approved. Nothing was sent, and its budget is given back.',
    body: () => ({ index: indexInput() }),
    response: paymentJson,
    errors: ['notFound'],
    example: {
      body: { index: exampleRejectedPayment.index },
      response: exampleRejectedPayment,
    },
    handler: async ({ session, names }, { body }) =>
      encodePayment(await rejectPayment(session, body.index, names)),
  }),
];
