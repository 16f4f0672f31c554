import { ApiError, rejected } from '../../model/errors.ts';
import { encodePayment, type Payment, paymentJson, updatedIndexOf } from '../../model/payment.ts';
import {
  paymentId,
  type UpdatedIndex,
  updatedIndex,
  updatedIndexInput,
} from '../../model/payment-index.ts';
import { newestUpdate } from '../../wallet/read/payments.ts';
import { UpdatesTail } from '../../wallet/read/updates-tail.ts';
import { seesOnlyOwn } from '../../wallet/session/own-payments.ts';
import { eventStream, type ServerSentEvent } from '../event-stream.ts';
import { examplePayment, exampleUpdatedIndex } from '../examples.ts';
import { get, type SessionContext } from '../route.ts';

/** The stream's first id for a wallet without payments, before every update, so resuming from it misses none. */
const BEFORE_ALL = updatedIndex(0, paymentId('ln', '0'.repeat(64)));

/** The route of the live stream of payment updates (docs/decisions.md 89). */
export const eventRoutes = [
  get('/v2/node/events', 'events', {
    access: 'get_updated_payments',
    summary: 'Stream payment updates as server-sent events',
    description:
      'Each event `payment` carries a Payment and, as its id, the updated index. `Last-Event-ID` or `start_index` resumes without loss; without either the stream begins with the next update. When the server ends the stream, a last event `end` carries the error.',
    mediaType: 'text/event-stream',
    query: () => ({
      start_index: updatedIndexInput()
        .optional()
        .meta({ description: 'Stream updates after this one.', examples: [exampleUpdatedIndex] }),
    }),
    response: paymentJson,
    errors: ['overCapacity'],
    example: { response: examplePayment },
    handler: async (context, { query }) => {
      const gone = new AbortController();
      const start = await startOf(context, query.start_index ?? null);
      // The newest update of others is not told (docs/decisions.md 195): who resumes before one begins with the first.
      const isTip = context.lastEventId === null && query.start_index === undefined;
      const signal = AbortSignal.any([context.signal, gone.signal]);
      return eventStream({
        startId: isTip && seesOnlyOwn(context.session) ? BEFORE_ALL : start,
        source: ({ take, end }) => {
          const tail = new UpdatesTail(
            context.session,
            { after: start, signal },
            {
              take: (page) => take(eventsOf(page)),
              fail: (reason) => {
                context.ended();
                end(endEvent(reason));
              },
            },
          );
          return () => tail.ask();
        },
        onGone: () => {
          gone.abort();
          context.ended();
          context.closeUnread();
        },
      });
    },
  }),
];

async function startOf(
  { session, lastEventId }: SessionContext,
  startIndex: UpdatedIndex | null,
): Promise<UpdatedIndex> {
  if (lastEventId === null) return startIndex ?? (await newestUpdate(session)) ?? BEFORE_ALL;
  const resumed = updatedIndexInput().safeParse(lastEventId);
  if (resumed.success) return resumed.data;
  throw rejected(
    'Last-Event-ID',
    'must be the id of an event of this stream (start_index in the clients)',
  );
}

/** The events of pages that streams have asked for. Streams that were woken together share a page. */
const written = new WeakMap<readonly Payment[], readonly ServerSentEvent[]>();

function eventsOf(page: readonly Payment[]): readonly ServerSentEvent[] {
  const known = written.get(page);
  if (known) return known;
  const events = page.map((payment) => ({
    id: updatedIndexOf(payment),
    event: 'payment',
    data: JSON.stringify(encodePayment(payment)),
  }));
  written.set(page, events);
  return events;
}

function endEvent(error: unknown): ServerSentEvent | null {
  return error instanceof ApiError ? { event: 'end', data: JSON.stringify(error.body()) } : null;
}
