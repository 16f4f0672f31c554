/** What is older than this is read again. */
const FRESH_MS = 60_000;

/** What a node said at most a minute ago, for what changes seldom and is asked for often. */
export class Recent<T> {
  readonly #elapsedMs: () => number;
  #last: { readonly atMs: number; readonly value: Promise<T> } | null = null;

  /** `elapsedMs` is a monotonic clock. */
  constructor(elapsedMs: () => number) {
    this.#elapsedMs = elapsedMs;
  }

  /** Returns what was read last, or what `read` returns where that is older. Throws what `read` throws. */
  get(read: () => Promise<T>): Promise<T> {
    const atMs = this.#elapsedMs();
    if (this.#last !== null && atMs - this.#last.atMs < FRESH_MS) return this.#last.value;
    const last = { atMs, value: read() };
    this.#last = last;
    // An error is not kept: the next call reads again.
    last.value.catch(() => {
      if (this.#last === last) this.#last = null;
    });
    return last.value;
  }
}
