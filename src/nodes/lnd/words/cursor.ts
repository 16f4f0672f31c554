import { z } from 'zod';
import type { FoundUpTo } from '../../remote/follow/found.ts';

/** How far a wallet was followed. LND numbers invoices and payments itself, and may use a payment's number again. */
export interface FollowCursor {
  /** `add_index` of the newest invoice that was read. */
  readonly addIndex: number;
  /** `settle_index` of the newest settled invoice that was read. */
  readonly settleIndex: number;
  /** `payment_index` of the newest outgoing payment that was read. */
  readonly paymentIndex: number;
  /** Which payment had that index; null where that is not known, as in cursors of version 0.2. */
  readonly listed: { readonly hash: string; readonly attempt: number } | null;
  /** All transactions confirmed below this height are final, and were read. */
  readonly height: number;
}

/** What a stream or a look found at LND, and how far it has read. */
export type Found = FoundUpTo<FollowCursor>;

const BEGINNING: FollowCursor = {
  addIndex: 0,
  settleIndex: 0,
  paymentIndex: 0,
  listed: null,
  height: 0,
};

const shape = z.object({
  a: z.int(),
  s: z.int(),
  p: z.int(),
  l: z.object({ hash: z.string(), attempt: z.int() }).nullable().default(null),
  h: z.int(),
});

/** Reads a cursor that {@link writeCursor} wrote; null stands for the wallet's beginning. */
export function readCursor(text: string | null): FollowCursor {
  if (text === null) return BEGINNING;
  const { a, s, p, l, h } = shape.parse(JSON.parse(text));
  return { addIndex: a, settleIndex: s, paymentIndex: p, listed: l, height: h };
}

/** Returns the cursor as the store keeps it. */
export function writeCursor(cursor: FollowCursor): string {
  const { addIndex: a, settleIndex: s, paymentIndex: p, listed: l, height: h } = cursor;
  return JSON.stringify({ a, s, p, l, h });
}

/**
 * Returns the cursor after more was read. The numbers of invoices only grow; a height may fall when LND reads the chain
 * again, and a payment's number when LND has numbered its payments anew.
 */
export function advanced(cursor: FollowCursor, reached: Partial<FollowCursor>): FollowCursor {
  const { addIndex = 0, settleIndex = 0, height = cursor.height } = reached;
  const { paymentIndex, listed = null } = reached.paymentIndex === undefined ? cursor : reached;
  return {
    addIndex: Math.max(cursor.addIndex, addIndex),
    settleIndex: Math.max(cursor.settleIndex, settleIndex),
    paymentIndex: paymentIndex ?? cursor.paymentIndex,
    listed,
    height,
  };
}
