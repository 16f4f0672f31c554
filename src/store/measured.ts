import type { Clock } from '../lib/clock.ts';
import type { Metrics } from '../lib/metrics.ts';
import { isApiError } from '../model/errors.ts';
import { DIRECTIONS, isFinal, type Payment, RAILS } from '../model/payment.ts';
import { DELIVERY_STATES } from '../model/webhooks/delivery.ts';
import type { ObservationStore, Store } from './ports.ts';

/** How many counted payments are remembered. A node may report the end of a payment more than once. */
const REMEMBERED = 10_000;

/**
 * Registers the metrics of the store, and returns the store with its observations counted. A payment is counted once,
 * when it is stored as completed or failed, unless it ended before this process started.
 */
export function measuredStore(store: Store, metrics: Metrics, clock: Clock): Store {
  metrics.gauge(
    {
      name: 'wallet_sidecar_outbox_deliveries',
      help: 'Webhook deliveries that are kept, by state; absent while the database cannot be read.',
      labels: ['state'],
    },
    async () => {
      // That the store is away must not keep the other figures back, which say so.
      const counts = await store.outbox.counts().catch((error: unknown) => {
        if (isApiError(error, 'overCapacity')) return null;
        throw error;
      });
      if (counts === null) return [];
      return DELIVERY_STATES.map((state) => ({ labels: { state }, value: counts[state] }));
    },
  );
  let updatedAtMs: number | null = null;
  metrics.gauge(
    {
      name: 'wallet_sidecar_last_update_timestamp_seconds',
      help: 'When a change of a payment was last stored, in UNIX time; absent before the first.',
    },
    async () => (updatedAtMs === null ? [] : [{ labels: {}, value: updatedAtMs / 1000 }]),
  );
  const finalized = finalizationCounter(metrics, clock.now());
  const observations: ObservationStore = {
    ...store.observations,
    async apply(walletId, batch, rules) {
      const applied = await store.observations.apply(walletId, batch, rules);
      if (applied.changed.length > 0) updatedAtMs = clock.now();
      for (const payment of applied.changed) finalized(walletId, payment);
      return applied;
    },
  };
  return { ...store, observations };
}

function finalizationCounter(
  metrics: Metrics,
  startedAtMs: number,
): (walletId: string, payment: Payment) => void {
  const family = metrics.counter({
    name: 'wallet_sidecar_payments_finalized_total',
    help: 'Payments that were completed or failed since the start.',
    labels: ['rail', 'direction', 'status'],
  });
  for (const rail of RAILS) {
    for (const direction of DIRECTIONS) {
      for (const status of ['completed', 'failed']) family({ rail, direction, status });
    }
  }
  const countedAtMs = new Map<string, number>();
  /** A payment that ended at or before this time was counted already, or before this process started. */
  let settledMs = startedAtMs - 1;
  return (walletId, payment) => {
    if (!isFinal(payment)) return;
    const { rail, direction, status, index } = payment;
    const atMs = payment.finalizedAtMs ?? payment.updatedAtMs;
    const key = `${walletId} ${index}`;
    if (atMs <= settledMs || countedAtMs.has(key)) return;
    countedAtMs.set(key, atMs);
    family({ rail, direction, status }).inc();
    if (countedAtMs.size <= REMEMBERED) return;
    for (const [oldest, oldestMs] of countedAtMs) {
      countedAtMs.delete(oldest);
      settledMs = Math.max(settledMs, oldestMs);
      break;
    }
  };
}
