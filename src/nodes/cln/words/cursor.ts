import { z } from 'zod';
import type { FoundUpTo } from '../../remote/follow/found.ts';

/** The orders of a list: by when a row was made, changed or deleted. The node numbers each of them from 1. */
export type Order = 'created' | 'updated' | 'deleted';

/**
 * How far a wallet was followed: the number that was read last in each order of each list, as `invoices.created`; and
 * for a list whose first read leaves out what is old, whether that read is not over yet, as `invoices.bounded`.
 */
export type FollowCursor = Readonly<Record<string, number>>;

/** What a look found at the node, and how far it has read. */
export type Found = FoundUpTo<FollowCursor>;

const shape = z.record(z.string(), z.int().nonnegative());

/** Reads a cursor that {@link writeCursor} wrote; null stands for the wallet's beginning. */
export function readCursor(text: string | null): FollowCursor {
  return text === null ? {} : shape.parse(JSON.parse(text));
}

/** The cursor as the store keeps it. */
export function writeCursor(cursor: FollowCursor): string {
  return JSON.stringify(cursor);
}

/** Where a list was read to in one order; 0 where it never was. */
export function positionIn(cursor: FollowCursor, list: string, order: Order): number {
  return cursor[`${list}.${order}`] ?? 0;
}

/** Whether the first read of a list leaves out what is old, and has begun but is not over. */
export function isBounded(cursor: FollowCursor, list: string): boolean {
  return cursor[`${list}.bounded`] === 1;
}

/** The part of the cursor for {@link isBounded}. */
export function bounded(list: string, is: boolean): FollowCursor {
  return { [`${list}.bounded`]: is ? 1 : 0 };
}

/** A part of the cursor. */
export function positionAt(list: string, order: Order, position: number): FollowCursor {
  return { [`${list}.${order}`]: position };
}
