import { z } from 'zod';
import { once } from '../../lib/once.ts';
import {
  DIRECTIONS,
  encodePayment,
  paymentJson,
  RAILS,
  updatedIndexOf,
} from '../../model/payment.ts';
import { idPartInput, updatedIndexInput } from '../../model/payment-index.ts';
import { externalIdInput, hexInput, noteInput, optionalAddition } from '../../model/text.ts';
import { setPersonalNote } from '../../wallet/read/note.ts';
import {
  cachedPayments,
  cancelPayment,
  clearCache,
  paymentJsonOf,
} from '../../wallet/read/payments.ts';
import { syncPayments } from '../../wallet/read/sync.ts';
import { updatesSeen } from '../../wallet/session/own-payments.ts';
import { any, there, withRules } from '../body-rules.ts';
import { examplePayment, exampleUpdatedIndex, indexInput } from '../examples.ts';
import { agree } from '../input-comparison.ts';
import { integerQuery, integerQueryOr } from '../query.ts';
import { emptyJson, get, post, put, RawJson } from '../route.ts';

const MOST_ON_PAGE = { description: 'The most payments in the answer.' };
/** The page size of list_payments (docs/api.md, Limits). */
const LIST_LIMIT = { default: 100, least: 1, most: 1000 };
/** The page size of updated_payments (docs/api.md, Limits). */
const UPDATED_LIMIT = { default: 50, least: 1, most: 100 };

/** The order of list_payments. It has a name of its own in the OpenAPI document (docs/decisions.md 167). */
const listOrder = once(() =>
  z
    .enum(['desc', 'asc'])
    .meta({ id: 'PaymentOrder', description: 'The order of a list of payments.' }),
);

const paymentList = once(() => z.array(paymentJson()).describe('The payments, in order.'));

