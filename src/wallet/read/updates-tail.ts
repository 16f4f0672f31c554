import type { Payment } from '../../model/payment.ts';
import type { UpdatedIndex } from '../../model/payment-index.ts';
import { onAbort } from '../session/on-abort.ts';
import { updatesSeen } from '../session/own-payments.ts';
import type { Session, Waiter } from '../session/session.ts';

/** The most payments that a tail's reader gets at once, unless it asks for fewer. */
const PAGE = 100;

/**
 * Many tails wait a moment after a change, so that changes that follow each other closely are one page and one write to
 * each stream: a millisecond for so many tails, which is a quarter of what telling them takes, and no longer than
 * {@link MOST_PAUSE_MS} (docs/decisions.md 89).
 */
const TAILS_A_MS = 400;
const MOST_PAUSE_MS = 5;

interface TailReader {
  /** Takes the page that was asked for: at least one update, oldest first. */
  readonly take: (page: readonly Payment[]) => void;
  /** Is called once when the tail ends by itself, with the reason. */
  readonly fail: (reason: unknown) => void;
}

interface TailStart {
  /** Updates after this one are told; null begins with the first. */
  readonly after: UpdatedIndex | null;
  readonly signal: AbortSignal;
  readonly limit?: number;
}

/**
 * Tells a reader every update after a cursor, without end: first what is stored, then live, with no gap
 * (docs/decisions.md 89). The reader gets a page each time it asks, and nothing unasked. The tail ends with the reason
 * of its signal, or of the session when its credential ends, or with what a read threw.
 */
export class UpdatesTail {
  readonly #session: Waiter;
  readonly #tails: Tails;
  readonly #reader: TailReader;
  readonly #signal: AbortSignal;
  readonly #limit: number;
  #cursor: UpdatedIndex | null;
  /** What the feed had told before the newest page was read, if nothing was left after that page; null otherwise. */
  #upTo: number | null = null;
  #state: 'new' | 'followed' | 'ended' = 'new';
  #unsubscribe: () => void = () => undefined;

  constructor(session: Waiter, { after, signal, limit = PAGE }: TailStart, reader: TailReader) {
    this.#session = session;
    this.#tails = tailsOf(session);
    this.#reader = reader;
    this.#signal = signal;
    this.#limit = limit;
    this.#cursor = after;
  }

  /** What the next page is read by. Tails with the same question get the same array. */
  get question(): { readonly after: UpdatedIndex | null; readonly limit: number } {
    return { after: this.#cursor, limit: this.#limit };
  }

  /** Whether the feed has told nothing since the newest page, after which nothing was left. */
  get isAtEnd(): boolean {
    return this.#upTo === this.#session.feed.changes;
  }

  /** Asks for the next page. Must be called again only when the reader has got it. */
  ask(): void {
    if (this.#state === 'followed') this.#tails.ask(this);
    else if (this.#state === 'new') void this.#begin();
  }

  /** Ends the tail; its reader is not called any more. */
  stop(): void {
    if (this.#state === 'followed') this.#tails.leave(this);
    this.#state = 'ended';
    this.#unsubscribe();
  }

  /** Takes the page that was read by {@link question}. Before that read the feed had told of `changes`. */
  give({ payments, reached, isLast }: Awaited<ReturnType<typeof updatesSeen>>, changes: number) {
    if (this.#state === 'ended') return;
    this.#upTo = isLast ? changes : null;
    this.#cursor = reached;
    if (payments.length === 0) {
      this.ask();
      return;
    }
    try {
      this.#reader.take(payments);
    } catch (error) {
      this.fail(error);
    }
  }

  fail(reason: unknown): void {
    if (this.#state === 'ended') return;
    this.stop();
    this.#reader.fail(reason);
  }

  #isEnded(): boolean {
    return this.#state === 'ended';
  }

  async #begin(): Promise<void> {
    const { feed, node, ended } = this.#session;
    this.#unsubscribe = onAbort([this.#signal, ended], (reason) => this.fail(reason));
    if (this.#isEnded()) {
      this.#unsubscribe();
      return;
    }
    try {
      await feed.prepare(node);
    } catch (error) {
      this.fail(error);
    }
    if (this.#isEnded()) return;
    this.#state = 'followed';
    this.#tails.join(this);
    this.ask();
  }
}

const tails = new WeakMap<Session['history'], Tails>();

function tailsOf(session: Waiter): Tails {
  const known = tails.get(session.history);
  if (known) return known;
  const made = new Tails(session);
  tails.set(session.history, made);
  return made;
}

/**
 * The tails of one credential. A change is told to all of them in one loop, with one read for those that have the same
 * question.
 */
class Tails {
  readonly #session: Waiter;
  readonly #feed: Session['feed'];
  readonly #joined = new Set<UpdatesTail>();
  /** Those that wait for the next change. */
  #waiting = new Set<UpdatesTail>();
  /** Those that read when the present turn ends. */
  #reading = new Set<UpdatesTail>();
  #pause: ReturnType<typeof setTimeout> | null = null;
  #stopListening: () => void = () => undefined;

  constructor(session: Waiter) {
    this.#session = session;
    this.#feed = session.feed;
  }

  join(tail: UpdatesTail): void {
    if (this.#joined.size === 0) this.#stopListening = this.#feed.listen(() => this.#wake());
    this.#joined.add(tail);
  }

  leave(tail: UpdatesTail): void {
    this.#waiting.delete(tail);
    this.#reading.delete(tail);
    if (this.#joined.delete(tail) && this.#joined.size === 0) this.#stopListening();
  }

  ask(tail: UpdatesTail): void {
    if (tail.isAtEnd) this.#waiting.add(tail);
    else this.#readSoon([tail]);
  }

  #wake(): void {
    const pauseMs = Math.min(Math.floor(this.#waiting.size / TAILS_A_MS), MOST_PAUSE_MS);
    if (pauseMs === 0) this.#readWaiting();
    else this.#pause ??= setTimeout(() => this.#readWaiting(), pauseMs);
  }

  #readWaiting(): void {
    if (this.#pause !== null) clearTimeout(this.#pause);
    this.#pause = null;
    const woken = this.#waiting;
    this.#waiting = new Set();
    this.#readSoon(woken);
  }

  #readSoon(asking: Iterable<UpdatesTail>): void {
    const isFirst = this.#reading.size === 0;
    for (const tail of asking) this.#reading.add(tail);
    if (isFirst && this.#reading.size > 0) queueMicrotask(() => this.#readAll());
  }

  #readAll(): void {
    const reading = this.#reading;
    this.#reading = new Set();
    const questions = Map.groupBy(reading, ({ question }) => `${question.limit} ${question.after}`);
    for (const [first, ...others] of questions.values()) {
      if (first) void this.#read(first, others);
    }
  }

  /** A page may miss what the feed told after its read began, and is then not the last one. */
  async #read(first: UpdatesTail, others: readonly UpdatesTail[]): Promise<void> {
    const { changes } = this.#feed;
    const { after, limit } = first.question;
    const all = [first, ...others];
    try {
      const page = await updatesSeen(this.#session, after, limit);
      for (const tail of all) tail.give(page, changes);
    } catch (error) {
      for (const tail of all) tail.fail(error);
    }
  }
}
