import { afterEach, beforeEach, describe, expect, jest, test } from 'bun:test';
import type { Payment } from '../../src/model/payment.ts';
import { UpdatesTail } from '../../src/wallet/read/updates-tail.ts';
import type { Session } from '../../src/wallet/session/session.ts';
import { samplePayment } from '../support/sample-payment.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** A wallet of which the test tells changes, and the pages that its tails have got. */
async function watched(count: number) {
  const payments: Payment[] = [];
  const pages: (readonly Payment[])[][] = [];
  let reads = 0;
  let tell = () => {};
  const feed = {
    changes: 0,
    prepare: async () => undefined,
    listen(listener: () => void) {
      tell = listener;
      return () => undefined;
    },
  };
  const history = {
    async updatedAfter(after: string | null) {
      reads++;
      return after === null ? payments.slice() : payments.slice(-1);
    },
  };
  const ended = new AbortController().signal;
  const session = { feed, history, ended, node: {}, client: () => null } as unknown as Session;
  for (let at = 0; at < count; at++) {
    const own: (readonly Payment[])[] = [];
    pages.push(own);
    const tail = new UpdatesTail(
      session,
      { after: null, signal: ended },
      {
        take(page) {
          own.push(page);
          tail.ask();
        },
        fail: (reason) => expect(reason).toBeUndefined(),
      },
    );
    tail.ask();
  }
  await settled();
  const before = reads;
  return {
    pages,
    reads: () => reads - before,
    async change(payment: Payment) {
      payments.push(payment);
      feed.changes++;
      tell();
      await settled();
    },
  };
}

/** Everything that waits for no timer has happened. */
async function settled() {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}

describe('updates that follow each other closely', () => {
  const [first, second] = [samplePayment(1), samplePayment(2)];

  test('reach few streams at once, each by itself', async () => {
    const wallet = await watched(399);
    await wallet.change(first);
    expect(wallet.pages.every((pages) => pages.length === 1)).toBe(true);
    await wallet.change(second);
    expect(wallet.pages.every((pages) => pages.length === 2)).toBe(true);
  });

  test('reach many streams in one page, after 1 ms for 400 streams and at most 5 ms', async () => {
    for (const [count, ms] of [
      [800, 2],
      [1999, 4],
      [2000, 5],
      [4000, 5],
    ] as const) {
      const wallet = await watched(count);
      await wallet.change(first);
      jest.advanceTimersByTime(ms - 1);
      await wallet.change(second);
      expect(wallet.reads()).toBe(0);
      jest.advanceTimersByTime(1);
      await settled();
      expect(wallet.reads()).toBe(1);
      const told = wallet.pages.every(([page, ...more]) => page?.length === 2 && more.length === 0);
      expect(told).toBe(true);
    }
  });
});
