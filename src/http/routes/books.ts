import { z } from 'zod';
import { internalUnlessApi, isApiError } from '../../model/errors.ts';
import type { BookRow } from '../../wallet/read/book-row.ts';
import { books } from '../../wallet/read/books.ts';
import { BOOK_FORMS, bookRowJson } from '../book-lines.ts';
import { examplePayment } from '../examples.ts';
import { integerQuery } from '../query.ts';
import { get } from '../route.ts';
import { rowStream } from '../row-stream.ts';

/** The route of the books of a wallet (docs/decisions.md 192). */
export const bookRoutes = [
  get('/v2/node/export', 'payments', {
    access: 'get_updated_payments',
    ofWallet: true,
    summary: 'Export completed payments for bookkeeping',
    description:
      'In the order of completion, with the sum so far. Notices: `balance_forward` first with `since`; last `difference` or `unchecked` without `until`, or `incomplete`.',
    mediaType: 'application/x-ndjson',
    otherMediaType: 'text/csv',
    query: () => ({
      format: z
        .enum(['csv', 'json'])
        .optional()
        .describe('`csv` unless given; `json` is an object a line.'),
      since: integerQuery().optional().describe('Completed since then, in milliseconds.'),
      until: integerQuery().optional().describe('Completed before, in milliseconds.'),
      sync: z.enum(['false']).optional().describe('The cache as it is.'),
    }),
    response: bookRowJson,
    errors: ['overCapacity'],
    example: {
      query: { format: 'json' },
      response: { ...examplePayment, change: '-1000', balance: '999000' },
    },
    handler: async (context, { query }) => {
      const { session, parts, signal } = context;
      const form = BOOK_FORMS[query.format ?? 'csv'];
      const wanted = {
        sinceMs: query.since ?? null,
        untilMs: query.until ?? null,
        sync: query.sync === undefined,
        nowMs: () => parts.clock.now(),
        signal,
      };
      return rowStream<BookRow>({
        ...form,
        pages: books(session, wanted),
        signal,
        lastOf(error, before) {
          if (!isApiError(error)) session.log.error('An export ended early.', { error });
          const reason = `Rows are missing: export again. ${internalUnlessApi(error).message}`;
          const entry = { kind: 'incomplete', atMs: parts.clock.now(), reason } as const;
          return { entry, changeMsat: 0n, balanceMsat: before?.balanceMsat ?? 0n };
        },
        onEnd: () => context.ended(),
      });
    },
  }),
];
