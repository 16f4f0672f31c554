import { z } from 'zod';
import { unreadable } from '../../remote/calls/broken.ts';
import { MOST_PAGES } from '../../remote/follow/running-look.ts';
import { invoicesShape, paymentsShape } from '../words/wire.ts';
import type { LndRest } from './rest.ts';

/** Number of rows read from LND in one call, which bounds memory for long histories. */
const PAGE = 500;

/** LND's lists that are numbered, each with the field of a row that holds its number. */
const LISTS = {
  invoices: {
    path: `/v1/invoices?num_max_invoices=${PAGE}`,
    shape: invoicesShape.transform(({ invoices, ...rest }) => ({ rows: invoices, ...rest })),
    number: 'add_index',
  },
  payments: {
    path: `/v1/payments?include_incomplete=true&omit_hops=true&max_payments=${PAGE}`,
    shape: paymentsShape.transform(({ payments, ...rest }) => ({ rows: payments, ...rest })),
    number: 'payment_index',
  },
} as const;

/** Rows of a list, not read yet, and the number of the last of them. */
export interface Page {
  readonly rows: readonly unknown[];
  readonly reached: number;
  /** Whether nothing comes after it; false for the last page that one look reads of a longer list. */
  readonly isLast: boolean;
}

interface Rows {
  readonly after: number;
  /** Further parameters of the query, such as `pending_only=true`. */
  readonly query?: Readonly<Record<string, string>>;
}

/**
 * Yields the rows of a list, a page at a time, oldest first, and at most `MOST_PAGES` pages: the next look goes on
 * where this one ends. Throws `unreadable` for an answer that is no such list, or that would repeat for ever.
 */
export async function* pagesOf(
  rest: LndRest,
  list: keyof typeof LISTS,
  { after, query = {} }: Rows,
): AsyncGenerator<Page, void, undefined> {
  const { path, shape, number } = LISTS[list];
  const further = Object.entries(query).map(([name, value]) => `&${name}=${value}`);
  let offset = after;
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const page = await rest.list(`${path}&index_offset=${offset}${further.join('')}`, shape);
    const { rows, last_index_offset } = page;
    const reached = Math.max(offset, last_index_offset, numberOf(rows.at(-1), number));
    const isLast = rows.length < PAGE;
    yield { rows, reached, isLast };
    if (isLast) return;
    if (reached === offset) throw unreadable('LND', new Error('the list does not go on'), false);
    offset = reached;
  }
}

/** Returns the newest row of a list, not read yet, and its number; 0 where there is none. */
export async function newestOf(
  rest: LndRest,
  list: keyof typeof LISTS,
): Promise<{ readonly row: unknown; readonly index: number }> {
  const { path, shape, number } = LISTS[list];
  const newest = path.replace(`=${PAGE}`, '=1');
  const { rows } = await rest.list(`${newest}&reversed=true`, shape);
  const row = rows.at(-1);
  return { row, index: numberOf(row, number) };
}

/** Returns a time as the lists are asked for it. */
export function secsOf(ms: number): string {
  return String(Math.floor(ms / 1000));
}

function numberOf(row: unknown, name: string): number {
  const read = z.looseObject({ [name]: z.string().regex(/^\d{1,15}$/) }).safeParse(row);
  return read.success ? Number(read.data[name]) : 0;
}
