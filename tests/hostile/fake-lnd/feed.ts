/** The events of a node, for its open streams. */
export class Feed<T> {
  readonly #listeners = new Set<(item: T) => void>();

  publish(item: T): void {
    for (const listener of this.#listeners) listener(item);
  }

  /** The number of open streams. */
  get followers(): number {
    return this.#listeners.size;
  }

  /**
   * Returns `backlog` and then every item published after the call, until `signal` aborts. No item in between is lost.
   */
  follow(signal: AbortSignal, backlog: () => readonly T[] = () => []): AsyncGenerator<T> {
    const queue: T[] = [];
    let wake = Promise.withResolvers<void>();
    const listener = (item: T) => {
      queue.push(item);
      wake.resolve();
    };
    this.#listeners.add(listener);
    queue.push(...backlog());
    signal.addEventListener('abort', () => wake.resolve(), { once: true });
    const listeners = this.#listeners;
    return (async function* () {
      try {
        while (!signal.aborted) {
          const item = queue.shift();
          if (item !== undefined) yield item;
          else {
            await wake.promise;
            wake = Promise.withResolvers();
          }
        }
      } finally {
        listeners.delete(listener);
      }
    })();
  }
}
