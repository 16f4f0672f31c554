import { z } from 'zod';
import { once } from '../../../lib/once.ts';
import { positiveAmountInput } from '../../../model/amount.ts';
import { nodePkInput } from '../../../model/text.ts';
import { sendAndWait } from '../../../wallet/pay/send.ts';
import { planSpontaneousPayment } from '../../../wallet/pay/spontaneous.ts';
import { answerPayment } from '../../answer-payment.ts';
import { AMOUNT_OR_PRICE, PRICE_OR_AMOUNT, withRules } from '../../body-rules.ts';
import { exampleNodePk, exampleSpontaneousPayment } from '../../examples.ts';
import { post } from '../../route.ts';
import {
  agreedNotes,
  PAY_ERRORS,
  PAYS_WITH_NOTES,
  priceToPayInput,
  requireAmountGiven,
  termsInput,
} from './pay-inputs.ts';

const spontaneousBody = once(() =>
  withRules(
    z.object({
      node_pk: nodePkInput().describe('Public key of the node to pay.'),
      amount: positiveAmountInput().optional().describe('Amount in sats.'),
      price: priceToPayInput(),
      ...termsInput(),
    }),
    PRICE_OR_AMOUNT,
    AMOUNT_OR_PRICE,
  ),
);

/** The route that pays a node without an invoice. */
export const spontaneousRoutes = [
  post('/v2/node/pay_spontaneous', 'send', {
    access: 'pay_invoice',
    summary: 'Pay a node without an invoice (keysend)',
    description:
      'Waits until the payment is completed or failed. The receiving node must accept spontaneous payments.',
    body: spontaneousBody,
    ...PAYS_WITH_NOTES,
    errors: PAY_ERRORS,
    example: {
      body: { node_pk: exampleNodePk, amount: '100', message: 'Thank you' },
      response: exampleSpontaneousPayment,
    },
    handler: (context, { body, query }) =>
      answerPayment(context, async (send) => {
        const { session, parts, names } = context;
        const request = {
          nodePk: body.node_pk,
          maxFeeMsat: body.max_fee ?? null,
          ...agreedNotes(body, query),
          ...(await requireAmountGiven(context, body)),
        };
        return sendAndWait(send, planSpontaneousPayment(request, session, parts.fees, names));
      }),
  }),
];
