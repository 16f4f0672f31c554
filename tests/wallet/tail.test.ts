import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import type { Payment } from '../../src/model/payment.ts';
import { clearCache } from '../../src/wallet/read/payments.ts';
import { syncPayments } from '../../src/wallet/read/sync.ts';
import { UpdatesTail } from '../../src/wallet/read/updates-tail.ts';
import { waitForNext } from '../../src/wallet/read/wait.ts';
import type { Session } from '../../src/wallet/session/session.ts';
import { throwing } from '../support/rejection.ts';
import { sampleDone, samplePayment } from '../support/sample-payment.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { type WalletWorld, walletWorld } from './wallet-world.ts';

setDefaultTimeout(SLOW_TEST_MS);

let world: WalletWorld;
/** How many payments each read of the journal asked for. */
let limits: number[];
beforeEach(async () => {
  world = await walletWorld();
  limits = [];
  const { journal } = world.store;
  const read = journal.updatedAfter;
  journal.updatedAfter = (walletId, after, limit) => {
    limits.push(limit);
    return read(walletId, after, limit);
  };
});
afterEach(() => world.close());

const record = (owner: Session, payment: Payment) =>
  owner.feed.record({ payment, attempt: 1 }, owner.node);

/** A stream of the wallet's updates, and its next page. */
function stream(owner: Session, gone = new AbortController()) {
  let asked = Promise.withResolvers<readonly Payment[]>();
  const tail = new UpdatesTail(
    owner,
    { after: null, signal: gone.signal },
    { take: (page) => asked.resolve(page), fail: (reason) => asked.reject(reason) },
  );
  const next = () => {
    asked = Promise.withResolvers();
    tail.ask();
    return asked.promise;
  };
  return { gone, next };
}

test('a change that wakes many streams is read once, and each stream gets the same page', async () => {
  const { owner } = await world.start();
  await owner.feed.prepare(owner.node);
  const streams = [stream(owner), stream(owner), stream(owner)];
  const first = streams.map(({ next }) => next());
  // They wait for the feed together, so the first read is one as well.
  await until(() => limits.length > 0, 'the streams have read');
  const before = limits.length;
  await record(owner, samplePayment(1));
  const [page, ...others] = await Promise.all(first);
  expect(page).toMatchObject([{ index: samplePayment(1).index }]);
  for (const other of others) expect(other).toBe(page as readonly Payment[]);
  expect(limits.length - before).toBe(1);
  for (const { gone } of streams) gone.abort();
});

test('a stream that begins after a change does not share a read that began before it', async () => {
  const { owner } = await world.start();
  const { journal } = world.store;
  const read = journal.updatedAfter;
  const held = Promise.withResolvers<void>();
  let begun = false;
  journal.updatedAfter = async (...question) => {
    const page = await read(...question);
    if (!begun) {
      begun = true;
      await held.promise;
    }
    return page;
  };
  const early = stream(owner);
  const first = early.next();
  await until(() => begun, 'the early read has begun');
  await record(owner, samplePayment(1));
  const late = stream(owner);
  expect(await late.next()).toMatchObject([{ index: samplePayment(1).index }]);
  held.resolve();
  expect(await first).toMatchObject([{ index: samplePayment(1).index }]);
  for (const { gone } of [early, late]) gone.abort();
});

test('a stream tells every change in order, also those during a page', async () => {
  const { owner } = await world.start();
  const { gone, next } = stream(owner);
  await record(owner, samplePayment(1));
  expect(await next()).toMatchObject([{ status: 'pending' }]);
  await record(owner, sampleDone(1));
  await record(owner, samplePayment(2));
  expect(await next()).toMatchObject([
    { index: sampleDone(1).index, status: 'completed' },
    { index: samplePayment(2).index },
  ]);
  gone.abort();
});

test('a stream whose signal has aborted ends with its reason', async () => {
  const { owner } = await world.start();
  const { gone, next } = stream(owner);
  const waiting = next();
  gone.abort(new Error('gone'));
  expect(await throwing(waiting)).toThrow('gone');
  const before = new AbortController();
  before.abort(new Error('gone before'));
  expect(await throwing(stream(owner, before).next())).toThrow('gone before');
});

test('a wait for the next payment reads one payment', async () => {
  const { owner } = await world.start();
  await record(owner, samplePayment(1));
  await record(owner, samplePayment(2));
  const payment = await waitForNext(owner, null, new AbortController().signal);
  expect(payment.index).toBe(samplePayment(1).index);
  expect(limits).toEqual([1]);
});

test('a wait that began before the cache was cleared leaves the cursor at the start', async () => {
  const { owner } = await world.start();
  await record(owner, samplePayment(1));
  await syncPayments(owner);
  const waiting = waitForNext(owner, null, new AbortController().signal);
  await clearCache(owner);
  await record(owner, samplePayment(2));
  expect((await waiting).index).toBe(samplePayment(2).index);
  expect(await syncPayments(owner)).toEqual({ numNew: 1, numUpdated: 0 });
});

test('a cache that is cleared while a wait stores its update is empty, and filled anew', async () => {
  const { owner } = await world.start();
  await record(owner, samplePayment(1));
  await syncPayments(owner);
  const { cache } = world.store;
  const apply = cache.apply;
  let clear: Promise<void> | null = null;
  cache.apply = async (...given) => {
    clear = clearCache(owner);
    // A clear that does not wait for the update is over before it is stored.
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
    return apply(...given);
  };
  const waiting = waitForNext(owner, null, new AbortController().signal);
  await record(owner, samplePayment(2));
  await waiting;
  await clear;
  cache.apply = apply;
  expect(await syncPayments(owner)).toEqual({ numNew: 2, numUpdated: 0 });
});

test('a reader that cannot take a page ends alone', async () => {
  const { owner } = await world.start();
  await owner.feed.prepare(owner.node);
  const failed = Promise.withResolvers<unknown>();
  const tail = new UpdatesTail(
    owner,
    { after: null, signal: new AbortController().signal },
    {
      take: () => {
        throw new Error('cannot take it');
      },
      fail: failed.resolve,
    },
  );
  tail.ask();
  const { gone, next } = stream(owner);
  const page = next();
  await record(owner, samplePayment(1));
  expect(await failed.promise).toEqual(new Error('cannot take it'));
  expect(await page).toMatchObject([{ index: samplePayment(1).index }]);
  gone.abort();
});
