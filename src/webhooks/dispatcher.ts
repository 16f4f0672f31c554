import { backoffDelayMs } from '../lib/backoff.ts';
import type { Clock } from '../lib/clock.ts';
import { isDescriptorFree } from '../lib/files/descriptors.ts';
import type { Log } from '../lib/log.ts';
import type { Counter, Metrics } from '../lib/metrics.ts';
import type { DueDelivery, Outbox, QueuedEndpoint, WebhookEndpointStore } from '../store/ports.ts';
import { ATTEMPT_LIMIT_MS, type Attempted, attemptOnce, type Outcome } from './attempt.ts';
import { type Lane, openLanes } from './lanes.ts';
import { leaseFrom } from './lease.ts';
import type { FindTarget } from './target.ts';

/** Attempts start at 0, about 2 and about 8 seconds, each with its own time limit (docs/decisions.md 92). */
const MAX_ATTEMPTS = 3;
const BACKOFF = { firstMs: 2_000, mostMs: 6_000, jitter: 0.2 };
/** A lease lasts longer than its attempt, so that no other process makes the same attempt meanwhile. */
const LEASE_MS = 3 * ATTEMPT_LIMIT_MS;
/** The longest time between two looks at the outbox, even when the clock is set back. */
const LONGEST_SLEEP_MS = 5_000;
/**
 * How long settled deliveries are kept, so that they can be sent again. At least {@link KEPT_LEAST} are kept, even when
 * the clock is set forward, and at most {@link KEPT_MOST}.
 */
const KEPT_MS = 30 * 24 * 3600 * 1000;
const KEPT_LEAST = 10_000;
const KEPT_MOST = 100_000;
/** The most attempts that are kept. Each has up to 4 KiB of an answer. */
const KEPT_ATTEMPTS = 50_000;
const PRUNE_EVERY_MS = 3600 * 1000;
/** The shortest time between two log lines that say that deliveries wait for a file descriptor. */
const TELL_EVERY_MS = 60_000;

/** How long attempts in progress may take once the sidecar stops, before the abort (docs/decisions.md 94). */
const STOP_GRACE_MS = 1_000;

interface DispatcherOptions {
  readonly outbox: Outbox;
  readonly endpoints: Pick<WebhookEndpointStore, 'removeExpired'>;
  readonly find: FindTarget;
  readonly clock: Clock;
  readonly elapsedMs: () => number;
  readonly random: () => number;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly attemptLimitMs?: number;
  /** Whether this process can open a connection; asked of the system unless given. */
  readonly canConnect?: () => boolean;
  /** Certificate authorities (PEM) that are trusted instead of the system's. */
  readonly ca?: string;
}

/** Sends the deliveries of the outbox. */
export interface Dispatcher {
  /** Looks at the outbox now. It must be called after a delivery was written. */
  wake(): void;
  /** Must be called when an endpoint was deleted. Aborts its attempts in progress. */
  forget(endpoint: string): void;
  /**
   * Sends a message that is not in the outbox, once. Returns how it ended; null where the endpoint has no target, or
   * was deleted meanwhile. Rejects with the signal's reason.
   */
  sendOnce(
    endpoint: string,
    message: { readonly id: string; readonly body: string },
    signal: AbortSignal,
  ): Promise<Attempted | null>;
  /**
   * Starts no new attempt, waits a second for those in progress, and aborts the rest. An aborted attempt does not
   * count, because its outcome is not known, and its delivery is due at the next start.
   */
  stop(): Promise<void>;
}

