import { sleep } from '../../../lib/sleep.ts';

/** How soon after the wallet began to prepare a payment the node is asked to make it; later it counts no more. */
const PREPARED_MS = 250;

/**
 * Knows whether this process is paying, or about to. The node works on one call after another, so what can wait is
 * not asked meanwhile (docs/decisions.md 140).
 */
export class PayingNow {
  readonly #elapsedMs: () => number;
  readonly #pause: typeof sleep;
  #preparedUntilMs = Number.NEGATIVE_INFINITY;
  #running = 0;
  #ended = Promise.withResolvers<void>();

  /** `elapsedMs` is a monotonic clock, and `pause` waits by it; {@link sleep} when absent. */
  constructor(elapsedMs: () => number, pause = sleep) {
    this.#elapsedMs = elapsedMs;
    this.#pause = pause;
  }

  /** Whether a payment is being made or prepared. */
  get isNow(): boolean {
    return this.#running > 0 || this.#elapsedMs() < this.#preparedUntilMs;
  }

  /** Notes that a payment is being prepared. */
  prepare(): void {
    this.#preparedUntilMs = this.#elapsedMs() + PREPARED_MS;
  }

  /** Notes that the node is asked to pay, until the returned function is called. */
  begin(): () => void {
    this.#preparedUntilMs = Number.NEGATIVE_INFINITY;
    this.#running += 1;
    return () => {
      this.#running -= 1;
      if (this.#running > 0) return;
      this.#ended.resolve();
      this.#ended = Promise.withResolvers();
    };
  }

  /** Resolves once nothing is paid, after `mostMs` at the latest, and when `signal` aborts. */
  async over(mostMs: number, signal: AbortSignal): Promise<void> {
    let leftMs = mostMs;
    while (this.isNow && leftMs > 0 && !signal.aborted) {
      const sinceMs = this.#elapsedMs();
      const ms = this.#running > 0 ? leftMs : Math.min(leftMs, this.#preparedUntilMs - sinceMs);
      leftMs -= (await this.#endsWithin(ms, signal)) ? this.#elapsedMs() - sinceMs : ms;
    }
  }

  async #endsWithin(ms: number, signal: AbortSignal): Promise<boolean> {
    const stop = new AbortController();
    const hasEnded = await Promise.race([
      this.#ended.promise.then(() => true),
      this.#pause(ms, AbortSignal.any([signal, stop.signal])).then(() => false),
    ]);
    stop.abort();
    return hasEnded;
  }
}
