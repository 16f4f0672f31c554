import type { Observation } from '../../node-observations.ts';
import { unreadable } from '../../remote/calls/broken.ts';
import { MOST_PAGES } from '../../remote/follow/running-look.ts';
import type { ClnRpc } from '../reads/rpc.ts';
import { tipOf } from '../reads/tips.ts';
import {
  bounded,
  type Found,
  isBounded,
  type Order,
  positionAt,
  positionIn,
} from '../words/cursor.ts';
import type { Look } from './look.ts';

/** Number of rows read from the node in one call, which bounds memory for long histories. */
const PAGE = 500;

/** The orders in which rows are read. Rows are read as they stand, so the changes of those that are new are in them. */
const ORDERS = ['updated', 'created'] as const;
type RowOrder = (typeof ORDERS)[number];

interface NumberedList {
  readonly name: string;
  /** Reads rows of the order from a number on, in its order. */
  readonly rows: (
    rpc: ClnRpc,
    page: { readonly index: RowOrder; readonly start: number; readonly limit: number },
  ) => Promise<readonly unknown[]>;
  readonly observe: (
    look: Look,
    rows: readonly unknown[],
    read: Read,
  ) => Promise<readonly Observation[]>;
}

interface Read {
  /** Payments made before this time and over may be left out; null where none may. */
  readonly sinceMs: number | null;
  /** Whether the list is read from its first row on, as its rows were made, and was not cut off meanwhile. */
  readonly isFirst: boolean;
}

/**
 * Reads the rows that were made or changed since the cursor, a page at a time. A look ends also where the node's
 * numbers grow as fast as they are read. Throws `unreadable` for an answer that is no such list, or that would repeat
 * for ever.
 */
export async function* newRows(look: Look, list: NumberedList): AsyncGenerator<Found> {
  const { cursor } = look;
  const { name } = list;
  const isFirst = positionIn(cursor, name, 'created') === 0;
  // Where the node is asked for both, it is at once. What changes after that is read by the next look.
  const tips = await Promise.all(
    ORDERS.map(async (order) => ({ order, tip: await tipOfLook(look, name, order) })),
  );
  for (const { order, tip } of tips) {
    const before = positionIn(cursor, name, order);
    if (tip === before) continue;
    if (isFirst && order === 'updated' && tip !== null) {
      // Every row is read after this as it stands now.
      yield { observations: [], reached: positionAt(name, order, tip) };
      continue;
    }
    // The numbers only grow, unless the node goes on with an older database.
    const after = tip !== null && tip < before ? 0 : before;
    const goesOnFirst = isFirst || (order === 'created' && isBounded(cursor, name));
    yield* pages(look, list, order, {
      after,
      tip,
      sinceMs: goesOnFirst ? look.historySinceMs : null,
      isFirst: isFirst && order === 'created',
    });
  }
}

async function* pages(
  look: Look,
  { name, rows: readRows, observe }: NumberedList,
  order: RowOrder,
  from: Read & { readonly after: number; readonly tip: number | null },
): AsyncGenerator<Found> {
  let reached = from.after;
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const rows = await readRows(look.rpc, { index: order, start: reached + 1, limit: PAGE });
    const last = rows.reduce<number>((most, row) => Math.max(most, numberOf(row, order)), reached);
    const isLast = rows.length < PAGE;
    if (!isLast && last === reached) {
      throw unreadable('Core Lightning', new Error('the list does not go on'), false);
    }
    // The newest rows may have been deleted.
    reached = isLast ? Math.max(last, from.tip ?? 0) : last;
    const observations = await observe(look, rows, from);
    // A first read that is cut off here must leave out as much when it goes on.
    const isMarked = from.sinceMs !== null || isBounded(look.cursor, name);
    const mark = order === 'created' && isMarked ? bounded(name, !isLast) : {};
    yield { observations, reached: { ...positionAt(name, order, reached), ...mark } };
    if (isLast) return;
  }
}

/** The newest number in an order of a list. A look that is not full takes what the node has told. */
export async function tipOfLook(look: Look, list: string, order: Order): Promise<number | null> {
  const { rpc, cursor, told } = look;
  const known = look.isFull ? undefined : told.newest(cursor, list, order);
  if (known !== undefined) return known;
  const tip = await tipOf(rpc, list, order);
  // The node goes on with an older database, so what it told before does not count any more.
  if (tip !== null && tip < positionIn(cursor, list, order)) told.set(list, order, tip);
  return tip;
}

function numberOf(row: unknown, order: RowOrder): number {
  // A schema for each row would take most of the time of a long read.
  const number = (row as Readonly<Record<string, unknown>> | null)?.[`${order}_index`];
  return typeof number === 'number' && Number.isSafeInteger(number) ? Math.max(number, 0) : 0;
}
