import { beforeEach, describe, expect, test } from 'bun:test';
import { idOf } from '../../../src/model/payment.ts';
import { paymentIndex } from '../../../src/model/payment-index.ts';
import type { Store } from '../../../src/store/ports.ts';
import { periodStart } from '../../../src/wallet/budget/budget.ts';
import { sampleDone, sampleFailed, samplePayment } from '../../support/sample-payment.ts';
import { fits, newSpend, observe, WALLET } from '../../support/store-steps.ts';

/** Which row an observation of an attempt is about, on nodes that number their attempts. */
export function attemptContract(open: () => Promise<Store>): void {
  describe('attempts', () => {
    let store: Store;
    beforeEach(async () => {
      store = await open();
    });

    /** The payment of one hash, created at that millisecond. */
    const at = <T>(make: (number: number, change: object) => T, createdAtMs: number): T =>
      make(1, {
        createdAtMs,
        index: paymentIndex(createdAtMs, idOf(samplePayment(1))),
        updatedAtMs: createdAtMs,
      });
    const first = at(samplePayment, 10);
    const retry = at(samplePayment, 20);
    const begin = async (payment: typeof first, afterAttempt: number) => {
      const previous = await store.journal.latest(WALLET, idOf(payment));
      return store.spends.begin(WALLET, newSpend(payment, { afterAttempt, previous }), fits);
    };
    const seen = (payment: typeof first, attempt: number) =>
      observe(store, [payment], { journaled: true, attempt });
    const statusOf = async (payment: typeof first) =>
      (await store.journal.get(WALLET, payment.index))?.status;

    /** What the node says has its own creation time, which is not that of the row. */
    const failedAtNode = at(sampleFailed, 11);
    const doneAtNode = at(sampleDone, 21);

    test('a send takes the first attempt that is newer than all before it, whatever index the node gives it', async () => {
      await begin(first, 4);
      const { changed } = await seen(failedAtNode, 5);
      expect(changed).toMatchObject([{ index: first.index, createdAtMs: 10, status: 'failed' }]);
      expect(await store.spends.unfinished(WALLET)).toEqual([]);
    });

    test('a late observation of an earlier attempt changes nothing of a retry', async () => {
      await begin(first, 4);
      await seen(failedAtNode, 5);
      await begin(retry, 5);
      expect((await seen(failedAtNode, 5)).changed).toEqual([]);
      expect(await store.spends.get(WALLET, retry.index)).toMatchObject({
        state: 'asked',
        attempt: null,
      });
      expect([await statusOf(first), await statusOf(retry)]).toEqual(['failed', 'pending']);
      expect(await store.watches.has(WALLET)).toBe(true);
      const { changed, deliveries } = await seen(doneAtNode, 6);
      expect(changed).toMatchObject([{ index: retry.index, status: 'completed' }]);
      expect(deliveries).toBe(1);
      expect([await statusOf(first), await statusOf(retry)]).toEqual(['failed', 'completed']);
    });

    test('the attempt of a send is remembered though its first observation says nothing new', async () => {
      await begin(first, 4);
      await seen(at(samplePayment, 11), 5);
      // Another program paid the same hash; its attempt is not ours.
      await seen(at(sampleFailed, 30), 6);
      expect(await statusOf(first)).toBe('pending');
      await seen(failedAtNode, 5);
      expect(await statusOf(first)).toBe('failed');
    });

    test('so is that of a send that readers had been shown before the node told of it', async () => {
      await begin(first, 4);
      await store.journal.show(WALLET, first.index);
      expect((await seen(at(samplePayment, 11), 5)).changed).toEqual([]);
      await seen(at(sampleFailed, 30), 6);
      expect(await statusOf(first)).toBe('pending');
      await seen(failedAtNode, 5);
      expect(await statusOf(first)).toBe('failed');
    });

    test('an attempt without a row becomes one of its own, even when it was created at the same moment', async () => {
      await begin(first, 4);
      const stranger = at(sampleFailed, 10);
      const { changed } = await seen(stranger, 3);
      expect(changed).toMatchObject([{ status: 'failed', createdAtMs: 11 }]);
      expect(await statusOf(first)).toBe('pending');
      expect((await seen(stranger, 3)).changed).toEqual([]);
    });

    test('a note and the attempt of a row outlive each other', async () => {
      await begin(first, 4);
      await seen(at(samplePayment, 11), 5);
      await store.journal.setPersonalNote(WALLET, first.index, 'mine', 50);
      await begin(retry, 5);
      await seen(failedAtNode, 5);
      expect(await store.journal.get(WALLET, first.index)).toMatchObject({
        status: 'failed',
        personalNote: 'mine',
      });
      expect(await store.journal.latest(WALLET, idOf(first))).toMatchObject({ index: retry.index });
    });

    test('updates stand in one strict order, removed rows included', async () => {
      await begin(first, 4);
      await begin(samplePayment(2), 4);
      for (const { index } of [first, samplePayment(2)]) await store.journal.show(WALLET, index);
      const tip = await store.journal.tip(WALLET);
      await store.spends.abandon(WALLET, samplePayment(2).index, periodStart);
      await seen({ ...failedAtNode, updatedAtMs: 1 }, 5);
      const after = await store.journal.updatedAfter(WALLET, tip, 10);
      expect(after).toMatchObject([{ index: first.index, status: 'failed', updatedAtMs: 12 }]);
    });
  });
}
