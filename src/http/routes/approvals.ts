import { formatAmountMsat } from '../../model/amount.ts';
import { approvalJson } from '../../model/clients/approval.ts';
import { encodePayment, paymentJson } from '../../model/payment.ts';
import { approvalOf, approvePayment, rejectPayment } from '../../wallet/pay/approve.ts';
import {
  exampleApproval,
  exampleAwaitingPayment,
  exampleRejectedPayment,
  indexInput,
} from '../examples.ts';
import { get, post } from '../route.ts';

/** Routes that decide on payments that wait for approval (docs/decisions.md 187). */
export const approvalRoutes = [
  get('/v2/node/approval', 'send', {
    access: 'approve_payments',
    summary: 'Show who asked for a payment that waits, and its terms',
    query: () => ({ index: indexInput() }),
    response: approvalJson,
    errors: ['notFound'],
    example: { query: { index: exampleAwaitingPayment.index }, response: exampleApproval },
    handler: async ({ session }, { query }) => {
      const asked = await approvalOf(session, query.index);
      return {
        client_pk: asked.clientPk,
        client_label: asked.client?.label ?? null,
        max_fee: formatAmountMsat(asked.maxFeeMsat),
        node_pk: asked.nodePk,
        expires_at: asked.untilMs,
      };
    },
  }),
  post('/v2/node/approve', 'send', {
    access: 'approve_payments',
    summary: 'Approve a payment that waits',
    description:
      'It is sent exactly as it was asked for, and returned as it stands then. Where its invoice has expired, or the node refuses it, it becomes failed.',
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