/** Routes that read and annotate payments. */
export const paymentRoutes = [
  get('/v2/node/payment', 'payments', {
    isTool: true,
    access: 'get_payment_by_id',
    specified: true,
    summary: 'Fetch one payment',
    description:
      'A payment that is completed or failed never changes again, so it need not be queried again.',
    query: () => ({ index: indexInput() }),
    response: paymentJson,
    errors: ['notFound'],
    example: { query: { index: examplePayment.index }, response: examplePayment },
    handler: async ({ session }, { query }) =>
      new RawJson(await paymentJsonOf(session, query.index)),
  }),
  put('/v2/node/sync_payments', 'payments', {
    isTool: true,
    access: 'get_updated_payments',
    specified: true,
    summary: 'Bring new and updated payments into the local cache',
    body: () => ({}),
    response: () => ({
      num_new: z.int().min(0).describe('Payments that were not in the cache.'),
      num_updated: z.int().min(0).describe('Payments in the cache that changed.'),
    }),
    example: { response: { num_new: 2, num_updated: 1 } },
    handler: async ({ session }) => {
      const { numNew, numUpdated } = await syncPayments(session);
      return { num_new: numNew, num_updated: numUpdated };
    },
  }),
  get('/v2/node/list_payments', 'payments', {
    isTool: true,
    access: 'get_updated_payments',
    specified: true,
    summary: 'List cached payments',
    description: 'Reads the local cache; call `sync_payments` first for fresh data.',
    query: () => ({
      filter: z
        .enum(['all', 'pending', 'completed', 'failed', 'finalized', 'awaiting'])
        .describe(
          'Which payments; `finalized` are completed or failed, `awaiting` wait for approval.',
        ),
      order: listOrder().default('desc').describe('Newest first (`desc`), or oldest.'),
      limit: integerQueryOr(LIST_LIMIT.default, LIST_LIMIT).meta(MOST_ON_PAGE),
      after: indexInput().optional().describe('The `next_index` of the page before this one.'),
      direction: optionalAddition(z.enum(DIRECTIONS), 'Only this direction.'),
      rail: optionalAddition(z.enum(RAILS), 'Only this rail.'),
      since: optionalAddition(
        integerQuery(),
        'Only those created at this time or later, in milliseconds.',
      ),
      until: optionalAddition(
        integerQuery(),
        'Only those created before this time, in milliseconds.',
      ),
      text: optionalAddition(
        noteInput(),
        'Payments with each of these words, or its beginning, in a text, amount, price, hash or index.',
      ),
      external_id: optionalAddition(externalIdInput(), 'Only those with exactly this id of yours.'),
      client: optionalAddition(hexInput(32), 'Only what this client made.'),
      id_part: optionalAddition(
        idPartInput(),
        'Only those with these 4 to 64 hex characters at the beginning or end of the last 64 of the index.',
      ),
    }),
    response: () => ({
      payments: paymentList(),
      next_index: z
        .string()
        .nullable()
        .describe('Pass it as `after` to get the next page; null when there is none.'),
    }),
    example: {
      query: { filter: 'completed' },
      response: { payments: [examplePayment], next_index: null },
    },
    handler: async ({ session }, { query }) => {
      const wanted = {
        filter: query.filter,
        order: query.order,
        limit: query.limit,
        after: query.after ?? null,
        direction: query.direction ?? null,
        rail: query.rail ?? null,
        sinceMs: query.since ?? null,
        untilMs: query.until ?? null,
        externalId: query.external_id ?? null,
        idPart: query.id_part,
        text: query.text,
      };
      const { json, nextIndex } = await cachedPayments(session, wanted, query.client);
      return new RawJson(
        `{"payments":[${json.join(',')}],"next_index":${JSON.stringify(nextIndex)}}`,
      );
    },
  }),
  post('/v2/node/clear_payments', 'payments', {
    access: 'get_updated_payments',
    ofWallet: true,
    specified: true,
    summary: 'Clear the local cache',
    description: "The node's data is untouched; `sync_payments` refills the cache.",
    body: () => ({}),
    response: emptyJson,
    example: { body: {}, response: {} },
    handler: async ({ session }) => {
      await clearCache(session);
      return {};
    },
  }),
  get('/v2/node/updated_payments', 'payments', {
    access: 'get_updated_payments',
    specified: true,
    summary: 'List payments in the order of their updates',
    description: 'Reads the node, not the cache.',
    query: () => ({
      start_index: updatedIndexInput()
        .optional()
        .meta({
          description: 'List updates after this one; without it all updates.',
          examples: [exampleUpdatedIndex],
        }),
      limit: integerQueryOr(UPDATED_LIMIT.default, UPDATED_LIMIT).meta(MOST_ON_PAGE),
    }),
    response: () => ({
      payments: paymentList(),
      updated_index: z
        .string()
        .nullable()
        .describe('Pass it as `start_index` to get the next page; null when the list is empty.'),
    }),
    example: {
      query: { limit: '50' },
      response: { payments: [examplePayment], updated_index: exampleUpdatedIndex },
    },
    handler: async ({ session }, { query }) => {
      const { payments } = await updatesSeen(session, query.start_index ?? null, query.limit);
      const last = payments.at(-1);
      return {
        payments: payments.map(encodePayment),
        updated_index: last ? updatedIndexOf(last) : null,
      };
    },
  }),
  post('/v2/node/update_personal_note', 'payments', {
    access: 'update_personal_note',
    specified: true,
    summary: "Set or clear a payment's private note",
    body: () =>
      withRules(
        z.object({
          index: indexInput(),
          personal_note: noteInput().nullable().optional().describe('The note; null clears it.'),
          note: noteInput().nullable().optional().describe('Older name of `personal_note`.'),
        }),
        [
          any(there('personal_note'), there('note')),
          'personal_note',
          'is required; null clears the note',
        ],
      ),
    response: emptyJson,
    errors: ['notFound'],
    example: { body: { index: examplePayment.index, personal_note: 'Lunch' }, response: {} },
    handler: async ({ session }, { body }) => {
      const { personal_note, note = null } = body;
      // Together with `personal_note`, a null `note` counts as absent. Alone, it clears the note.
      const agreed =
        personal_note === undefined
          ? note
          : agree('note', personal_note, note ?? undefined, 'personal_note and note');
      await setPersonalNote(session, body.index, agreed ?? null);
      return {};
    },
  }),
  post('/v2/node/cancel_payment', 'payments', {
    access: 'cancel_payment',
    specified: true,
    summary: 'Cancel a pending invoice',
    description:
      'A pending inbound invoice becomes failed / canceled and can no longer be paid. A payment that settles first wins.',
    body: () => ({ index: indexInput() }),
    response: emptyJson,
    errors: ['notFound'],
    example: { body: { index: examplePayment.index }, response: {} },
    handler: async ({ session }, { body }) => {
      await cancelPayment(session, body.index);
      return {};
    },
  }),
];
