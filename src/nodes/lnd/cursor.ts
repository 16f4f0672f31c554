import { z } from 'zod';
import type { FoundUpTo } from '../remote/found.ts';

/** How far a wallet was followed. LND numbers invoices and payments itself. */
export interface FollowCursor {
  /** `add_index` of the newest invoice that was read. */
  readonly addIndex: number;
  /** `settle_index` of the newest settled invoice that was read. */
  readonly settleIndex: number;
  /** `payment_index` of the newest outgoing payment that was read. */
  readonly paymentIndex: number;
  /** All transactions confirmed below this height are final, and were read. */
  readonly height: number;
}

/** What a stream or a look found at LND, and how far it has read. */
export type Found = FoundUpTo<FollowCursor>;

const shape = z.object({ a: z.int(), s: z.int(), p: z.int(), h: z.int() });

/** Reads a cursor that {@link writeCursor} wrote; null stands for the wallet's beginning. */
export function readCursor(text: string | null): FollowCursor {
  if (text === null) return { addIndex: 0, settleIndex: 0, paymentIndex: 0, height: 0 };
  const { a, s, p, h } = shape.parse(JSON.parse(text));
  return { addIndex: a, settleIndex: s, paymentIndex: p, height: h };
}

/** Returns the cursor as the store keeps it. */
export function writeCursor(cursor: FollowCursor): string {
  const { addIndex: a, settleIndex: s, paymentIndex: p, height: h } = cursor;
  return JSON.stringify({ a, s, p, h });
}

/**
 * Returns the cursor after more was read. LND's numbers only grow; a height may fall when LND reads the chain again.
 */
export function advanced(cursor: FollowCursor, reached: Partial<FollowCursor>): FollowCursor {
  const { addIndex = 0, settleIndex = 0, paymentIndex = 0, height = cursor.height } = reached;
  return {
    addIndex: Math.max(cursor.addIndex, addIndex),
    settleIndex: Math.max(cursor.settleIndex, settleIndex),
    paymentIndex: Math.max(cursor.paymentIndex, paymentIndex),
    height,
  };
}
