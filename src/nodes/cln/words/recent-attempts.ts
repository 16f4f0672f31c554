import type { SendAttempt } from './translate.ts';

/** What was read earlier than this says nothing of now. */
const FRESH_MS = 1000;

interface Read {
  readonly atMs: number;
  readonly attempts: readonly SendAttempt[];
}

/** Attempts that the wallet read while it prepared a payment, so that they are not asked for again. */
export class RecentAttempts {
  readonly #elapsedMs: () => number;
  /** By hash, the oldest first. */
  readonly #read = new Map<string, Read>();

  /** `elapsedMs` is a monotonic clock. */
  constructor(elapsedMs: () => number) {
    this.#elapsedMs = elapsedMs;
  }

  /** Keeps what was asked for at that time of {@link elapsedMs} for one {@link take}. */
  keep(hash: string, attempts: readonly SendAttempt[], askedAtMs: number): void {
    for (const [old, { atMs }] of this.#read) {
      if (this.#isFresh(atMs)) break;
      this.#read.delete(old);
    }
    this.#read.delete(hash);
    this.#read.set(hash, { atMs: askedAtMs, attempts });
  }

  /** The attempts as they were at most a second ago; null where they must be read. */
  take(hash: string): readonly SendAttempt[] | null {
    const read = this.#read.get(hash);
    this.#read.delete(hash);
    return read && this.#isFresh(read.atMs) ? read.attempts : null;
  }

  #isFresh(atMs: number): boolean {
    return this.#elapsedMs() - atMs < FRESH_MS;
  }
}
