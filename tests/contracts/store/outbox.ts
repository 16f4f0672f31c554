import { beforeEach, describe, expect, test } from 'bun:test';
import type { Payment } from '../../../src/model/payment.ts';
import type { DeliveryQuery, Outbox, Store } from '../../../src/store/ports.ts';
import { leaseFrom } from '../../../src/webhooks/lease.ts';
import {
  attemptRecord,
  claimConfigured,
  configured,
  failedAttempt,
  nextDueAt,
} from '../../support/delivery-steps.ts';
import { samplePayment as payment, sampleDone } from '../../support/sample-payment.ts';
import { observe as observeIn, rules, WALLET } from '../../support/store-steps.ts';

/** Webhook deliveries: {@link Outbox}. */
export function outboxContract(open: () => Promise<Store>): void {
  describe('the outbox', () => {
    let store: Store;
    beforeEach(async () => {
      store = await open();
    });
    const observe = (payments: readonly Payment[]) => observeIn(store, payments);
    /** Writes the deliveries of those payments, each created at the millisecond of its number. */
    const owe = async (...numbers: readonly number[]) => {
      for (const number of numbers) {
        await store.watches.add(WALLET, { kind: 'payment', index: payment(number).index });
        const observations = [{ payment: sampleDone(number), attempt: null }];
        const batch = { observations, cursor: null, journaled: false, nowMs: 1000 };
        await store.observations.apply(WALLET, batch, {
          ...rules,
          deliver: ({ index }) => ({
            id: idOf(number),
            event: 'payment.finalized',
            body: index,
            createdAtMs: number,
            endpoints: ['configured'],
          }),
        });
      }
    };
    const idOf = (number: number) => `msg_${number}`;
    const log = (change: Partial<DeliveryQuery> = {}) =>
      store.outbox.list({
        walletId: WALLET,
        state: null,
        endpoint: null,
        limit: 100,
        before: null,
        ...change,
      });
    const claimAll = (nowMs = 10_000) =>
      claimConfigured(store, { ...leaseFrom(nowMs, 1000), limit: 100 });

    test('a lease that is given back is due at once, and its attempt does not count', async () => {
      await store.watches.add(WALLET, { kind: 'payment', index: payment(1).index });
      await observe([sampleDone(1)]);
      const [first] = await claimConfigured(store, { ...leaseFrom(10, 1000), limit: 5 });
      await store.outbox.release(configured(first?.id), 20);
      expect(await nextDueAt(store)).toBe(20);
      const again = await claimConfigured(store, { ...leaseFrom(20, 1000), limit: 5 });
      expect(again).toMatchObject([{ id: first?.id, attempts: 0 }]);
    });

    test('leases of the process that has the store stay when those of others are given back', async () => {
      await store.watches.add(WALLET, { kind: 'payment', index: payment(1).index });
      await observe([sampleDone(1)]);
      await claimConfigured(store, { ...leaseFrom(10, 1000), limit: 5 });
      expect(await store.outbox.releaseAbandoned(20)).toBe(0);
      expect(await nextDueAt(store)).toBe(1010);
    });

    test('a claim is a lease: nobody else has it until it ends', async () => {
      await store.watches.add(WALLET, { kind: 'payment', index: payment(1).index });
      await observe([sampleDone(1)]);
      expect(await claimConfigured(store, { ...leaseFrom(10, 100), limit: 5 })).toHaveLength(1);
      expect(await claimConfigured(store, { ...leaseFrom(109, 100), limit: 5 })).toHaveLength(0);
      expect(await nextDueAt(store)).toBe(110);
      expect(await claimConfigured(store, { ...leaseFrom(110, 100), limit: 5 })).toHaveLength(1);
      expect(await store.outbox.counts()).toEqual({
        pending: 1,
        delivered: 0,
        failed: 0,
        canceled: 0,
      });
    });

    test('due deliveries are claimed oldest first, and no more than asked for', async () => {
      await owe(3, 1, 2);
      const claim = () => claimConfigured(store, { ...leaseFrom(10_000, 1000), limit: 2 });
      const first = await claim();
      expect(first.map(({ id, body, attempts }) => [id, body, attempts])).toEqual([
        [idOf(1), payment(1).index, 0],
        [idOf(2), payment(2).index, 0],
      ]);
      expect((await claim()).map(({ id }) => id)).toEqual([idOf(3)]);
    });

    test('what claims to be due later than anything can be was written before the clock was set back', async () => {
      await owe(5000);
      const claim = (lastPossibleMs: number) =>
        claimConfigured(store, { nowMs: 100, leaseUntilMs: 1100, lastPossibleMs, limit: 5 });
      expect(await claim(6000)).toEqual([]);
      expect(await claim(4000)).toMatchObject([{ id: idOf(5000) }]);
    });

    test('an attempt that failed is counted, with its reason, and is due again or the delivery failed', async () => {
      await owe(1);
      await claimAll();
      await store.outbox.attemptFailed(configured(idOf(1)), failedAttempt('refused'), 20_000);
      const shown = {
        ...configured(idOf(1)),
        type: 'payment.finalized' as const,
        index: payment(1).index,
        created_at: 1,
        delivered_at: null,
      };
      expect(await log()).toEqual([
        { ...shown, state: 'pending', attempts: 1, last_error: 'refused', next_attempt_at: 20_000 },
      ]);
      expect(await nextDueAt(store)).toBe(20_000);
      expect(await claimAll(20_000)).toMatchObject([{ attempts: 1 }]);
      await store.outbox.attemptFailed(configured(idOf(1)), failedAttempt('gone'), null);
      expect(await log()).toEqual([
        { ...shown, state: 'failed', attempts: 2, last_error: 'gone', next_attempt_at: null },
      ]);
      expect(await nextDueAt(store)).toBeNull();
      expect(await store.outbox.counts()).toEqual({
        pending: 0,
        delivered: 0,
        failed: 1,
        canceled: 0,
      });
    });

    test('a delivery that arrived is not due any more and says when', async () => {
      await owe(1);
      await claimAll();
      await store.outbox.delivered(configured(idOf(1)), attemptRecord({ durationMs: 500 }));
      expect(await log()).toMatchObject([
        { state: 'delivered', attempts: 1, last_error: null, delivered_at: 10_500 },
      ]);
      expect(await claimAll(100_000)).toEqual([]);
      expect(await nextDueAt(store)).toBeNull();
    });

    test('the log is newest first, by state, in pages, and shows no other wallet', async () => {
      await owe(1, 2, 3, 4);
      await store.outbox.attemptFailed(configured(idOf(2)), failedAttempt('x'), null);
      const ids = async (change?: Partial<DeliveryQuery>) =>
        (await log(change)).map(({ id }) => id);
      expect(await ids()).toEqual([4, 3, 2, 1].map(idOf));
      expect(await ids({ limit: 2 })).toEqual([4, 3].map(idOf));
      expect(await ids({ limit: 2, before: { id: idOf(3), endpoint: null } })).toEqual(
        [2, 1].map(idOf),
      );
      expect(await ids({ state: 'failed' })).toEqual([idOf(2)]);
      expect(await ids({ state: 'pending', before: { id: idOf(3), endpoint: null } })).toEqual([
        idOf(1),
      ]);
      expect(await ids({ walletId: 'cd'.repeat(32) })).toEqual([]);
    });

    test('the log knows which webhook-ids a wallet has', async () => {
      await owe(1);
      expect(await store.outbox.has(WALLET, idOf(1))).toBe(true);
      expect(await store.outbox.has(WALLET, idOf(2))).toBe(false);
      expect(await store.outbox.has('cd'.repeat(32), idOf(1))).toBe(false);
    });

    test('a delivery is sent again with fresh attempts: one, or all since a time, of that wallet only', async () => {
      await owe(1, 2, 3);
      for (const number of [1, 2, 3])
        await store.outbox.attemptFailed(configured(idOf(number)), failedAttempt('x'), null);
      const other = { walletId: 'cd'.repeat(32), nowMs: 50, endpoint: null };
      const mine = { walletId: WALLET, nowMs: 50, endpoint: null };
      expect(await store.outbox.redeliver({ ...other, id: idOf(1) })).toBe(0);
      expect(await store.outbox.redeliver({ ...other, sinceMs: 0 })).toBe(0);
      expect(await store.outbox.redeliver({ ...mine, id: 'msg_none' })).toBe(0);
      expect(await store.outbox.redeliver({ ...mine, id: idOf(1) })).toBe(1);
      expect(await claimAll()).toMatchObject([{ id: idOf(1), attempts: 0 }]);
      // What is shown counts the attempts of before, too.
      expect((await log()).find(({ id }) => id === idOf(1))?.attempts).toBe(1);
      await store.outbox.attemptFailed(configured(idOf(1)), failedAttempt('y'), null);
      expect((await log()).find(({ id }) => id === idOf(1))?.attempts).toBe(2);
      expect(await store.outbox.redeliver({ ...mine, sinceMs: 2 })).toBe(2);
      expect((await claimAll()).map(({ id }) => id).toSorted()).toEqual([2, 3].map(idOf));
    });

    test('settled deliveries are dropped that are old, but for the newest, and the oldest beyond a count', async () => {
      await owe(1, 2, 3, 4, 5);
      for (const number of [1, 2, 3])
        await store.outbox.delivered(configured(idOf(number)), attemptRecord());
      await store.outbox.attemptFailed(configured(idOf(4)), failedAttempt('x'), null);
      const prune = async (options: Omit<Parameters<Outbox['prune']>[0], 'mostAttempts'>) => {
        const dropped = await store.outbox.prune({ ...options, mostAttempts: 100 });
        return [dropped, (await log()).map(({ id }) => id)];
      };
      const all = [5, 4, 3, 2, 1].map(idOf);
      expect(await prune({ beforeMs: 1, least: 0, most: 100 })).toEqual([0, all]);
      expect(await prune({ beforeMs: 1e15, least: 4, most: 100 })).toEqual([0, all]);
      expect(await prune({ beforeMs: 2, least: 0, most: 100 })).toEqual([1, all.slice(0, 4)]);
      expect(await prune({ beforeMs: 0, least: 0, most: 2 })).toEqual([1, all.slice(0, 3)]);
      expect(await prune({ beforeMs: 1e15, least: 0, most: 0 })).toEqual([2, [idOf(5)]]);
      expect(
        await store.outbox.redeliver({ walletId: WALLET, nowMs: 1, endpoint: null, id: idOf(4) }),
      ).toBe(0);
    });
  });
}
