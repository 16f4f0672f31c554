import type { FollowCursor } from '../words/cursor.ts';
import type { LndInbox } from '../words/inbox.ts';
import type { Look } from './look.ts';

/** After subscribing, the lists are read once more this much later, because LND may begin to listen late. */
const SETTLED_IN_MS = 1000;
/** How often the lists are read again, in case a stream left out a change. */
const LOOK_AGAIN_MS = 30_000;
/** How often every open invoice is compared with LND, in case another program canceled one. */
const EVERY_INVOICE_MS = 3_600_000;

/** Says when to look at what. Times are monotonic milliseconds. */
export class LookSchedule {
  #listsAtMs: number;
  #everyInvoiceAtMs: number;
  /** Whether the newest look reads the lists. */
  #readsLists = true;

  /** The schedule after the look with which a feed begins. */
  constructor(nowMs: number, start: Pick<FollowCursor, 'settleIndex'>) {
    this.#listsAtMs = nowMs + SETTLED_IN_MS;
    // LND tells what was settled before it began to listen, but only after an invoice that is named.
    const isGap = start.settleIndex === 0;
    this.#everyInvoiceAtMs = isGap ? this.#listsAtMs : nowMs + EVERY_INVOICE_MS;
  }

  /** What is to be looked at now; null is nothing. `dueInMs` is when the next invoice is due. */
  next(
    nowMs: number,
    { wanted, isDeafToInvoices }: Pick<LndInbox, 'wanted' | 'isDeafToInvoices'>,
    dueInMs: number,
  ): Look['reads'] | null {
    if (wanted === 'soon') this.#within(nowMs, SETTLED_IN_MS);
    this.#readsLists = wanted === 'now' || nowMs >= this.#listsAtMs;
    if (!this.#readsLists) return dueInMs <= 0 ? 'due' : null;
    this.#listsAtMs = nowMs + LOOK_AGAIN_MS;
    if (!isDeafToInvoices && nowMs < this.#everyInvoiceAtMs) return 'lists';
    this.#everyInvoiceAtMs = nowMs + EVERY_INVOICE_MS;
    return 'everyInvoice';
  }

  /** Must be called when a look is over. `againWithinMs` is when the lists must be read again, if that is soon. */
  over(nowMs: number, againWithinMs: number | null): void {
    // A look at what is due must not put the lists off, since invoices may fall due all the time.
    if (this.#readsLists) this.#listsAtMs = Math.max(this.#listsAtMs, nowMs + SETTLED_IN_MS);
    if (againWithinMs !== null) this.#within(nowMs, againWithinMs);
  }

  /** Lets every open invoice be compared with LND within that time. */
  everyInvoiceWithin(nowMs: number, ms: number): void {
    this.#everyInvoiceAtMs = Math.min(this.#everyInvoiceAtMs, nowMs + ms);
    this.#within(nowMs, ms);
  }

  /** How long nothing is to be looked at, if nothing asks for it. */
  restMs(nowMs: number, dueInMs: number): number {
    return Math.min(this.#listsAtMs - nowMs, dueInMs);
  }

  #within(nowMs: number, ms: number): void {
    this.#listsAtMs = Math.min(this.#listsAtMs, nowMs + ms);
  }
}
