import { z } from 'zod';
import { amountInput, positiveAmountInput } from '../../model/amount.ts';
import type { ErrorName } from '../../model/errors.ts';
import { paymentJson } from '../../model/payment.ts';
import { noteInput } from '../../model/text.ts';
import { planInvoicePayment } from '../../wallet/pay/invoice.ts';
import { sendAndWait } from '../../wallet/pay/send.ts';
import { route } from '../route.ts';
import { answerPayment } from './answer-payment.ts';
import { examplePayment } from './examples.ts';

/** Errors that every pay operation can end with. */
export const PAY_ERRORS: readonly ErrorName[] = [
  'refused',
  'overBudget',
  'timeout',
  'unreachable',
  'unreadable',
  'overCapacity',
];

/** The request's own cap on routing fees (decisions section 5). */
export const maxFeeInput = amountInput
  .nullish()
  .meta({ description: 'Most routing fees in sats, in place of --max-fee (addition).' });

/** Ways to pay. */
export const sendRoutes = [
  route({
    method: 'post',
    path: '/v2/node/pay_invoice',
    group: 'send',
    access: 'pay_invoice',
    summary: 'Pay a BOLT 11 invoice',
    description:
      'Blocks until the payment is completed or failed. Paying an invoice again answers its first payment while that is pending or completed.',
    body: z.object({
      invoice: z.string(),
      fallback_amount: positiveAmountInput
        .nullish()
        .meta({ description: 'Sats; required for amountless invoices.' }),
      personal_note: noteInput.nullish(),
      note: noteInput.nullish().meta({ description: 'Older name of personal_note.' }),
      max_fee: maxFeeInput,
    }),
    response: paymentJson,
    errors: PAY_ERRORS,
    example: { body: { invoice: 'lnbcrt10u1p5example' }, response: examplePayment },
    handler: (context, { body }) =>
      answerPayment(context, (send) =>
        sendAndWait(
          send,
          planInvoicePayment(
            {
              invoice: body.invoice,
              amountMsat: body.fallback_amount ?? null,
              maxFeeMsat: body.max_fee ?? null,
              personalNote: body.personal_note ?? body.note ?? null,
              message: null,
            },
            context.session.node,
            context.parts.fees,
          ),
        ),
      ),
  }),
];
