import type { Clock } from '../../../lib/clock.ts';
import { LOST } from './certainty.ts';
import type { SendLabels } from './labels.ts';
import { hasLostPart, hasOnlyFailed, type SendAttempt } from './translate.ts';

/** For how long nothing but failed parts proves an end: the minute in which `xpay` begins new tries, and more. */
const QUIET_MS = 75_000;
/**
 * For how long a call of `xpay` may begin new tries: its minute, and a wide margin. An older call waits only for parts
 * that are on their way, or its connection has died without a sign (docs/decisions.md 176).
 */
const CALL_TRIES_MS = 10 * 60_000;
/** How soon a payment that is still being tried is looked at again. */
const AGAIN_MS = 5000;
/** Since when a payment that was made without this program must have failed, so that it is over at first sight. */
const OLD_MS = 24 * 3_600_000;
/** How many reasons are kept. For a payment whose reason is lost, the time without a new part decides. */
const MOST_REASONS = 10_000;
/** The reason of a payment of which only its failed parts are known. */
const NOT_DELIVERED = 'not delivered';

interface OpenCalls {
  readonly count: number;
  /** When the newest began, by the monotonic clock. */
  readonly newestSinceMs: number;
}

/** An attempt that has nothing but failed parts. Times are of the monotonic clock. */
interface Watched {
  readonly parts: number;
  /** `created_index` of the newest part. */
  readonly newest: number;
  readonly sinceMs: number;
  readonly dueAtMs: number;
  readonly isOver: boolean;
}

/**
 * Knows which payments have failed for good. Between two tries of `xpay`, all parts of a payment may have failed, so
 * the parts alone prove no end. It is proven by the error of the `xpay` that this process called, or by the time in
 * which this process saw no new part.
 */
export class Endings {
  readonly #elapsedMs: () => number;
  readonly #clock: Clock;
  readonly #labels: SendLabels;
  /** The calls of `xpay` that this process has open for a hash. */
  readonly #running = new Map<string, OpenCalls>();
  readonly #reasons = new Map<string, string>();
  readonly #watched = new Map<string, Map<number, Watched>>();

  /** `elapsedMs` is a monotonic clock. */
  constructor(elapsedMs: () => number, clock: Clock, labels: SendLabels) {
    this.#elapsedMs = elapsedMs;
    this.#clock = clock;
    this.#labels = labels;
  }

  /** Notes a call of `xpay` for the hash: until its {@link end}, ten minutes at most, no attempt fails by time. */
  begin(hash: string): void {
    const count = (this.#running.get(hash)?.count ?? 0) + 1;
    this.#running.set(hash, { count, newestSinceMs: this.#elapsedMs() });
  }

  end(hash: string): void {
    const calls = this.#running.get(hash);
    if (calls && calls.count > 1) this.#running.set(hash, { ...calls, count: calls.count - 1 });
    else this.#running.delete(hash);
  }

  /** Whether this process has a call of `xpay` open that may begin new tries. */
  get areRunning(): boolean {
    return [...this.#running.values()].some((calls) => this.#mayTry(calls));
  }

  /** Whether this process has a call of `xpay` open for the hash that may begin new tries. */
  isRunning(hash: string): boolean {
    const calls = this.#running.get(hash);
    return calls !== undefined && this.#mayTry(calls);
  }

  /** Notes that the node tries no other route for an attempt. It has failed as soon as no part of it is pending. */
  gaveUp(hash: string, groupId: number, reason: string): void {
    this.#reasons.set(nameOf(hash, groupId), reason);
    if (this.#reasons.size <= MOST_REASONS) return;
    for (const [oldest] of this.#reasons) {
      this.#reasons.delete(oldest);
      return;
    }
  }

  /** Why an attempt has failed, as the node has just shown it; null for one that has not failed or may go on. */
  failureOf(attempt: SendAttempt): string | null {
    const { hash, groupId, parts } = attempt;
    if (!hasOnlyFailed(attempt)) {
      this.#forget(hash, groupId);
      return null;
    }
    if (hasLostPart(attempt)) {
      this.#forget(hash, groupId);
      return LOST;
    }
    const reason = this.#reasons.get(nameOf(hash, groupId));
    const isForeign = this.#labels.indexOf(parts[0]) === null;
    if (reason !== undefined || (isForeign && this.#isOld(attempt))) {
      this.#forget(hash, groupId);
      return reason ?? NOT_DELIVERED;
    }
    return this.#watch(attempt).isOver ? NOT_DELIVERED : null;
  }

  /** Must be called with all attempts of a hash that the node shows: it may have deleted others. */
  shown(hash: string, attempts: readonly SendAttempt[]): void {
    const there = new Set(attempts.map(({ groupId }) => groupId));
    for (const groupId of [...(this.#watched.get(hash)?.keys() ?? [])]) {
      if (!there.has(groupId)) this.#forget(hash, groupId);
    }
  }

  /** The hashes of which an attempt may be over by now. Their parts are to be read again. */
  due(): string[] {
    const nowMs = this.#elapsedMs();
    return this.#open()
      .filter(([, dueAtMs]) => dueAtMs <= nowMs)
      .map(([hash]) => hash);
  }

  /** In how many milliseconds a hash is due; infinite when none is watched. */
  get dueInMs(): number {
    const dueAtMs = this.#open().reduce(
      (first, [, one]) => Math.min(first, one),
      Number.POSITIVE_INFINITY,
    );
    return dueAtMs - this.#elapsedMs();
  }

  #watch({ hash, groupId, parts }: SendAttempt): Watched {
    const nowMs = this.#elapsedMs();
    const attempts = this.#watched.get(hash) ?? new Map<number, Watched>();
    const before = attempts.get(groupId);
    const newest = parts[parts.length - 1]?.created_index ?? 0;
    const isSame = before?.parts === parts.length && before.newest === newest;
    const sinceMs = isSame ? before.sinceMs : nowMs;
    const quietAtMs = sinceMs + QUIET_MS;
    const watched = {
      parts: parts.length,
      newest,
      sinceMs,
      dueAtMs: Math.max(quietAtMs, nowMs + AGAIN_MS),
      isOver: (isSame && before.isOver) || (!this.isRunning(hash) && nowMs >= quietAtMs),
    };
    this.#watched.set(hash, attempts.set(groupId, watched));
    return watched;
  }

  #mayTry({ newestSinceMs }: OpenCalls): boolean {
    return this.#elapsedMs() - newestSinceMs < CALL_TRIES_MS;
  }

  #forget(hash: string, groupId: number): void {
    const attempts = this.#watched.get(hash);
    attempts?.delete(groupId);
    if (attempts?.size === 0) this.#watched.delete(hash);
  }

  #open(): [string, number][] {
    return [...this.#watched].map(([hash, attempts]) => {
      const open = [...attempts.values()].filter(({ isOver }) => !isOver);
      return [hash, Math.min(...open.map(({ dueAtMs }) => dueAtMs))];
    });
  }

  /** Whether the newest part failed long ago, by the wall clock. */
  #isOld({ parts }: SendAttempt): boolean {
    const ends = parts.map(({ completed_at, created_at }) => (completed_at ?? created_at) * 1000);
    return this.#clock.now() - Math.max(...ends) > OLD_MS;
  }
}

function nameOf(hash: string, groupId: number): string {
  return `${hash} ${groupId}`;
}
