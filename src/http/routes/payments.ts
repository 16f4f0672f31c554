import { z } from 'zod';
import { ApiError } from '../../model/errors.ts';
import {
  DIRECTIONS,
  encodePayment,
  paymentJson,
  RAILS,
  updatedIndexOf,
} from '../../model/payment.ts';
import { paymentIndexInput, updatedIndexInput } from '../../model/payment-index.ts';
import { noteInput } from '../../model/text.ts';
import { setPersonalNote } from '../../wallet/note.ts';
import {
  cachedPayments,
  cancelPayment,
  clearCache,
  paymentJsonOf,
  updatedPayments,
  waitAndCache,
} from '../../wallet/payments.ts';
import { syncPayments } from '../../wallet/sync.ts';
import { waitForNext } from '../../wallet/wait.ts';
import { agree } from '../input-comparison.ts';
import { integerQuery, timeoutSecsQuery } from '../query.ts';
import { RawJson, route } from '../route.ts';
import { examplePayment, exampleUpdatedIndex } from './examples.ts';
import { emptyJson } from './node.ts';

/** Page size of list_payments (contract, Limits; decisions section 4). */
const LIST_LIMIT = { default: 100, most: 1000 };
/** Page size of updated_payments (decisions section 4). */
const UPDATED_LIMIT = { default: 50, most: 100 };

const indexInput = paymentIndexInput.meta({ examples: [examplePayment.index] });

