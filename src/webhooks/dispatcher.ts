import { backoffDelayMs } from '../lib/backoff.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Counter, Metrics } from '../lib/metrics.ts';
import type { DueDelivery, Outbox } from '../store/ports.ts';
import { leaseFrom } from './lease.ts';
import { openPoster, type Poster } from './post.ts';
import { type AttemptProblem, failureProblem, statusProblem } from './problem.ts';
import type { SignDelivery } from './sign.ts';

/** Attempts start at 0, about 2 and about 8 seconds, each with its own time limit (docs/decisions.md 92). */
const MAX_ATTEMPTS = 3;
const BACKOFF = { firstMs: 2_000, mostMs: 6_000, jitter: 0.2 };
const ATTEMPT_LIMIT_MS = 10_000;
/** A lease lasts longer than its attempt, so that no other process makes the same attempt meanwhile. */
const LEASE_MS = 3 * ATTEMPT_LIMIT_MS;
/** The most attempts in progress at once. A receiver that hangs delays a delivery only when all of them hang. */
const MAX_CONCURRENT = 256;
/** The longest time between two looks at the outbox, even when the clock is set back. */
const LONGEST_SLEEP_MS = 5_000;
/**
 * How long settled deliveries are kept, so that they can be sent again. At least {@link KEPT_LEAST} are kept, even when
 * the clock is set forward, and at most {@link KEPT_MOST}.
 */
const KEPT_MS = 30 * 24 * 3600 * 1000;
const KEPT_LEAST = 10_000;
const KEPT_MOST = 100_000;
const PRUNE_EVERY_MS = 3600 * 1000;

/**
 * When the sidecar stops, attempts in progress may take this long to end before they are aborted
 * (docs/decisions.md 94).
 */
const STOP_GRACE_MS = 1_000;

/** How an attempt ended: with status 200, with another status, without an answer in time, or without a connection. */
type Outcome = 'delivered' | AttemptProblem['outcome'];

interface DispatcherOptions {
  readonly outbox: Outbox;
  readonly url: string;
  readonly sign: SignDelivery;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly attemptLimitMs?: number;
  /** Certificate authorities (PEM) that are trusted instead of the system's. */
  readonly ca?: string;
}

/** Sends the deliveries of the outbox. */
export interface Dispatcher {
  /** Looks at the outbox now. It must be called after a delivery was written. */
  wake(): void;
  /**
   * Starts no new attempt, waits a second for those in progress, and aborts the rest. An aborted attempt does not
   * count, because its outcome is not known, and its delivery is due at the next start.
   */
  stop(): Promise<void>;
}

