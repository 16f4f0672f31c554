import { backoffDelayMs } from '../../lib/backoff.ts';
import { sleep } from '../../lib/sleep.ts';
import type { FeedOptions } from './feed-options.ts';

const OPEN_AGAIN = { firstMs: 100, mostMs: 15_000, jitter: 0.5 };
/** A failure is logged at once, and in an outage that goes on, after these times. */
const TELL_AGAIN = { firstMs: 60_000, mostMs: 3_600_000, jitter: 0 };
/** Callers that wait shorten the pause after an attempt to this, however many they are. */
const HURRIED_MS = 1000;
/** Once the node was followed for so long, the next failure begins another outage. */
const STEADY_MS = 15_000;

type Options = Pick<FeedOptions, 'elapsedMs' | 'log' | 'pause' | 'random' | 'walletId'>;

/** Says when a feed that cannot follow its node tries again, and which of its failures are to be logged. */
export class FeedAttempts {
  readonly #options: Options;
  readonly #pause: typeof sleep;
  #failures = 0;
  /** Since when the node is followed, in monotonic milliseconds; null since the last failure. */
  #followedSinceMs: number | null = null;
  #overAtMs = Number.NEGATIVE_INFINITY;
  #nextAtMs = Number.NEGATIVE_INFINITY;
  #changed = new AbortController();
  #told = 0;
  #tellAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: Options) {
    this.#options = options;
    this.#pause = options.pause ?? sleep;
  }

  /** Resolves to true once the next attempt is due, or to false when `signal` aborts. */
  async due(signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted) {
      const leftMs = this.#nextAtMs - this.#options.elapsedMs();
      if (leftMs <= 0) return true;
      this.#changed = new AbortController();
      const changed = this.#changed.signal;
      await this.#pause(leftMs, AbortSignal.any([signal, changed]));
      if (!changed.aborted) return !signal.aborted;
    }
    return false;
  }

  /** Must be called when something of the node was stored. */
  followed(): void {
    this.#failures = 0;
    this.#followedSinceMs ??= this.#options.elapsedMs();
  }

  /** Notes that an attempt has failed: the next one is due later the more of them have. */
  failed(): void {
    const { elapsedMs, random } = this.#options;
    const since = this.#followedSinceMs;
    this.#followedSinceMs = null;
    this.#failures++;
    const pauseMs = backoffDelayMs(this.#failures, { ...OPEN_AGAIN, random });
    const isSteady = since !== null && elapsedMs() - since >= STEADY_MS;
    if (isSteady) this.#told = 0;
    // A node that can be followed for a moment only would otherwise be asked anew all the time.
    this.putOff(since === null || isSteady ? pauseMs : HURRIED_MS);
  }

  putOff(ms: number): void {
    this.#overAtMs = this.#options.elapsedMs();
    this.#nextAtMs = this.#overAtMs + ms;
  }

  /** Logs the last failure, where it is to be logged. */
  tell(error: unknown): void {
    const { elapsedMs, random, walletId, log } = this.#options;
    const nowMs = elapsedMs();
    if (this.#told > 0 && nowMs < this.#tellAtMs) return;
    this.#told++;
    this.#tellAtMs = nowMs + backoffDelayMs(this.#told, { ...TELL_AGAIN, random });
    const failures = this.#failures;
    log.warn('The update feed broke and will be opened again.', { walletId, failures, error });
  }

  /** Lets the next attempt begin soon: a second after the last one was over. */
  hurry(): void {
    this.#dueAt(this.#overAtMs + HURRIED_MS);
  }

  /** Lets the next attempt begin at once. */
  begin(): void {
    this.#dueAt(Number.NEGATIVE_INFINITY);
  }

  #dueAt(atMs: number): void {
    if (atMs >= this.#nextAtMs) return;
    this.#nextAtMs = atMs;
    this.#changed.abort();
  }
}
