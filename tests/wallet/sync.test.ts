import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { idOf, updatedIndexOf } from '../../src/model/payment.ts';
import type { UpdateBatch } from '../../src/nodes/node.ts';
import { clearCache } from '../../src/wallet/read/payments.ts';
import { syncPayments } from '../../src/wallet/read/sync.ts';
import { rejection } from '../support/rejection.ts';
import { samplePayment } from '../support/sample-payment.ts';
import { WALLET } from '../support/store-steps.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { unreachable } from './fake-node.ts';
import { type WalletWorld, walletWorld } from './wallet-world.ts';

setDefaultTimeout(SLOW_TEST_MS);

let world: WalletWorld;
beforeEach(async () => {
  world = await walletWorld();
});
afterEach(() => world.close());

test('a sync takes small pages, between which other requests are served', async () => {
  const { owner } = await world.start();
  const payments = Array.from({ length: 600 }, (_, at) => samplePayment(at + 1));
  await Promise.all(
    payments.map((payment) => owner.feed.observe({ payment, attempt: null }, owner.node)),
  );
  const { cache } = world.store;
  const store = cache.apply;
  const sizes: number[] = [];
  cache.apply = (walletId, page, cursor) => {
    sizes.push(page.length);
    return store(walletId, page, cursor);
  };
  expect(await syncPayments(owner)).toEqual({ numNew: 600, numUpdated: 0 });
  expect(sizes[0]).toBe(100);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(200);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(600);
});

const ALL = { filter: 'all', order: 'asc', after: null, direction: null, rail: null } as const;

async function cached(): Promise<number> {
  const query = { ...ALL, limit: 1000, sinceMs: null, untilMs: null, externalId: null };
  return (await world.store.cache.list(WALLET, query)).json.length;
}

function batchOf(from: number, to: number, cursor: string): UpdateBatch {
  const numbers = Array.from({ length: to - from + 1 }, (_, at) => from + at);
  const observations = numbers.map((at) => ({ payment: samplePayment(at), attempt: null }));
  return { observations, cursor, caughtUp: false };
}

test('what the node has shown is stored in the cache while the rest is read', async () => {
  const { owner } = await world.start();
  const rest = Promise.withResolvers<void>();
  world.fake.node.updates = async function* ({ signal }) {
    yield batchOf(1, 600, 'first');
    await rest.promise;
    yield batchOf(601, 700, 'second');
    yield { observations: [], cursor: 'second', caughtUp: true };
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
  };
  const sync = syncPayments(owner);
  await until(async () => (await cached()) === 600, 'the first payments are in the cache');
  rest.resolve();
  expect(await sync).toEqual({ numNew: 700, numUpdated: 0 });
});

test('a sync that is cut off leaves a cursor at which the next one goes on', async () => {
  const { owner } = await world.start();
  world.fake.node.updates = async function* () {
    yield batchOf(1, 300, 'first');
    await until(async () => (await cached()) === 300, 'the first payments are in the cache');
    throw unreachable();
  };
  expect(await rejection(syncPayments(owner))).toMatchObject({ kind: 'unreachable' });
  const newest = await world.store.journal.tip(WALLET);
  expect(await world.store.cache.cursor(WALLET)).toBe(newest);
  world.elapsedMs += 60_000;
  world.fake.node.updates = async function* ({ signal, after }) {
    expect(after).toBe('first');
    yield batchOf(301, 400, 'second');
    yield { observations: [], cursor: 'second', caughtUp: true };
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
  };
  expect(await syncPayments(owner)).toEqual({ numNew: 100, numUpdated: 0 });
  const last = await world.store.journal.latest(WALLET, idOf(samplePayment(400)));
  expect(await world.store.cache.cursor(WALLET)).toBe(last && updatedIndexOf(last));
});

test('a sync stores nothing while the node shows nothing', async () => {
  const { owner } = await world.start();
  await owner.feed.observe({ payment: samplePayment(1), attempt: null }, owner.node);
  world.fake.node.updates = async function* () {
    yield* await Promise.reject<UpdateBatch[]>(unreachable());
  };
  expect(await rejection(syncPayments(owner))).toMatchObject({ kind: 'unreachable' });
  expect(await cached()).toBe(0);
});

test('a cache that is cleared during a sync is cleared after it, so that nothing is left out', async () => {
  const { owner } = await world.start();
  const rest = Promise.withResolvers<void>();
  world.fake.node.updates = async function* ({ signal }) {
    yield batchOf(1, 300, 'first');
    await rest.promise;
    yield batchOf(301, 400, 'second');
    yield { observations: [], cursor: 'second', caughtUp: true };
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
  };
  const sync = syncPayments(owner);
  await until(async () => (await cached()) === 300, 'the first payments are in the cache');
  const clear = clearCache(owner);
  rest.resolve();
  await Promise.all([sync, clear]);
  expect(await cached()).toBe(0);
  expect(await syncPayments(owner)).toEqual({ numNew: 400, numUpdated: 0 });
});
