import { afterEach, describe, expect, test } from 'bun:test';
import { type Clock, elapsedMs } from '../../src/lib/clock.ts';
import { openLog } from '../../src/lib/log.ts';
import { openMetrics } from '../../src/lib/metrics.ts';
import { type Payment, updatedIndexOf } from '../../src/model/payment.ts';
import type { Store } from '../../src/store/ports.ts';
import { openSqliteStore } from '../../src/store/sqlite/index.ts';
import { budgetRules, periodStart } from '../../src/wallet/budget/budget.ts';
import { observationRules } from '../../src/wallet/follow/observe.ts';
import { startDispatcher } from '../../src/webhooks/dispatcher.ts';
import { deliveryDraft, deliveryRule } from '../../src/webhooks/draft.ts';
import { leaseFrom } from '../../src/webhooks/lease.ts';
import { claimConfigured } from '../support/delivery-steps.ts';
import { randomFrom } from '../support/random.ts';
import { rejection } from '../support/rejection.ts';
import { samplePayment as payment } from '../support/sample-payment.ts';
import { CLIENT, newSpend, setBudget } from '../support/store-steps.ts';
import { until } from '../support/until.ts';
import { ROUNDS, SEED } from './seed.ts';

const WALLET = 'ab'.repeat(32);
const SECRET = Buffer.alloc(32, 7).toString('base64');
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const log = openLog({ level: 'silent', format: 'text', write: () => undefined });
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

describe('deliveries', () => {
  test('a clock that jumps ahead during an attempt does not make the attempt again', async () => {
    const world = outboxWorld();
    const [slow, quick] = [await world.owe(1), await world.owe(2)];
    const answer = Promise.withResolvers<number>();
    const sent = world.dispatch((id) => (id === slow ? answer.promise : 200));
    await until(() => sent.includes(quick));
    world.clock.nowMs += 5 * DAY_MS;
    const later = await world.owe(3);
    await until(() => sent.includes(later));
    answer.resolve(200);
    await world.delivered(3);
    expect(sent).toEqual([slow, quick, later]);
  });

  test('a clock that is set back during an attempt does not make the attempt again', async () => {
    const world = outboxWorld();
    const slow = await world.owe(1);
    const answer = Promise.withResolvers<number>();
    const sent = world.dispatch((id) => (id === slow ? answer.promise : 200));
    await until(() => sent.length === 1);
    world.clock.nowMs -= 5 * DAY_MS;
    const later = await world.owe(2);
    await until(() => sent.includes(later));
    answer.resolve(200);
    await world.delivered(2);
    expect(sent).toEqual([slow, later]);
  });

  test('a retry that was planned before the clock was set back is made, not put off until the clock is there again', async () => {
    const world = outboxWorld();
    const id = await world.owe(1);
    let status = 500;
    const sent = world.dispatch(() => status);
    await until(async () => (await world.rows())[0]?.attempts === 1);
    status = 200;
    world.clock.nowMs -= 3 * DAY_MS;
    await world.delivered(1);
    expect(sent).toEqual([id, id]);
  });

  test('the lease of a process that was killed ends although the clock was set back', async () => {
    const world = outboxWorld();
    const id = await world.owe(1);
    const leaseMs = 30_000;
    expect(
      await claimConfigured(world.store, { ...leaseFrom(world.clock.now(), leaseMs), limit: 10 }),
    ).toHaveLength(1);
    expect(
      await claimConfigured(world.store, { ...leaseFrom(world.clock.now(), leaseMs), limit: 10 }),
    ).toHaveLength(0);
    world.clock.nowMs -= 2 * HOUR_MS;
    const sent = world.dispatch(() => 200);
    await world.delivered(1);
    expect(sent).toEqual([id]);
  });

  test('a delivery that failed can be sent again although the clock jumped ahead by months', async () => {
    const world = outboxWorld();
    const id = await world.owe(1);
    let status = 500;
    const sent = world.dispatch(() => status);
    await until(async () => {
      world.clock.nowMs += 3000;
      world.wake();
      return (await world.rows())[0]?.state === 'failed';
    });
    world.clock.nowMs += 90 * DAY_MS;
    const later = await world.owe(2);
    await until(() => sent.includes(later));
    status = 200;
    await until(async () => (await world.rows())[0]?.attempts === 1);
    const nowMs = world.clock.now();
    expect(
      await world.store.outbox.redeliver({ walletId: WALLET, nowMs, endpoint: null, id }),
    ).toBe(1);
    world.clock.nowMs += 3000;
    await world.delivered(2);
    expect(sent.filter((one) => one === id)).toHaveLength(4);
    await world.store.outbox.prune({ beforeMs: nowMs + 1, least: 1, most: 100, mostAttempts: 100 });
    expect((await world.rows()).map((row) => row.id)).toEqual([later]);
  });

  test(`whatever the clock does, each notice is accepted exactly once (seed ${SEED})`, async () => {
    const random = randomFrom(SEED);
    const world = outboxWorld();
    const accepted: string[] = [];
    world.dispatch(async (id) => {
      await Bun.sleep(random() * 8);
      if (random() < 0.2) return 503;
      accepted.push(id);
      return 200;
    });
    const owed: string[] = [];
    for (let round = 0; round < ROUNDS * 5; round++) {
      owed.push(await world.owe(round + 1));
      world.wake();
      if (random() < 0.5) world.clock.nowMs += Math.floor((random() - 0.5) * 20 * DAY_MS);
      await Bun.sleep(2);
    }
    for (let round = 0; round < 1000; round++) {
      const rows = await world.rows();
      if (rows.every(({ state }) => state === 'delivered')) break;
      for (const { id } of rows.filter(({ state }) => state === 'failed')) {
        await world.store.outbox.redeliver({
          walletId: WALLET,
          nowMs: world.clock.now(),
          endpoint: null,
          id,
        });
      }
      world.clock.nowMs += 3000;
      world.wake();
      await Bun.sleep(5);
    }
    expect(accepted.toSorted()).toEqual(owed.toSorted());
  });
});

