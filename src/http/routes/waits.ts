import { z } from 'zod';
import { inSeconds } from '../../lib/in-seconds.ts';
import { ApiError } from '../../model/errors.ts';
import { encodePayment, paymentJson, updatedIndexOf } from '../../model/payment.ts';
import { updatedIndexInput } from '../../model/payment-index.ts';
import { waitAndCache } from '../../wallet/read/payments.ts';
import { waitForNext } from '../../wallet/read/wait.ts';
import { examplePayment, exampleUpdatedIndex, indexInput } from '../examples.ts';
import { timeoutSecsQuery } from '../query.ts';
import { get } from '../route.ts';

/** Routes that wait for payments. */
export const waitRoutes = [
  get('/v2/node/wait_for_payment', 'payments', {
    isTool: true,
    access: 'get_updated_payments',
    specified: true,
    summary: 'Wait until a payment is completed or failed',
    query: () => ({ index: indexInput(), timeout_secs: timeoutSecsQuery() }),
    response: paymentJson,
    errors: ['notFound', 'timeout', 'overCapacity'],
    example: {
      query: { index: examplePayment.index, timeout_secs: '30' },
      response: examplePayment,
    },
    handler: async ({ session, signal }, { query }) =>
      encodePayment(
        await withTimeout(query.timeout_secs, signal, (bounded) =>
          waitAndCache(session, query.index, bounded),
        ),
      ),
  }),
  get('/v2/node/wait_for_next_payment', 'payments', {
    repeatsWith: 'start_index',
    access: 'get_updated_payments',
    specified: true,
    summary: 'Wait for the next update of any payment',
    description:
      'The same payment is answered again at each of its updates, so handling must be idempotent.',
    query: () => ({
      start_index: updatedIndexInput()
        .optional()
        .meta({
          description:
            'Wait for updates after this one; without it, for updates that the cache does not have yet.',
          examples: [exampleUpdatedIndex],
        }),
      timeout_secs: timeoutSecsQuery(),
    }),
    response: () => ({
      payment: paymentJson(),
      next_start_index: z
        .string()
        .describe('Pass it as `start_index` to wait for the next update.'),
    }),
    errors: ['timeout', 'overCapacity'],
    example: {
      query: { timeout_secs: '30' },
      response: { payment: examplePayment, next_start_index: exampleUpdatedIndex },
    },
    handler: async ({ session, signal }, { query }) => {
      const payment = await withTimeout(query.timeout_secs, signal, (bounded) =>
        waitForNext(session, query.start_index ?? null, bounded),
      );
      return { payment: encodePayment(payment), next_start_index: updatedIndexOf(payment) };
    },
  }),
];

/** Runs a wait that ends with error 4 after `secs`. */
async function withTimeout<T>(
  secs: number | undefined,
  signal: AbortSignal,
  wait: (bounded: AbortSignal) => Promise<T>,
): Promise<T> {
  if (secs === undefined) return wait(signal);
  const timeout = new AbortController();
  const timer = setTimeout(() => {
    timeout.abort(
      new ApiError(
        'timeout',
        `Nothing happened within ${inSeconds(secs)}: call again to go on waiting.`,
      ),
    );
  }, secs * 1000);
  try {
    return await wait(AbortSignal.any([signal, timeout.signal]));
  } finally {
    clearTimeout(timer);
  }
}