/** Read, wait for and annotate payments. */
export const paymentRoutes = [
  route({
    method: 'get',
    path: '/v2/node/payment',
    group: 'payments',
    access: 'get_payment_by_id',
    summary: 'Fetch one payment',
    description: 'Once a payment is finalized it need not be queried again.',
    query: z.object({ index: indexInput }),
    response: paymentJson,
    errors: ['notFound', 'unreachable', 'unreadable'],
    example: { query: { index: examplePayment.index }, response: examplePayment },
    handler: async ({ session }, { query }) =>
      new RawJson(await paymentJsonOf(session, query.index)),
  }),
  route({
    method: 'put',
    path: '/v2/node/sync_payments',
    group: 'payments',
    access: 'get_updated_payments',
    summary: 'Bring new and updated payments into the local cache',
    response: z.object({ num_new: z.int().min(0), num_updated: z.int().min(0) }),
    errors: ['unreachable', 'unreadable'],
    example: { response: { num_new: 2, num_updated: 1 } },
    handler: async ({ session }) => {
      const { numNew, numUpdated } = await syncPayments(session);
      return { num_new: numNew, num_updated: numUpdated };
    },
  }),
  route({
    method: 'get',
    path: '/v2/node/list_payments',
    group: 'payments',
    access: 'get_updated_payments',
    summary: 'List cached payments',
    description: 'Reads the local cache; call sync_payments first for fresh data.',
    query: z.object({
      filter: z.enum(['all', 'pending', 'completed', 'failed', 'finalized']),
      order: z.enum(['desc', 'asc']).default('desc'),
      limit: integerQuery(1, LIST_LIMIT.most).default(LIST_LIMIT.default),
      after: indexInput
        .optional()
        .meta({ description: 'Exclusive; pass the previous next_index.' }),
      direction: z.enum(DIRECTIONS).optional().meta({ description: 'Addition.' }),
      rail: z.enum(RAILS).optional().meta({ description: 'Addition.' }),
      since: integerQuery(0, Number.MAX_SAFE_INTEGER)
        .optional()
        .meta({ description: 'created_at at or after, milliseconds. Addition.' }),
      until: integerQuery(0, Number.MAX_SAFE_INTEGER)
        .optional()
        .meta({ description: 'created_at before, milliseconds. Addition.' }),
    }),
    response: z.object({
      payments: z.array(paymentJson),
      next_index: z.string().nullable().meta({ description: 'Null when there is no more.' }),
    }),
    example: {
      query: { filter: 'completed' },
      response: { payments: [examplePayment], next_index: null },
    },
    handler: async ({ session }, { query }) => {
      const { json, nextIndex } = await cachedPayments(session, {
        filter: query.filter,
        order: query.order,
        limit: query.limit,
        after: query.after ?? null,
        direction: query.direction ?? null,
        rail: query.rail ?? null,
        sinceMs: query.since ?? null,
        untilMs: query.until ?? null,
      });
      return new RawJson(
        `{"payments":[${json.join(',')}],"next_index":${JSON.stringify(nextIndex)}}`,
      );
    },
  }),
  route({
    method: 'post',
    path: '/v2/node/clear_payments',
    group: 'payments',
    access: 'get_updated_payments',
    summary: 'Clear the local cache',
    description: "The node's data is untouched; sync_payments refills the cache.",
    body: z.object({}),
    response: emptyJson,
    example: { body: {}, response: {} },
    handler: async ({ session }) => {
      await clearCache(session);
      return {};
    },
  }),
  route({
    method: 'get',
    path: '/v2/node/wait_for_payment',
    group: 'payments',
    access: 'get_updated_payments',
    summary: 'Wait until a payment is completed or failed',
    query: z.object({ index: indexInput, timeout_secs: timeoutSecsQuery }),
    response: paymentJson,
    errors: ['notFound', 'timeout', 'unreachable', 'overCapacity'],
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
  route({
    method: 'get',
    path: '/v2/node/wait_for_next_payment',
    group: 'payments',
    access: 'get_updated_payments',
    summary: 'Wait for the next update of any payment',
    description:
      'The same payment is answered again on each of its updates, so handling must be idempotent.',
    query: z.object({
      start_index: updatedIndexInput.optional().meta({
        description: "Exclusive; without it the cache's position.",
        examples: [exampleUpdatedIndex],
      }),
      timeout_secs: timeoutSecsQuery,
    }),
    response: z.object({ payment: paymentJson, next_start_index: z.string() }),
    errors: ['timeout', 'unreachable', 'overCapacity'],
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
  route({
    method: 'get',
    path: '/v2/node/updated_payments',
    group: 'payments',
    access: 'get_updated_payments',
    summary: 'List payments in the order of their updates',
    description: 'Reads the node, not the cache.',
    query: z.object({
      start_index: updatedIndexInput.optional().meta({ description: 'Exclusive.' }),
      limit: integerQuery(1, UPDATED_LIMIT.most).default(UPDATED_LIMIT.default),
    }),
    response: z.object({
      payments: z.array(paymentJson),
      updated_index: z
        .string()
        .nullable()
        .meta({ description: 'Pass on as the next start_index; null when nothing was answered.' }),
    }),
    errors: ['unreachable', 'unreadable'],
    example: {
      query: { limit: '50' },
      response: { payments: [examplePayment], updated_index: exampleUpdatedIndex },
    },
    handler: async ({ session }, { query }) => {
      const payments = await updatedPayments(session, query.start_index ?? null, query.limit);
      const last = payments.at(-1);
      return {
        payments: payments.map(encodePayment),
        updated_index: last ? updatedIndexOf(last) : null,
      };
    },
  }),
  route({
    method: 'post',
    path: '/v2/node/update_personal_note',
    group: 'payments',
    access: 'update_personal_note',
    summary: "Set or clear a payment's private note",
    body: z
      .object({
        index: indexInput,
        personal_note: noteInput
          .nullable()
          .optional()
          .meta({ description: 'Null clears the note.' }),
        note: noteInput.nullable().optional().meta({ description: 'Older name of personal_note.' }),
      })
      .refine((body) => body.personal_note !== undefined || body.note !== undefined, {
        path: ['personal_note'],
        message: 'is required; null clears the note',
      }),
    response: emptyJson,
    errors: ['notFound', 'unreachable', 'unreadable'],
    example: { body: { index: examplePayment.index, personal_note: 'Lunch' }, response: {} },
    handler: async ({ session }, { body }) => {
      const { personal_note, note = null } = body;
      // Beside personal_note, null in the older name is absent; alone, it clears the note.
      const agreed =
        personal_note === undefined
          ? note
          : agree('note', personal_note, note ?? undefined, 'personal_note and note');
      await setPersonalNote(session, body.index, agreed ?? null);
      return {};
    },
  }),
  route({
    method: 'post',
    path: '/v2/node/cancel_payment',
    group: 'payments',
    access: 'cancel_payment',
    summary: 'Cancel a pending invoice',
    description:
      'A pending inbound invoice becomes failed / canceled and can no longer be paid. A payment that settles first wins.',
    body: z.object({ index: indexInput }),
    response: emptyJson,
    errors: ['refused', 'notFound', 'unreachable', 'unreadable'],
    example: { body: { index: examplePayment.index }, response: {} },
    handler: async ({ session }, { body }) => {
      await cancelPayment(session, body.index);
      return {};
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
        `Nothing happened within ${secs} seconds: call again to go on waiting.`,
      ),
    );
  }, secs * 1000);
  try {
    return await wait(AbortSignal.any([signal, timeout.signal]));
  } finally {
    clearTimeout(timer);
  }
}
