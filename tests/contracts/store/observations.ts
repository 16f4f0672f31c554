import { beforeEach, describe, expect, test } from 'bun:test';
import { idOf, type Payment } from '../../../src/model/payment.ts';
import type { PaymentId } from '../../../src/model/payment-index.ts';
import type { Store } from '../../../src/store/ports.ts';
import { periodStart } from '../../../src/wallet/budget/budget.ts';
import { leaseFrom } from '../../../src/webhooks/lease.ts';
import { attemptRecord, claimConfigured, configured } from '../../support/delivery-steps.ts';
import {
  samplePayment as payment,
  sampleDone,
  sampleFailed,
} from '../../support/sample-payment.ts';
import {
  CLIENT,
  fits,
  newSpend,
  observe as observeIn,
  rules,
  setBudget,
  WALLET,
} from '../../support/store-steps.ts';

/** Where payments change state, and what is owed for that: {@link ObservationStore}. */
export function observationContract(open: () => Promise<Store>): void {
  describe('observations', () => {
    let store: Store;
    beforeEach(async () => {
      store = await open();
    });
    const observe = (
      payments: readonly Payment[],
      journaled = false,
      cursor: string | null = null,
    ) => observeIn(store, payments, { journaled, cursor });
    const due = () => claimConfigured(store, { ...leaseFrom(10_000, 1000), limit: 100 });

    test('finalizing a watched payment ends its watch and writes its delivery, once ever', async () => {
      const one = payment(1);
      await store.watches.add(WALLET, { kind: 'payment', index: one.index });
      expect((await observe([one])).deliveries).toBe(0);
      expect((await observe([sampleDone(1)])).deliveries).toBe(1);
      expect(await store.watches.has(WALLET)).toBe(false);
      await store.watches.add(WALLET, { kind: 'payment', index: one.index });
      expect((await observe([sampleDone(1)])).deliveries).toBe(0);
      expect(await due()).toHaveLength(1);
    });

    for (const journaled of [true, false]) {
      test(`a payment that ends among many leaves no watch, spend, reservation or place (${journaled})`, async () => {
        const received = sampleDone(3, { direction: 'inbound' });
        const bound = { nowMs: 1, most: 1, mostOfSource: 1 };
        const take = (id: PaymentId) =>
          store.names.takePlace(WALLET, { id, source: 'a', expiresAtMs: 100 }, bound);
        await setBudget(store, { amountMsat: 9000n, period: 'day', maxPaymentMsat: null });
        await store.watches.add(WALLET, { kind: 'payment', index: received.index });
        const reservation = { clientPk: CLIENT, amountMsat: 2000n, nowMs: 1 };
        await store.spends.begin(WALLET, newSpend(payment(2), { journaled, reservation }), fits);
        expect(await take(idOf(received))).toBe(true);
        const others = Array.from({ length: 40 }, (_, at) => sampleDone(100 + at));
        const ended = [sampleDone(2), received];
        expect((await observe([...others, ...ended], journaled)).deliveries).toBe(2);
        expect(await store.watches.has(WALLET)).toBe(false);
        expect(await store.spends.wallets()).toEqual([]);
        expect((await store.budgets.get(WALLET, CLIENT, 1, periodStart)).spentMsat).toBe(1005n);
        expect(await take(idOf(payment(4)))).toBe(true);
      });
    }

    test('what one batch tells of a payment builds up, and what it tells again changes nothing', async () => {
      const one = payment(1);
      await store.watches.add(WALLET, { kind: 'payment', index: one.index });
      const seen = [payment(2), one, sampleFailed(2), sampleDone(1), sampleDone(1)];
      const { changed, deliveries } = await observe(seen, true, 'c1');
      expect(deliveries).toBe(1);
      expect(changed.map(({ index, status }) => [index, status])).toEqual([
        [payment(2).index, 'pending'],
        [one.index, 'pending'],
        [payment(2).index, 'failed'],
        [one.index, 'completed'],
      ]);
      const times = changed.map(({ updatedAtMs }) => updatedAtMs);
      expect(times).toEqual([...new Set(times)].toSorted((a, b) => a - b));
      expect(await observe(seen.slice(2), true)).toEqual({
        changed: [],
        deliveries: 0,
        gaveWay: [],
      });
      expect(await store.journal.updatedAfter(WALLET, null, 10)).toEqual(changed.slice(2));
    });

    test('attempts of one hash that one batch tells of are payments of their own', async () => {
      const attempts = [7, 8, 7, 8].map((attempt) => ({ payment: payment(1), attempt }));
      const told = { observations: attempts, cursor: null, journaled: true, nowMs: 1000 };
      const { changed } = await store.observations.apply(WALLET, told, rules);
      expect(changed.map(({ createdAtMs }) => createdAtMs)).toEqual([1, 2]);
      expect(await store.journal.open(WALLET)).toHaveLength(2);
    });

    test('a watched payment gets a delivery when it is held, once, and another at its end', async () => {
      for (const journaled of [true, false]) {
        store = await open();
        const inbound = { direction: 'inbound' } as const;
        const { index } = payment(1);
        const held = payment(1, { ...inbound, statusMsg: 'held' });
        await store.watches.add(WALLET, { kind: 'payment', index });
        await store.watches.add(WALLET, { kind: 'held', index });
        expect((await observe([payment(1, inbound)], journaled)).deliveries).toBe(0);
        expect((await observe([held], journaled)).deliveries).toBe(1);
        expect((await observe([held], journaled)).deliveries).toBe(0);
        expect((await observe([sampleDone(1, inbound)], journaled)).deliveries).toBe(1);
        expect(await store.watches.has(WALLET)).toBe(false);
        expect((await due()).map(({ id }) => id)).toEqual([`msg_${index}/held`, `msg_${index}`]);
      }
    });

    test('a payment that is held without a watch for it gets no delivery before its end', async () => {
      await store.watches.add(WALLET, { kind: 'payment', index: payment(1).index });
      const held = payment(1, { direction: 'inbound', statusMsg: 'held' });
      expect((await observe([held], true)).deliveries).toBe(0);
      expect((await observe([sampleDone(1, { direction: 'inbound' })], true)).deliveries).toBe(1);
    });

    test('the watch for what was never held ends with the payment', async () => {
      const { index } = payment(1);
      await store.watches.add(WALLET, { kind: 'payment', index });
      await store.watches.add(WALLET, { kind: 'held', index });
      await observe([sampleFailed(1, { direction: 'inbound' })]);
      expect(await store.watches.has(WALLET)).toBe(false);
    });

    test('what is watched again after its end is watched until it is observed again', async () => {
      const one = payment(1);
      await observe([one], true);
      await observe([sampleDone(1)], true);
      await store.watches.add(WALLET, { kind: 'payment', index: one.index });
      expect((await observe([sampleDone(1)], true)).deliveries).toBe(0);
      expect(await store.watches.has(WALLET)).toBe(false);
    });

    test('an unwatched payment is not delivered; offers and addresses are watched for what arrives on them only', async () => {
      await store.watches.add(WALLET, { kind: 'offer', offerId: 'cd'.repeat(32) });
      await store.watches.add(WALLET, { kind: 'address', address: 'bcrt1qx' });
      expect((await observe([sampleDone(1)])).deliveries).toBe(0);
      const offer = { offerId: 'cd'.repeat(32) };
      expect((await observe([sampleDone(2, { ...offer, direction: 'outbound' })])).deliveries).toBe(
        0,
      );
      expect((await observe([sampleDone(3, { ...offer, direction: 'inbound' })])).deliveries).toBe(
        1,
      );
      expect((await observe([sampleDone(4, { ...offer, direction: 'inbound' })])).deliveries).toBe(
        1,
      );
      expect(
        (await observe([sampleDone(5, { address: 'bcrt1qx', direction: 'inbound' })])).deliveries,
      ).toBe(1);
      expect(await store.watches.has(WALLET)).toBe(true);
    });

    test('a pruned delivery is not written again', async () => {
      const one = payment(1);
      await store.watches.add(WALLET, { kind: 'payment', index: one.index });
      await observe([sampleDone(1)]);
      const [delivery] = await due();
      await store.outbox.delivered(configured(delivery?.id), attemptRecord());
      expect(
        await store.outbox.prune({ beforeMs: 1e15, least: 0, most: 0, mostAttempts: 0 }),
      ).toBeGreaterThan(0);
      await store.watches.add(WALLET, { kind: 'payment', index: one.index });
      expect((await observe([sampleDone(1)])).deliveries).toBe(0);
    });

    test('the cursor is undefined before the first start and never set back by a start', async () => {
      expect(await store.observations.cursor(WALLET)).toBeUndefined();
      await store.observations.startAt(WALLET, null);
      expect(await store.observations.cursor(WALLET)).toBeNull();
      await observe([], false, 'c1');
      await store.observations.startAt(WALLET, 'c0');
      expect(await store.observations.cursor(WALLET)).toBe('c1');
    });
  });
}
