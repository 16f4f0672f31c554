import { beforeEach, describe, expect, test } from 'bun:test';
import { idOf, type Payment, updatedIndexOf } from '../../../src/model/payment.ts';
import { paymentIndex } from '../../../src/model/payment-index.ts';
import type { Store } from '../../../src/store/ports.ts';
import { periodStart } from '../../../src/wallet/budget/budget.ts';
import { sampleDone, sampleFailed, samplePayment } from '../../support/sample-payment.ts';
import { CLIENT, fits, newSpend, rules, setBudget, WALLET } from '../../support/store-steps.ts';

/** What becomes of a spend where another program's payment of the same id is in its place. */
export function givingWayContract(open: () => Promise<Store>): void {
  describe('another payment in the place of a spend', () => {
    let store: Store;
    beforeEach(async () => {
      store = await open();
      await setBudget(store, { amountMsat: 100_000n, period: 'total', maxPaymentMsat: null });
      await store.idempotency.begin(scope, 'print', 1);
    });

    const scope = { walletId: WALLET, caller: CLIENT, key: 'k' };
    const one = samplePayment(10);
    /** The same invoice, as another program pays it later. */
    const other = (make: typeof samplePayment, atMs = 20): Payment =>
      make(10, {
        createdAtMs: atMs,
        updatedAtMs: atMs,
        index: paymentIndex(atMs, idOf(one)),
      });
    const begin = (change: Parameters<typeof newSpend>[1] = {}) =>
      store.spends.begin(
        WALLET,
        newSpend(one, {
          caller: CLIENT,
          idempotencyKey: 'k',
          afterAttempt: 0,
          reservation: { clientPk: CLIENT, amountMsat: 2000n, nowMs: 1 },
          ...change,
        }),
        fits,
      );
    const apply = (
      payment: Payment,
      attempt: number | null,
      answers?: { readonly isTaken: boolean },
    ) =>
      store.observations.apply(
        WALLET,
        {
          observations: [
            { payment, attempt, ...(answers ? { answers: { index: one.index, ...answers } } : {}) },
          ],
          cursor: null,
          journaled: true,
          nowMs: 1000,
        },
        rules,
      );
    const spent = async () => (await store.budgets.get(WALLET, CLIENT, 1, periodStart)).spentMsat;
    const keyIndex = async () => {
      const state = await store.idempotency.begin(scope, 'print', 1);
      return state.state === 'running' ? state.index : state.state;
    };
    const rows = async () =>
      (await store.journal.updatedAfter(WALLET, null, 10)).map(({ index, status }) => ({
        index,
        status,
      }));

    test('a spend begins only while the newest payment of its id is the one that was looked at', async () => {
      await apply(other(samplePayment, 5), 1);
      expect(await begin()).toBe(false);
      expect(await begin({ previous: { ...other(samplePayment, 5), status: 'failed' } })).toBe(
        false,
      );
      expect(await store.spends.unfinished(WALLET)).toEqual([]);
      expect([await spent(), await keyIndex(), await store.watches.has(WALLET)]).toEqual([
        0n,
        null,
        false,
      ]);
      await apply(other(sampleFailed, 5), 1);
      expect(await begin({ previous: other(sampleFailed, 4) })).toBe(false);
      expect(await begin({ previous: other(sampleFailed, 5) })).toBe(true);
    });

    test('no reader is shown a spend before it is asked', async () => {
      await begin({ state: 'begun' });
      expect([await store.journal.get(WALLET, one.index), await rows(), await keyIndex()]).toEqual([
        null,
        [],
        null,
      ]);
      expect(await store.journal.open(WALLET)).toEqual([]);
      await store.spends.asked(WALLET, one.index, { plan: null, journaled: true });
      expect(await rows()).toEqual([]);
      expect(await keyIndex()).toBe(one.index);
      await store.journal.show(WALLET, one.index);
      expect(await rows()).toEqual([{ index: one.index, status: 'pending' }]);
      const tip = await store.journal.tip(WALLET);
      await store.spends.asked(WALLET, one.index, { plan: null, journaled: true });
      expect(await store.journal.tip(WALLET)).toBe(tip);
    });

    test('a spend that is given up is gone from the cache, and a sync that has read it does not put it back', async () => {
      await begin();
      await store.journal.show(WALLET, one.index);
      const page = await store.journal.updatedAfter(WALLET, null, 10);
      const cached = async () => (await store.cache.get(WALLET, one.index)) !== null;
      const sync = () => store.cache.apply(WALLET, page, null, 'journal');
      await sync();
      expect(await cached()).toBe(true);
      await store.spends.abandon(WALLET, one.index, periodStart);
      expect(await cached()).toBe(false);
      expect(await sync()).toEqual({ numNew: 0, numUpdated: 0 });
      expect(await cached()).toBe(false);
      const incoming = samplePayment(11, { direction: 'inbound' });
      expect(await store.cache.apply(WALLET, [incoming], null, 'journal')).toMatchObject({
        numNew: 1,
      });
      // The pages of a node that keeps the history are not in the journal.
      await store.cache.apply(WALLET, page, null, 'node');
      expect(await cached()).toBe(true);
      const done = sampleDone(10, { updatedAtMs: 50 });
      expect(await store.cache.apply(WALLET, [done], updatedIndexOf(done), 'journal')).toEqual({
        numNew: 0,
        numUpdated: 1,
      });
    });

    for (const attempt of [null, 3]) {
      const kind = attempt === null ? 'attempts have labels' : 'attempts have numbers';

      test(`it gives way to a row that has the attempt: budget back, key free, watch moved, index led (${kind})`, async () => {
        await begin({ afterAttempt: attempt, fetchedInvoice: 'lni1' });
        await apply(other(samplePayment), attempt);
        await store.cache.apply(WALLET, await store.journal.updatedAfter(WALLET, null, 10), null);
        const { gaveWay, deliveries } = await apply(other(sampleDone), attempt, { isTaken: true });
        const { index } = other(sampleDone);
        expect(gaveWay).toMatchObject([{ from: one.index, to: { index, status: 'completed' } }]);
        expect(deliveries).toBe(1);
        expect(await store.spends.unfinished(WALLET)).toEqual([]);
        expect(await rows()).toEqual([{ index, status: 'completed' }]);
        expect(await store.journal.get(WALLET, one.index)).toMatchObject({ index });
        expect(await store.cache.get(WALLET, one.index)).toBeNull();
        expect(await store.spends.fetchedInvoice(WALLET, one.index)).toBeNull();
        expect([await spent(), await keyIndex(), await store.watches.has(WALLET)]).toEqual([
          0n,
          null,
          false,
        ]);
        // What comes twice changes nothing.
        expect(await apply(other(sampleDone), attempt, { isTaken: true })).toEqual({
          changed: [],
          deliveries: 0,
          gaveWay: [],
        });
      });
    }

    test('the end of a payment that was over before is delivered for the spend that gives way to it', async () => {
      await begin({ afterAttempt: null });
      await apply(other(sampleDone), null);
      const { changed, deliveries, gaveWay } = await apply(other(sampleDone), null, {
        isTaken: true,
      });
      expect([changed, deliveries, gaveWay.length]).toEqual([[], 1, 1]);
      expect(await store.watches.has(WALLET)).toBe(false);
    });

    test('a spend that gives way to a pending payment moves its watch there', async () => {
      await begin({ afterAttempt: null });
      await apply(other(samplePayment), null, { isTaken: true });
      expect((await apply(other(sampleDone), null)).deliveries).toBe(1);
    });

    test('what a spend has taken as its own and another program made stays its row, without the spend', async () => {
      await begin();
      await apply(other(samplePayment), 1);
      expect(await store.spends.get(WALLET, one.index)).toMatchObject({ state: 'known' });
      const { gaveWay } = await apply(other(samplePayment), 1, { isTaken: true });
      expect(gaveWay).toMatchObject([{ from: one.index, to: { index: one.index } }]);
      expect(await store.spends.unfinished(WALLET)).toEqual([]);
      expect([await spent(), await keyIndex()]).toEqual([0n, null]);
      expect((await apply(other(sampleDone), 1)).deliveries).toBe(1);
      expect(await rows()).toEqual([{ index: one.index, status: 'completed' }]);
      expect(await spent()).toBe(0n);
    });

    test('a cost that was settled for another program is given back', async () => {
      await begin();
      await apply(other(sampleDone), 1);
      expect(await spent()).toBe(1005n);
      await apply(other(sampleDone), 1, { isTaken: true });
      expect(await spent()).toBe(0n);
    });

    test('a spend whose attempt another row has gives way to it, also when the node names it as its own', async () => {
      // Version 0.2 wrote such rows.
      const outside = other(samplePayment, 5);
      await apply(outside, 7);
      await begin({ afterAttempt: 6, previous: outside });
      const { gaveWay } = await apply(one, 7, { isTaken: false });
      expect(gaveWay).toMatchObject([{ from: one.index, to: { index: outside.index } }]);
      expect(await rows()).toEqual([{ index: outside.index, status: 'pending' }]);
    });

    test('a failed attempt of another program, however young, does not hide the payment that stands', async () => {
      await begin();
      await apply(other(sampleFailed, 30), 0);
      await apply(other(sampleFailed, 20), 0);
      const latest = () => store.journal.latest(WALLET, idOf(one));
      expect(await latest()).toMatchObject({ index: one.index, status: 'pending' });
      await apply(other(sampleDone), 1);
      expect(await latest()).toMatchObject({ index: one.index, status: 'completed' });
      expect(await store.spends.unfinished(WALLET)).toEqual([]);
    });

    test('of failed payments alone the newest is the latest', async () => {
      await apply(other(sampleFailed, 30), 1);
      await apply(other(sampleFailed, 20), 2);
      expect(await store.journal.latest(WALLET, idOf(one))).toMatchObject({
        index: other(sampleFailed, 30).index,
      });
    });

    test('its own attempt keeps the spend', async () => {
      await begin();
      const { gaveWay } = await apply(one, 1, { isTaken: false });
      expect(gaveWay).toEqual([]);
      expect(await store.spends.get(WALLET, one.index)).toMatchObject({
        state: 'known',
        attempt: 1,
      });
      expect(await spent()).toBe(2000n);
    });
  });
}