/** Starts delivering. Different payments and endpoints run side by side (docs/decisions.md 92). */
export function startDispatcher(options: DispatcherOptions): Dispatcher {
  const { outbox, endpoints, clock, log, elapsedMs } = options;
  const { attemptLimitMs: limitMs = ATTEMPT_LIMIT_MS, canConnect = isDescriptorFree } = options;
  const ended = attemptCounters(options.metrics);
  const lanes = openLanes(options.find, options.ca);
  /** Whether an endpoint has more due than its lane has room for, so that the end of an attempt is awaited. */
  let waitsForRoom = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let looking = false;
  let looked = Promise.resolve();
  let lookAgain = false;
  let stopped = false;
  let tookOver = false;
  let prunedAtMs = Number.NEGATIVE_INFINITY;
  let toldAtMs = Number.NEGATIVE_INFINITY;

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
      for (const endpoint of await endpoints.removeExpired(clock.now())) lanes.close(endpoint);
      let dueAtMs: number;
      do {
        lookAgain = false;
        dueAtMs = await claimAll();
      } while (lookAgain && !stopped);
      await prune();
      lanes.closeIdle();
      sleepMs = Math.max(0, dueAtMs - clock.now());
    } catch (error) {
      log.error('The webhook outbox could not be read; it is read again soon.', { error });
    }
    looking = false;
    if (lookAgain) return wake();
    if (!stopped) timer = setTimeout(wake, Math.min(Math.max(sleepMs, 10), LONGEST_SLEEP_MS));
  }

  /** Claims what is due for every endpoint. Returns when something is due again for which there is room. */
  async function claimAll(): Promise<number> {
    const { nowMs, lastPossibleMs } = leaseFrom(clock.now(), LEASE_MS);
    const isDue = ({ firstDueAtMs, lastDueAtMs }: QueuedEndpoint) =>
      firstDueAtMs <= nowMs || lastDueAtMs > lastPossibleMs;
    const reached = new Map<string, Lane>();
    for (const queued of await outbox.queued()) {
      const lane = await lanes.of(queued.endpoint);
      // Without its --webhook-url what is for the configured endpoint waits for a start that has one.
      if (lane === null) continue;
      reached.set(queued.endpoint, lane);
      if (isDue(queued)) await claimFor(lane);
    }
    const again = await outbox.queued();
    waitsForRoom = false;
    let nextMs = Number.POSITIVE_INFINITY;
    for (const queued of again) {
      const lane = reached.get(queued.endpoint);
      if (!lane) continue;
      if (isDue(queued) && lanes.room(lane) === 0) waitsForRoom = true;
      else nextMs = Math.min(nextMs, queued.firstDueAtMs);
    }
    return nextMs;
  }

  async function claimFor(lane: Lane): Promise<void> {
    const { endpoint, inProgress } = lane;
    while (!stopped) {
      const limit = lanes.room(lane);
      if (limit === 0) return;
      // Setting the clock may end the lease of an attempt that still runs here. That attempt stays the only one.
      const running = new Set(inProgress.keys());
      const due = await outbox.claim({ endpoint, ...leaseFrom(clock.now(), LEASE_MS), limit });
      for (const delivery of due) {
        const { id } = delivery;
        if (running.has(id)) continue;
        track(lane, id, deliver(lane, delivery));
      }
      if (due.length < limit) return;
    }
  }

  function track({ inProgress }: Lane, id: string, attempt: Promise<unknown>): void {
    const over = () => {
      inProgress.delete(id);
      if (waitsForRoom) wake();
    };
    inProgress.set(id, attempt.then(over, over));
  }

  async function deliver(lane: Lane, delivery: DueDelivery): Promise<void> {
    const { id, endpoint } = delivery;
    try {
      const { signal } = lane.aborting;
      const attempted =
        stopped || signal.aborted
          ? null
          : await attemptOnce(lane, delivery, { clock, elapsedMs, limitMs, signal });
      if (attempted === null) return await outbox.release(delivery, clock.now());
      const { outcome, record } = attempted;
      if (outcome === 'unreachable' && !canConnect()) return await postpone(delivery);
      ended[outcome].inc();
      if (outcome === 'delivered') return await outbox.delivered(delivery, record);
      const attempts = delivery.attempts + 1;
      const final = attempts >= MAX_ATTEMPTS;
      const delayMs = backoffDelayMs(attempts * 2 - 1, { ...BACKOFF, random: options.random });
      await outbox.attemptFailed(delivery, record, final ? null : clock.now() + delayMs);
      if (!final) return wake();
      log.warn('A webhook was not delivered.', { id, endpoint, attempts, problem: record.error });
    } catch (error) {
      // The lease ends by itself and the delivery is tried again, so the receiver may get it twice.
      log.error('The outcome of a webhook attempt could not be stored.', { id, endpoint, error });
    }
  }

  /** Lets a delivery wait that this process had no descriptor for. It is no attempt (docs/decisions.md 177). */
  async function postpone(delivery: DueDelivery): Promise<void> {
    await outbox.release(delivery, clock.now() + BACKOFF.firstMs);
    wake();
    if (elapsedMs() - toldAtMs < TELL_EVERY_MS) return;
    toldAtMs = elapsedMs();
    log.warn(
      'Webhooks wait, because this process has no file descriptor left: end connections to it, or raise its limit of open files.',
    );
  }

  async function prune(): Promise<void> {
    if (Math.abs(clock.now() - prunedAtMs) < PRUNE_EVERY_MS) return;
    prunedAtMs = clock.now();
    await outbox.prune({
      beforeMs: prunedAtMs - KEPT_MS,
      least: KEPT_LEAST,
      most: KEPT_MOST,
      mostAttempts: KEPT_ATTEMPTS,
    });
  }

  wake();
  return {
    wake,
    forget: lanes.close,
    async sendOnce(endpoint, message, given) {
      const lane = await lanes.of(endpoint);
      if (lane === null) return null;
      const signal = AbortSignal.any([given, lane.aborting.signal]);
      const attempt = attemptOnce(lane, message, { clock, elapsedMs, limitMs, signal });
      track(lane, message.id, attempt);
      const attempted = await attempt;
      given.throwIfAborted();
      return attempted;
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      const abort = setTimeout(() => lanes.abortAll(), STOP_GRACE_MS);
      // A look in progress may still claim deliveries, which are released again.
      await looked;
      await Promise.allSettled(lanes.inProgress());
      clearTimeout(abort);
      lanes.closeAll();
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
