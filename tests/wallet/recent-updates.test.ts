import { afterEach, describe, expect, test } from 'bun:test';
import { openLog } from '../../src/lib/log.ts';
import { blankPayment, type Payment } from '../../src/model/payment.ts';
import { type PaymentIndex, paymentId, paymentIndex } from '../../src/model/payment-index.ts';
import type { UpdateBatch, WalletNode } from '../../src/nodes/node.ts';
import type { Store } from '../../src/store/ports.ts';
import { openSqliteStore } from '../../src/store/sqlite/index.ts';
import { Feed } from '../../src/wallet/follow/feed.ts';
import { observationRules } from '../../src/wallet/follow/observe.ts';
import { throwing } from '../support/rejection.ts';
import { until } from '../support/until.ts';

const log = openLog({ level: 'silent', format: 'text', write: () => undefined });
const WALLET = 'ab'.repeat(32);
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

const indexOf = (number: number) =>
  paymentIndex(number, paymentId('ln', `${number}`.padStart(64, '0')));

const payment = (number: number, updatedAtMs: number): Payment => ({
  ...blankPayment({
    index: indexOf(number),
    rail: 'invoice',
    direction: 'inbound',
    status: 'pending',
    statusMsg: 'invoice generated',
    createdAtMs: number,
    updatedAtMs,
  }),
});

/** A feed that follows a node with a history, whose batches the test tells. */
async function open() {
  const opened = openSqliteStore(':memory:');
  const stored: PaymentIndex[][] = [];
  let failures = 0;
  const observations: Store['observations'] = {
    ...opened.observations,
    apply: async (walletId, batch, rules) => {
      if (failures-- > 0) throw new Error('the disk is full');
      stored.push(batch.observations.map((one) => one.payment.index));
      return opened.observations.apply(walletId, batch, rules);
    },
  };
  let next = Promise.withResolvers<UpdateBatch | null>();
  let taken = 0;
  const node = {
    clock: { now: () => 1 },
    history: { tip: async () => null },
    async *updates() {
      for (;;) {
        const batch = await next.promise;
        if (batch === null) return;
        next = Promise.withResolvers();
        yield batch;
        taken++;
      }
    },
  } as unknown as WalletNode;
  const feed = new Feed({
    walletId: WALLET,
    store: { ...opened, observations },
    log,
    rules: observationRules({ log, deliver: () => null }),
    clock: { now: () => 1 },
    random: () => 0,
    elapsedMs: () => 1,
    follower: async () => ({ node, ended: new AbortController().signal }),
    historySinceMs: null,
    onDelivery: () => undefined,
  });
  const told: PaymentIndex[] = [];
  feed.listen(({ index }) => told.push(index));
  cleanups.push(async () => {
    next.resolve(null);
    feed.stop();
    await Bun.sleep(0);
    await opened.close();
  });
  return {
    stored,
    told,
    failNext: () => {
      failures = 1;
    },
    call: (one: Payment) => feed.observe({ payment: one, attempt: null }, node),
    callOnce: (one: Payment) => feed.observeOnce({ payment: one, attempt: null }, node),
    cursor: () => opened.observations.cursor(WALLET),
    async tell(cursor: string, ...payments: Payment[]) {
      const before = taken;
      const observed = payments.map((one) => ({ payment: one, attempt: null }));
      next.resolve({ observations: observed, cursor, caughtUp: true });
      await until(() => taken > before, 'the feed has taken the batch');
    },
  };
}

describe('an update that a call has stored', () => {
  test('is neither stored nor told again when the feed shows it', async () => {
    const { call, tell, stored, told } = await open();
    await call(payment(1, 10));
    await tell('a', payment(1, 10), payment(2, 11));
    expect(stored).toEqual([[indexOf(1)], [indexOf(2)]]);
    expect(told).toEqual([indexOf(1), indexOf(2)]);
  });

  test('is stored when the payment was updated since', async () => {
    const { call, tell, stored } = await open();
    await call(payment(1, 10));
    await tell('a', payment(1, 12));
    expect(stored).toEqual([[indexOf(1)], [indexOf(1)]]);
  });

  test('is stored by the feed when the call could not store it', async () => {
    const { call, tell, stored, failNext } = await open();
    failNext();
    expect(await throwing(call(payment(1, 10)))).toThrow('disk is full');
    await tell('a', payment(1, 10));
    expect(stored).toEqual([[indexOf(1)]]);
  });

  test('is stored again by a call that asks for it, because a repeat may have begun to watch', async () => {
    const { call, callOnce, tell, stored } = await open();
    await tell('a', payment(1, 10));
    await callOnce(payment(1, 10));
    expect(stored).toEqual([[indexOf(1)]]);
    await call(payment(1, 10));
    expect(stored).toEqual([[indexOf(1)], [indexOf(1)]]);
  });
});

test('a cursor is stored after a hundred updates, whether a call had stored them or not', async () => {
  const { call, tell, cursor } = await open();
  for (let number = 1; number <= 100; number++) {
    if (number % 2 === 0) await call(payment(number, number * 10));
    await tell(`${number}`, payment(number, number * 10));
    expect(await cursor()).toBe(number < 100 ? null : '100');
  }
  const many = Array.from({ length: 100 }, (_, at) => payment(200 + at, 5000 + at));
  await tell('many at once', ...many);
  expect(await cursor()).toBe('many at once');
});

test.each([{ offerId: 'ab'.repeat(32) }, { address: 'bcrt1qaddress' }])(
  'the cursor is stored with the end of a payment whose watch stays, of which an endpoint that is made later would hear again after a restart: %p',
  async (arrivedOn) => {
    const { tell, cursor } = await open();
    await tell('1', { ...payment(1, 10), ...arrivedOn });
    expect(await cursor()).toBe(null);
    await tell('2', { ...payment(1, 20), ...arrivedOn, status: 'completed', finalizedAtMs: 20 });
    expect(await cursor()).toBe('2');
  },
);
