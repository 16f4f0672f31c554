import { RemoteFailure } from './failure.ts';

/** Bounds how many requests to one place are open at a time; the others wait in order. */
export class Openings {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(most: number) {
    this.#free = most;
  }

  /** Waits for a turn, `withinMs` at most; returns what ends it. Throws `timeout` or `aborted`, nothing sent. */
  async enter(withinMs: number | null, signal: AbortSignal | null): Promise<() => void> {
    if (signal?.aborted) throw new RemoteFailure('aborted', true);
    if (this.#free > 0) this.#free -= 1;
    else await this.#turn(withinMs, signal);
    let left = false;
    return () => {
      if (!left) this.#leave();
      left = true;
    };
  }

  #turn(withinMs: number | null, signal: AbortSignal | null): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', aborted);
        this.#waiting.delete(go);
      };
      const go = () => {
        done();
        resolve();
      };
      const giveUp = (reason: 'timeout' | 'aborted') => {
        done();
        reject(new RemoteFailure(reason, true));
      };
      const aborted = () => giveUp('aborted');
      const timer = withinMs === null ? undefined : setTimeout(() => giveUp('timeout'), withinMs);
      signal?.addEventListener('abort', aborted, { once: true });
      this.#waiting.add(go);
    });
  }

  #leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#free += 1;
    else next();
  }
}
