import { sleep } from '../../../lib/sleep.ts';
import type { Observation } from '../../node.ts';
import type { FoundUpTo } from './found.ts';

/** Collects what the streams and this process report, until the feed takes it. */
export class Inbox<Cursor> {
  /** Whether the lists must be read again; the feed resets it. */
  wanted: 'now' | 'soon' | null = null;
  #observations: Observation[] = [];
  readonly #further: (before: Partial<Cursor>, now: Partial<Cursor>) => Partial<Cursor>;
  #reached: Partial<Cursor> = {};
  #failure: { readonly error: unknown } | null = null;
  #arrived = Promise.withResolvers<void>();

  /** `further` returns how far both parts together have read. */
  constructor(further: (before: Partial<Cursor>, now: Partial<Cursor>) => Partial<Cursor>) {
    this.#further = further;
  }

  /** Adds changes, and where they say so, how far a stream has been read then. */
  readonly add = (observations: readonly Observation[], reached: Partial<Cursor> = {}): void => {
    this.#observations.push(...observations);
    this.#reached = this.#further(this.#reached, reached);
    this.#arrived.resolve();
  };

  readonly requestLook = (): void => {
    this.wanted = 'now';
    this.#arrived.resolve();
  };

  readonly requestLookSoon = (): void => {
    // One request is enough. Otherwise every new invoice would wake the feed.
    if (this.wanted !== null) return;
    this.wanted = 'soon';
    this.#arrived.resolve();
  };

  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#arrived.resolve();
  }

  /** Takes what has arrived. Throws the error that ended a stream, once everything before it was taken. */
  take(): FoundUpTo<Cursor> {
    const observations = this.#observations;
    if (this.#failure && observations.length === 0) throw this.#failure.error;
    this.#observations = [];
    if (!this.#failure) this.#arrived = Promise.withResolvers();
    return { observations, reached: this.#reached };
  }

  /** Resolves when something arrives, when `other` resolves, after `ms` at the latest, or when `signal` aborts. */
  async wait(ms: number, other: Promise<void> | null, signal: AbortSignal): Promise<void> {
    const timer = new AbortController();
    await Promise.race([
      this.#arrived.promise,
      ...(other === null ? [] : [other]),
      sleep(Math.max(ms, 0), AbortSignal.any([signal, timer.signal])),
    ]);
    timer.abort();
  }
}