test(`a reader of the journal misses nothing and goes only forward, whatever the clock does (seed ${SEED})`, async () => {
  const random = randomFrom(SEED + 1);
  const store = openSqliteStore(':memory:');
  cleanups.push(() => store.close());
  const rules = observationRules({ log, deliver: () => null });
  let nowMs = 1_700_000_000_000;
  let cursor = null;
  const read: Payment[] = [];
  const stored: Payment[] = [];
  for (let round = 1; round <= ROUNDS * 20; round++) {
    if (random() < 0.4) nowMs += Math.floor((random() - 0.5) * 10 * DAY_MS);
    const one = payment(round, { createdAtMs: nowMs, updatedAtMs: nowMs });
    if (random() < 0.3) {
      // A reader is shown the payment, as when the node's answer is lost, and then it is undone all the same.
      await store.spends.begin(WALLET, newSpend(one), budgetRules);
      await store.journal.show(WALLET, one.index);
      stored.push(one);
      [cursor] = await readOn(cursor);
      await store.spends.abandon(WALLET, one.index, periodStart);
    } else {
      const observations = [{ payment: one, attempt: null }];
      const batch = { observations, cursor: null, journaled: true, nowMs };
      stored.push(...(await store.observations.apply(WALLET, batch, rules)).changed);
    }
    if (random() < 0.5) [cursor] = await readOn(cursor);
  }
  await readOn(cursor);
  const times = read.map(({ updatedAtMs }) => updatedAtMs);
  expect(times.every((time, at) => at === 0 || time > (times[at - 1] ?? 0))).toBe(true);
  expect(read.map(({ index }) => index)).toEqual(stored.map(({ index }) => index));

  async function readOn(after: ReturnType<typeof updatedIndexOf> | null) {
    const page = await store.journal.updatedAfter(WALLET, after, 1000);
    read.push(...page);
    const last = page.at(-1);
    return [last ? updatedIndexOf(last) : after] as const;
  }
});

