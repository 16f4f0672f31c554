import { type FollowCursor, type Order, positionIn } from '../words/cursor.ts';

/**
 * The newest numbers that the waiting requests of a feed have told of, so that a look that a change began need not ask
 * for them again. A number may be an old one for a moment: the request that tells of the next change is on its way.
 */
export class Told {
  readonly #numbers = new Map<string, number | null>();

  /** Keeps the newest number of an order; null where the rune may not ask for it. */
  set(list: string, order: Order, number: number | null): void {
    this.#numbers.set(`${list}.${order}`, number);
  }

  /**
   * The newest number of an order, and never less than what was read; null where the rune may not ask for it, and
   * undefined where no request waits for the order.
   */
  newest(cursor: FollowCursor, list: string, order: Order): number | null | undefined {
    const number = this.#numbers.get(`${list}.${order}`);
    return typeof number === 'number' ? Math.max(number, positionIn(cursor, list, order)) : number;
  }
}
