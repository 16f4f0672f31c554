import { z } from 'zod';

/** How far each of LND's lists was read; every one is counted by LND itself. */
export interface FollowCursor {
  /** The last invoice added. */
  addIndex: number;
  /** The last invoice settled. */
  settleIndex: number;
  /** The last outgoing payment. */
  paymentIndex: number;
  /** Transactions confirmed below this height are final and known. */
  height: number;
}

const shape = z.object({ a: z.int(), s: z.int(), p: z.int(), h: z.int() });

/** Reads what {@link writeCursor} wrote; null is the wallet's beginning. */
export function readCursor(text: string | null): FollowCursor {
  if (text === null) return { addIndex: 0, settleIndex: 0, paymentIndex: 0, height: 0 };
  const { a, s, p, h } = shape.parse(JSON.parse(text));
  return { addIndex: a, settleIndex: s, paymentIndex: p, height: h };
}

/** The cursor as the store keeps it. */
export function writeCursor(cursor: FollowCursor): string {
  const { addIndex: a, settleIndex: s, paymentIndex: p, height: h } = cursor;
  return JSON.stringify({ a, s, p, h });
}
