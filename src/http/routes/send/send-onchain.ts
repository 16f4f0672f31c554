import { z } from 'zod';
import { once } from '../../../lib/once.ts';
import { amountInput, positiveAmountInput } from '../../../model/amount.ts';
import {
  encodePayment,
  type Priority,
  paymentJson,
  priorityField,
} from '../../../model/payment.ts';
import { hexInput, optionalAddition } from '../../../model/text.ts';
import { bumpFee } from '../../../wallet/pay/bump.ts';
import { payOnchain, readAddress } from '../../../wallet/pay/onchain.ts';
import { requireWholeSight } from '../../../wallet/session/own-payments.ts';
import { answerPayment } from '../../answer-payment.ts';
import { any, excludes, given, isTrue, PRICE_OR_AMOUNT, withRules } from '../../body-rules.ts';
import { exampleAddress, exampleOnchainPayment, indexInput } from '../../examples.ts';
import { paymentStringInput } from '../../query.ts';
import { post } from '../../route.ts';
import {
  agreedNotes,
  noteQuery,
  PAYS,
  priceToPayInput,
  requireAmountGiven,
  sendWordsInput,
} from './pay-inputs.ts';

const DEFAULT_PRIORITY = 'normal';
const DEFAULT_BUMP_PRIORITY = 'high';

const priorityInput = (fallback: Priority) =>
  priorityField().optional().meta({
    description:
      'How soon it should confirm: `high` after about 1 block, `normal` 3, `background` 72.',
    default: fallback,
  });

const onchainBody = once(() =>
  withRules(
    z.object({
      address: paymentStringInput().describe("On-chain address of the node's network."),
      amount: positiveAmountInput()
        .optional()
        .describe('Amount in sats; required without `send_all`.'),
      price: priceToPayInput(),
      send_all: optionalAddition(
        z.boolean(),
        'Sends all that one transaction can, in place of an amount.',
      ),
      priority: priorityInput(DEFAULT_PRIORITY),
      max_fee: optionalAddition(
        amountInput(),
        'Most that the transaction may cost in fees, in sats; no limit without it.',
      ),
      client_payment_id: hexInput(32)
        .optional()
        .describe('Idempotency key of the payment; random when omitted.'),
      ...sendWordsInput(),
    }),
    [excludes('amount', 'send_all'), 'amount', 'must be left out with send_all'],
    [excludes('price', 'send_all'), 'price', 'must be left out with send_all'],
    PRICE_OR_AMOUNT,
    [
      any(given('amount'), given('price'), isTrue('send_all')),
      'amount',
      'is required, or price or send_all',
    ],
  ),
);

/** Routes for sending on chain. */
export const sendOnchainRoutes = [
  post('/v2/node/pay_onchain', 'send', {
    access: 'pay_onchain',
    specified: true,
    summary: 'Send on chain',
    description:
      'The answer is the pending payment, once its transaction is published. Six confirmations complete it. The same `client_payment_id` never sends twice.',
    paymentStrings: ['address'],
    body: onchainBody,
    ...PAYS,
    query: noteQuery,
    queryIsNew: true,
    errors: ['notFound', 'overBudget', 'serviceFailed', 'unsupported'],
    example: {
      body: { address: exampleAddress, amount: '50000' },
      response: exampleOnchainPayment,
    },
    handler: (context, { body, query }) => {
      // The amount of such a payment is the balance.
      if (body.send_all) requireWholeSight(context.session);
      return answerPayment(context, async (send) =>
        payOnchain(send, {
          address: readAddress(body.address),
          priority: body.priority ?? DEFAULT_PRIORITY,
          clientPaymentId: body.client_payment_id ?? null,
          ...agreedNotes(body, query),
          ...(body.send_all ? { amountMsat: null } : await requireAmountGiven(context, body)),
          maxFeeMsat: body.max_fee ?? null,
        }),
      );
    },
  }),
  post('/v2/node/bump_fee', 'send', {
    access: 'pay_onchain',
    summary: 'Raise the fee of an on-chain send',
    description:
      'A child transaction spends its change and pays for both; the payment with its `fees` stays as it is.',
    body: () => ({
      index: indexInput(),
      priority: priorityInput(DEFAULT_BUMP_PRIORITY),
      max_fee: amountInput()
        .optional()
        .describe('Most that raising the fee may cost, in sats; no limit without it.'),
    }),
    response: paymentJson,
    movesMoney: true,
    errors: ['notFound', 'overBudget', 'unsupported'],
    example: {
      body: { index: exampleOnchainPayment.index },
      response: exampleOnchainPayment,
    },
    handler: async ({ session, names }, { body }) => {
      const request = {
        index: body.index,
        priority: body.priority ?? DEFAULT_BUMP_PRIORITY,
        maxFeeMsat: body.max_fee ?? null,
      };
      return encodePayment(await bumpFee(session, request, names));
    },
  }),
];
