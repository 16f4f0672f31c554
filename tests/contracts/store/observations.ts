import { beforeEach, describe, expect, test } from 'bun:test';
import type { Payment } from '../../../src/model/payment.ts';
import type { Store } from '../../../src/store/ports.ts';
import { leaseFrom } from '../../../src/webhooks/lease.ts';
import { samplePayment as payment, sampleDone } from '../../support/sample-payment.ts';
import { observe as observeIn, WALLET } from '../../support/store-steps.ts';

/** Where payments change state, and what is owed for that: {@link ObservationStore}. */
export function observationContract(open: () => Store): void {
  describe('observations', () => {
    let store: Store;
    beforeEach(() => {
      store = open();
    });
    const observe = (
      payments: readonly Payment[],
      journaled = false,
      cursor: string | null = null,
    ) => observeIn(store, payments, { journaled, cursor });
    const due = () => store.outbox.claim({ ...leaseFrom(10_000, 1000), limit: 100 });

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
      await store.outbox.delivered(delivery?.id ?? '', 10);
      expect(await store.outbox.prune({ beforeMs: 1e15, least: 0, most: 0 })).toBeGreaterThan(0);
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
