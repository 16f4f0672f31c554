import { afterEach } from 'bun:test';
import { elapsedMs } from '../../src/lib/clock.ts';
import { openLog } from '../../src/lib/log.ts';
import { openMetrics } from '../../src/lib/metrics.ts';
import type { Payment } from '../../src/model/payment.ts';
import { blankPayment } from '../../src/model/payment.ts';
import { paymentId, paymentIndex } from '../../src/model/payment-index.ts';
import type { Store } from '../../src/store/ports.ts';
import { openSqliteStore } from '../../src/store/sqlite/index.ts';
import { type Dispatcher, startDispatcher } from '../../src/webhooks/dispatcher.ts';
import { deliveryDraft, deliveryRule } from '../../src/webhooks/draft.ts';
import { targets } from '../../src/webhooks/target.ts';
import { parseExposition } from '../support/exposition.ts';
import { rules } from '../support/store-steps.ts';
import { until } from '../support/until.ts';

export const WALLET = 'ab'.repeat(32);
export const SECRET = Buffer.alloc(32, 7).toString('base64');

/**
 * Returns what is to be done after each test of the file, and a function that starts dispatchers, which end then.
 */
export function dispatchWorld() {
  const cleanups: (() => unknown)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0)) await cleanup();
  });

  /**
   * Starts a dispatcher with a store of its own, and a receiver that answers by `answer`. `url` and `ca` replace the
   * receiver by another. An attempt has a minute unless `attemptLimitMs` is given, as it is where a test waits for it.
   */
  function start(
    answer: (request: Request) => Response | Promise<Response>,
    url?: string,
    options: {
      readonly ca?: string;
      readonly store?: Store;
      readonly attemptLimitMs?: number;
      readonly canConnect?: () => boolean;
      /** Null: no receiver is configured. */
      readonly configured?: null;
    } = {},
  ) {
    const store = options.store ?? openSqliteStore(':memory:');
    const receiver = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: answer });
    let offset = 0;
    const clock = { now: () => Date.now() + offset, advance: (ms: number) => (offset += ms) };
    const metrics = openMetrics();
    const dispatcher: Dispatcher = startDispatcher({
      outbox: store.outbox,
      endpoints: store.webhookEndpoints,
      find: targets(
        store.webhookEndpoints,
        options.configured === null ? null : { url: url ?? receiver.url.href, secret: SECRET },
      ),
      clock,
      elapsedMs,
      random: () => 0.5,
      log: openLog({ level: 'silent', format: 'text', write: () => undefined }),
      metrics,
      attemptLimitMs: options.attemptLimitMs ?? 60_000,
      ...(options.canConnect === undefined ? {} : { canConnect: options.canConnect }),
      ...(options.ca === undefined ? {} : { ca: options.ca }),
    });
    cleanups.push(async () => {
      await receiver.stop(true);
      await dispatcher.stop();
      if (options.store === undefined) await store.close();
    });

    async function deliver(createdAtMs: number): Promise<string> {
      const payment = finished(createdAtMs);
      const rule = deliveryRule({ configured: ['payment.finalized'], clock });
      const { id } = deliveryDraft(payment, WALLET, clock.now());
      await store.watches.add(WALLET, { kind: 'payment', index: payment.index });
      await store.observations.apply(
        WALLET,
        {
          observations: [{ payment, attempt: null }],
          cursor: null,
          journaled: false,
          nowMs: clock.now(),
        },
        { ...rules, deliver: rule },
      );
      dispatcher.wake();
      return id;
    }

    /** How often each outcome of an attempt was counted, without zeros. */
    async function attempts(): Promise<Record<string, number>> {
      const family = parseExposition(await metrics.render()).get(
        'wallet_sidecar_webhook_attempts_total',
      );
      const all = [...(family?.series ?? [])].map(
        ([key, count]) => [key.split('"')[1] ?? '', count] as const,
      );
      return Object.fromEntries(all.filter(([, count]) => count > 0));
    }

    async function settled(
      id: string,
      each: (() => unknown) | undefined = undefined,
      isSettled = (row: { state: string; attempts: number }) => row.state !== 'pending',
    ) {
      return until(async () => {
        const rows = await store.outbox.list({
          walletId: WALLET,
          state: null,
          endpoint: null,
          limit: 10,
          before: null,
        });
        const row = rows.find((one) => one.id === id);
        if (row && isSettled(row)) return row;
        each?.();
        dispatcher.wake();
        return null;
      }, `${id} has settled`);
    }
    return { deliver, settled, clock, store, dispatcher, attempts };
  }
  return { start, cleanups };
}

function finished(createdAtMs: number): Payment {
  return {
    ...blankPayment({
      index: paymentIndex(createdAtMs, paymentId('ln', createdAtMs.toString(16).padStart(64, '0'))),
      rail: 'invoice',
      direction: 'inbound',
      status: 'failed',
      statusMsg: 'no route',
      createdAtMs,
      updatedAtMs: createdAtMs + 1,
    }),
    finalizedAtMs: createdAtMs + 1,
  };
}
