import { beforeEach, describe, expect, test } from 'bun:test';
import { ApiError } from '../../../src/model/errors.ts';
import { idOf, type Payment } from '../../../src/model/payment.ts';
import { paymentIndex } from '../../../src/model/payment-index.ts';
import type { NewSpend, Store } from '../../../src/store/ports.ts';
import { periodStart } from '../../../src/wallet/budget/budget.ts';
import { throwing } from '../../support/rejection.ts';
import { sampleDone, sampleFailed, samplePayment } from '../../support/sample-payment.ts';
import { fits, newSpend, observe, rules, WALLET } from '../../support/store-steps.ts';

/** What refunds take of received payments (docs/decisions.md 194). */
export function refundContract(open: () => Promise<Store>): void {
  describe('refunds', () => {
    let store: Store;
    beforeEach(async () => {
      store = await open();
    });

    const sold = sampleDone(90, { direction: 'inbound', amountMsat: 3500n });
    const refundOf = sold.index;
    const link = (change: Partial<Payment> = {}) => ({ refundOf, ...change });
    const within =
      (receivedMsat: bigint, amountMsat = 1000n) =>
      (refundedMsat: bigint) => {
        if (refundedMsat + amountMsat > receivedMsat) throw new ApiError('refused', 'too much');
      };
    const begin = (number: number, change: Partial<NewSpend> = {}) =>
      store.spends.begin(
        WALLET,
        newSpend(samplePayment(number, link()), { requireLeft: within(3500n), ...change }),
        fits,
      );
    const refunded = async (wallet = WALLET) =>
      (await store.spends.refunded(wallet, [refundOf])).get(refundOf);

    test('take what they reserve, and one that is refused writes nothing', async () => {
      expect(await refunded()).toBeUndefined();
      for (const number of [1, 2, 3]) expect(await begin(number)).toBe(true);
      expect(await throwing(begin(4))).toThrow('too much');
      expect(await refunded()).toBe(3000n);
      expect(await refunded('cd'.repeat(32))).toBeUndefined();
      expect(
        (await store.spends.unfinished(WALLET)).map(({ payment }) => payment.refundOf),
      ).toEqual([refundOf, refundOf, refundOf]);
      const other = sampleDone(91, { direction: 'inbound' }).index;
      const all = await store.spends.refunded(WALLET, [other, refundOf]);
      expect([...all]).toEqual([[refundOf, 3000n]]);
      expect((await store.spends.refunded(WALLET, [])).size).toBe(0);
    });

    test('in the same instant never take more than was received', async () => {
      const numbers = Array.from({ length: 12 }, (_, number) => number + 1);
      const begun = await Promise.allSettled(numbers.map((number) => begin(number)));
      expect(begun.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
      expect(await refunded()).toBe(3000n);
    });

    for (const journaled of [true, false]) {
      const kind = journaled ? 'journaled' : 'not journaled';

      test(`that fail give their part back once, and those that are completed keep it (${kind})`, async () => {
        const shown = journaled ? {} : link();
        for (const number of [1, 2, 3]) await begin(number, { journaled, afterAttempt: 0 });
        const end = (payment: Payment, attempt: number) =>
          observe(store, [payment], { journaled, attempt: journaled ? attempt : null });
        for (let repeat = 0; repeat < 2; repeat++) {
          await end(sampleFailed(1, shown), 1);
          expect(await refunded()).toBe(2000n);
        }
        await end(sampleDone(2, shown), 2);
        expect(await refunded()).toBe(2000n);
        await end(samplePayment(3, shown), 3);
        await end(sampleDone(3, { ...shown, amountMsat: 1200n }), 3);
        expect(await refunded()).toBe(2200n);
        if (!journaled) return;
        const stored = await store.journal.updatedAfter(WALLET, null, 10);
        expect(stored.map((payment) => payment.refundOf)).toEqual([refundOf, refundOf, refundOf]);
      });
    }

    test('that were not sent give their part back', async () => {
      await begin(1, { state: 'begun' });
      await begin(2, { state: 'awaiting' });
      expect(await refunded()).toBe(2000n);
      for (const number of [1, 2]) {
        await store.spends.abandon(WALLET, samplePayment(number).index, periodStart);
      }
      expect(await refunded()).toBeUndefined();
    });

    test('are no payments of other programs: what gives way to one is given back and not linked', async () => {
      const apply = (payment: Payment, isTaken: boolean, attempt = 1) =>
        store.observations.apply(
          WALLET,
          {
            observations: [
              { payment, attempt, answers: { index: samplePayment(1).index, isTaken } },
            ],
            cursor: null,
            journaled: true,
            nowMs: 1000,
          },
          rules,
        );
      await begin(1, { afterAttempt: 0 });
      // Its own row has taken the attempt of the other program.
      await apply(sampleDone(1), true);
      expect(await refunded()).toBeUndefined();
      const [taken] = await store.journal.updatedAfter(WALLET, null, 10);
      expect(taken).toMatchObject({ status: 'completed', refundOf: null });
    });

    test('give way to the row of the other program as well', async () => {
      const at = (atMs: number): Payment =>
        sampleDone(1, {
          createdAtMs: atMs,
          updatedAtMs: atMs,
          index: paymentIndex(atMs, idOf(samplePayment(1))),
        });
      await begin(1, { afterAttempt: 5 });
      await observe(store, [at(20)], { journaled: true, attempt: 3 });
      await store.observations.apply(
        WALLET,
        {
          observations: [
            {
              payment: at(20),
              attempt: 3,
              answers: { index: samplePayment(1).index, isTaken: false },
            },
          ],
          cursor: null,
          journaled: true,
          nowMs: 1000,
        },
        rules,
      );
      expect(await store.spends.unfinished(WALLET)).toEqual([]);
      expect(await refunded()).toBeUndefined();
      const stored = await store.journal.updatedAfter(WALLET, null, 10);
      expect(stored.map((payment) => payment.refundOf)).toEqual([null]);
    });

    test('show in the cache as they are now, whatever was so when it was written', async () => {
      const refund = samplePayment(1, link());
      await store.cache.apply(WALLET, [{ ...sold, refundedMsat: 77n }, refund], null);
      const list = async () => {
        const { json } = await store.cache.list(WALLET, {
          filter: 'all',
          order: 'asc',
          limit: 10,
          after: null,
          direction: null,
          rail: null,
          sinceMs: null,
          untilMs: null,
          externalId: null,
        });
        const one = await store.cache.get(WALLET, refundOf);
        const books = await store.cache.completed(WALLET, null, 10);
        return [...json, one?.json ?? '', ...books.json].map((text) => {
          const { index, refund_of, refunded } = JSON.parse(text);
          return [index, refund_of, refunded];
        });
      };
      const shown = (refunded: string | null) => [
        [refund.index, refundOf, null],
        ...Array.from({ length: 3 }, () => [refundOf, null, refunded]),
      ];
      expect(await list()).toEqual(shown(null));
      await begin(1);
      expect(await list()).toEqual(shown('1'));
      await observe(store, [sampleFailed(1)], { journaled: true, attempt: 1 });
      expect(await list()).toEqual(shown(null));
    });
  });
}