/** Starts delivering to one receiver. Deliveries of different payments run side by side (docs/decisions.md 92). */
export function startDispatcher(options: DispatcherOptions): Dispatcher {
  const { outbox, clock, log } = options;
  const ended = attemptCounters(options.metrics);
  const poster = openPoster(options.url, options.ca);
  const aborting = new AbortController();
  const inProgress = new Map<string, Promise<void>>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let looking = false;
  let looked = Promise.resolve();
  let lookAgain = false;
  let stopped = false;
  let tookOver = false;
  let prunedAtMs = Number.NEGATIVE_INFINITY;

  function wake(): void {
    if (stopped) return;
    if (looking) {
      lookAgain = true;
      return;
    }
    looking = true;
    looked = look();
  }

  async function look(): Promise<void> {
    clearTimeout(timer);
    let sleepMs = LONGEST_SLEEP_MS;
    try {
      if (!tookOver) await outbox.releaseAbandoned(clock.now());
      tookOver = true;
      do {
        lookAgain = false;
        await claimAll();
      } while (lookAgain && !stopped);
      await prune();
      const dueAtMs = await outbox.nextDueAt();
      if (dueAtMs !== null) sleepMs = Math.max(0, dueAtMs - clock.now());
    } catch (error) {
      log.error('The webhook outbox could not be read; it is read again soon.', { error });
    }
    looking = false;
    if (lookAgain) return wake();
    if (!stopped) timer = setTimeout(wake, Math.min(Math.max(sleepMs, 10), LONGEST_SLEEP_MS));
  }

  async function claimAll(): Promise<void> {
    while (!stopped) {
      const limit = MAX_CONCURRENT - inProgress.size;
      if (limit === 0) {
        await Promise.race(inProgress.values());
        continue;
      }
      // Setting the clock may end the lease of an attempt that still runs here. That attempt stays the only one.
      const running = new Set(inProgress.keys());
      const due = await outbox.claim({ ...leaseFrom(clock.now(), LEASE_MS), limit });
      for (const delivery of due) {
        const { id } = delivery;
        if (running.has(id)) continue;
        inProgress.set(
          id,
          deliver(delivery).finally(() => inProgress.delete(id)),
        );
      }
      if (due.length < limit) return;
    }
  }

  async function deliver(delivery: DueDelivery): Promise<void> {
    try {
      const attempt = stopped
        ? 'aborted'
        : await attemptOnce(options, poster, delivery, aborting.signal);
      if (attempt === 'aborted') return await outbox.release(delivery.id, clock.now());
      ended[attempt?.outcome ?? 'delivered'].inc();
      const problem = attempt?.words ?? null;
      if (problem === null) return await outbox.delivered(delivery.id, clock.now());
      const attempts = delivery.attempts + 1;
      const final = attempts >= MAX_ATTEMPTS;
      const delayMs = backoffDelayMs(attempts * 2 - 1, { ...BACKOFF, random: options.random });
      await outbox.attemptFailed(delivery.id, problem, final ? null : clock.now() + delayMs);
      if (final) log.warn('A webhook was not delivered.', { id: delivery.id, attempts, problem });
      else wake();
    } catch (error) {
      // The lease ends by itself and the delivery is tried again, so the receiver may get it twice.
      log.error('The outcome of a webhook attempt could not be stored.', {
        id: delivery.id,
        error,
      });
    }
  }

  async function prune(): Promise<void> {
    if (Math.abs(clock.now() - prunedAtMs) < PRUNE_EVERY_MS) return;
    prunedAtMs = clock.now();
    await outbox.prune({
      beforeMs: prunedAtMs - KEPT_MS,
      least: KEPT_LEAST,
      most: KEPT_MOST,
    });
  }

  wake();
  return {
    wake,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      const abort = setTimeout(() => aborting.abort(), STOP_GRACE_MS);
      // A look in progress may still claim deliveries, which are released again.
      await looked;
      await Promise.allSettled(inProgress.values());
      clearTimeout(abort);
      poster.close();
    },
  };
}

function attemptCounters(metrics: Metrics): Readonly<Record<Outcome, Counter>> {
  const family = metrics.counter({
    name: 'wallet_sidecar_webhook_attempts_total',
    help: 'Attempts to deliver a webhook, by how they ended.',
    labels: ['outcome'],
  });
  return {
    delivered: family({ outcome: 'delivered' }),
    refused: family({ outcome: 'refused' }),
    timeout: family({ outcome: 'timeout' }),
    unreachable: family({ outcome: 'unreachable' }),
  };
}

/** Makes one attempt. Returns what went wrong, null when the receiver answered 200, or `aborted`. */
async function attemptOnce(
  options: DispatcherOptions,
  poster: Poster,
  { id, body }: DueDelivery,
  signal: AbortSignal,
): Promise<AttemptProblem | null | 'aborted'> {
  const { url, sign, clock, attemptLimitMs: limitMs = ATTEMPT_LIMIT_MS } = options;
  try {
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'wallet-sidecar',
      ...sign(id, clock.now(), body),
    };
    return statusProblem(await poster.post({ body, headers, limitMs, signal }));
  } catch (error) {
    return signal.aborted ? 'aborted' : failureProblem(error, url, limitMs);
  }
}