test('an idempotency key is still known after the clock jumped by weeks, and old ones are dropped beyond a count', async () => {
  const { idempotency, close } = openSqliteStore(':memory:');
  cleanups.push(close);
  const scope = (key: string) => ({ walletId: WALLET, caller: 'owner', key });
  const begin = (key: string, nowMs: number) => idempotency.begin(scope(key), 'print', nowMs);
  await begin('before', 1000);
  await idempotency.finish(scope('before'), {
    httpStatus: 200,
    body: '{"paid":true}',
    subject: null,
  });
  const nowMs = 1000 + 60 * DAY_MS;
  await idempotency.prune({ beforeMs: nowMs - 8 * DAY_MS, keep: 2 });
  expect(await begin('before', nowMs)).toMatchObject({ state: 'done', body: '{"paid":true}' });
  for (const key of ['second', 'third']) await begin(key, nowMs);
  await idempotency.prune({ beforeMs: nowMs - 8 * DAY_MS, keep: 2 });
  expect(await begin('before', nowMs)).toEqual({ state: 'new' });
  expect(await begin('third', nowMs)).toEqual({ state: 'running', index: null, effect: null });
});

test('what was spent while the clock was ahead still counts when it was set right', async () => {
  const store = openSqliteStore(':memory:');
  const { budgets, spends } = store;
  cleanups.push(() => store.close());
  const nowMs = 1_700_000_000_000;
  await setBudget(store, { amountMsat: 100n, period: 'day', maxPaymentMsat: null });
  const spend = (at: number, amountMsat: bigint, atMs: number) =>
    spends.begin(
      WALLET,
      newSpend(payment(at, { createdAtMs: atMs }), {
        journaled: false,
        caller: CLIENT,
        reservation: { clientPk: CLIENT, amountMsat, nowMs: atMs },
      }),
      budgetRules,
    );
  await spend(1, 80n, nowMs + 2 * DAY_MS);
  expect(await rejection(spend(2, 30n, nowMs))).toMatchObject({ kind: 'overBudget' });
  await spend(3, 20n, nowMs);
  expect((await budgets.get(WALLET, CLIENT, nowMs, periodStart)).spentMsat).toBe(100n);
});

/** A store for deliveries, and a clock that the test sets. */
function outboxWorld() {
  const store: Store = openSqliteStore(':memory:');
  const clock: Clock & { nowMs: number } = {
    nowMs: 1_700_000_000_000,
    now() {
      return this.nowMs;
    },
  };
  const rules = observationRules({ log, deliver: () => null });
  let wake: () => void = () => undefined;
  cleanups.push(() => store.close());
  const rows = () =>
    store.outbox.list({
      walletId: WALLET,
      state: null,
      endpoint: null,
      limit: 10_000,
      before: null,
    });
  return {
    store,
    clock,
    rows,
    wake: () => wake(),
    /** Finalizes a watched payment. Returns the webhook-id of its delivery. */
    async owe(number: number): Promise<string> {
      const one = payment(number, { status: 'completed', finalizedAtMs: clock.now() });
      const { id } = deliveryDraft(one, WALLET, clock.now());
      const deliver = deliveryRule({ configured: ['payment.finalized'], clock });
      await store.watches.add(WALLET, { kind: 'payment', index: one.index });
      await store.observations.apply(
        WALLET,
        {
          observations: [{ payment: one, attempt: null }],
          cursor: null,
          journaled: false,
          nowMs: clock.now(),
        },
        { ...rules, transition: (_, seen) => seen.payment, deliver },
      );
      wake();
      return id;
    },
    /** Starts delivering. Returns a list that gets the webhook-id of each attempt when it is made. */
    dispatch(answer: (id: string) => number | Promise<number>): readonly string[] {
      const sent: string[] = [];
      const receiver = Bun.serve({
        port: 0,
        hostname: '127.0.0.1',
        async fetch({ headers }) {
          const id = headers.get('webhook-id') ?? '';
          sent.push(id);
          return new Response(null, { status: await answer(id) });
        },
      });
      const dispatcher = startDispatcher({
        outbox: store.outbox,
        endpoints: store.webhookEndpoints,
        find: async () => ({ url: receiver.url.href, secret: SECRET }),
        clock,
        elapsedMs,
        random: () => 0.5,
        log,
        metrics: openMetrics(),
      });
      wake = dispatcher.wake;
      cleanups.unshift(async () => {
        await receiver.stop(true);
        await dispatcher.stop();
      });
      return sent;
    },
    /** Resolves once `count` deliveries are delivered. */
    async delivered(count: number): Promise<void> {
      await until(async () => {
        wake();
        return (await rows()).filter(({ state }) => state === 'delivered').length === count;
      });
    },
  };
}
