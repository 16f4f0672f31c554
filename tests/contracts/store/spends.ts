import { beforeEach, describe, expect, test } from 'bun:test';
import { awaitingApproval, type Payment } from '../../../src/model/payment.ts';
import type { Spend, Store } from '../../../src/store/ports.ts';
import { periodStart } from '../../../src/wallet/budget/budget.ts';
import { throwing } from '../../support/rejection.ts';
import { sampleDone, sampleFailed, samplePayment } from '../../support/sample-payment.ts';
import { CLIENT, fits, newSpend, observe, setBudget, WALLET } from '../../support/store-steps.ts';

/** Rows written before anything is sent: {@link SpendStore}. */
export function spendContract(open: () => Promise<Store>): void {
  describe('spends', () => {
    let store: Store;
    beforeEach(async () => {
      store = await open();
    });

    const one = samplePayment(1);
    const begin = (change: Parameters<typeof newSpend>[1] = {}, payment = one) =>
      store.spends.begin(WALLET, newSpend(payment, change), fits);
    const asked = (plan: string | null = null, journaled = true) =>
      store.spends.asked(WALLET, one.index, { plan, journaled });
    const get = () => store.spends.get(WALLET, one.index);

    for (const journaled of [true, false]) {
      const kind = journaled ? 'journaled' : 'not journaled';

      test(`a send is begun, asked, known and over (${kind})`, async () => {
        const attempt = journaled ? 8 : null;
        await begin({
          state: 'begun',
          journaled,
          caller: CLIENT,
          idempotencyKey: 'k',
          plan: '{"a":1}',
        });
        const begun: Spend = {
          walletId: WALLET,
          payment: one,
          state: 'begun',
          afterAttempt: null,
          attempt: null,
          plan: '{"a":1}',
          fetchedInvoice: null,
          caller: CLIENT,
          idempotencyKey: 'k',
          approveUntilMs: null,
        };
        expect(await get()).toEqual(begun);
        expect(await store.spends.wallets()).toEqual([WALLET]);
        await asked('{"a":2}', journaled);
        expect(await get()).toEqual({ ...begun, state: 'asked', plan: '{"a":2}' });
        const shown = { ...one, statusMsg: 'in flight' };
        expect((await observe(store, [shown], { journaled, attempt })).changed).toHaveLength(1);
        expect(await get()).toMatchObject({ state: 'known', attempt, payment: one });
        await observe(store, [sampleDone(1)], { journaled, attempt });
        expect(await get()).toBeNull();
        expect(await store.spends.unfinished(WALLET)).toEqual([]);
        expect(await store.spends.wallets()).toEqual([]);
      });

      test(`an observation that shows nothing new makes the send known and keeps all else (${kind})`, async () => {
        await begin({ journaled, afterAttempt: journaled ? 7 : null });
        await store.journal.show(WALLET, one.index);
        const tip = await store.journal.tip(WALLET);
        const attempt = journaled ? 8 : null;
        expect((await observe(store, [one], { journaled, attempt })).changed).toEqual([]);
        expect(await get()).toMatchObject({ state: 'known', attempt });
        expect(await store.journal.tip(WALLET)).toEqual(tip);
        expect(await store.watches.has(WALLET)).toBe(true);
      });

      test(`a completion without proof keeps send, watch and reservation (${kind})`, async () => {
        await store.clients.change(WALLET, () => ({
          records: [],
          budgets: [
            {
              clientPk: CLIENT,
              budget: { amountMsat: 9000n, period: 'day', maxPaymentMsat: null },
              periodStart,
            },
          ],
        }));
        await begin({ journaled, reservation: { clientPk: CLIENT, amountMsat: 2000n, nowMs: 1 } });
        await store.journal.show(WALLET, one.index);
        const unproven = sampleDone(1, { preimage: '00'.repeat(32) });
        expect(await observe(store, [unproven], { journaled })).toEqual({
          changed: [],
          deliveries: 0,
          gaveWay: [],
        });
        expect((await get())?.payment).toEqual(one);
        expect(await store.watches.has(WALLET)).toBe(true);
        expect((await store.budgets.get(WALLET, CLIENT, 1, periodStart)).spentMsat).toBe(2000n);
        expect(await observe(store, [sampleDone(1)], { journaled })).toMatchObject({
          deliveries: 1,
        });
        expect((await store.budgets.get(WALLET, CLIENT, 1, periodStart)).spentMsat).toBe(1005n);
      });

      test(`a send that is known not to have left is undone, its key included (${kind})`, async () => {
        const scope = { walletId: WALLET, caller: CLIENT, key: 'k' };
        await store.idempotency.begin(scope, 'a', 1);
        await begin({ journaled, caller: CLIENT, idempotencyKey: 'k' });
        await store.spends.abandon(WALLET, one.index, periodStart);
        expect(await get()).toBeNull();
        expect(await store.watches.has(WALLET)).toBe(false);
        expect(await store.journal.open(WALLET)).toEqual([]);
        expect(await store.idempotency.begin(scope, 'a', 1)).toMatchObject({ index: null });
        // It may be begun again under the same name.
        await begin({ journaled, caller: CLIENT, idempotencyKey: 'k' });
        expect(await store.idempotency.begin(scope, 'a', 1)).toMatchObject({ index: one.index });
      });

      test(`the invoice that was fetched for an offer is kept with a send, and while that is not failed (${kind})`, async () => {
        const fetched = (number: number) =>
          store.spends.fetchedInvoice(WALLET, samplePayment(number).index);
        const payments = [1, 2, 3].map((number) => samplePayment(number));
        for (const payment of payments) {
          const fetchedInvoice = `lni1${payment.createdAtMs}`;
          await begin({ journaled, fetchedInvoice }, payment);
          const stored = await store.spends.get(WALLET, payment.index);
          expect(stored).toMatchObject({ fetchedInvoice });
        }
        const all = await store.spends.unfinished(WALLET);
        expect(all.map((one) => one.fetchedInvoice)).toEqual(['lni11', 'lni12', 'lni13']);
        await observe(store, [sampleDone(1)], { journaled });
        await observe(store, [sampleFailed(2)], { journaled });
        await store.spends.abandon(WALLET, samplePayment(3).index, periodStart);
        expect([await fetched(1), await fetched(2), await fetched(3)]).toEqual([
          'lni11',
          null,
          null,
        ]);
      });

      test(`what the node has shown is not undone (${kind})`, async () => {
        await begin({ journaled });
        await observe(store, [{ ...one, statusMsg: 'in flight' }], { journaled });
        await store.spends.abandon(WALLET, one.index, periodStart);
        expect(await get()).toMatchObject({ state: 'known' });
        expect(await store.watches.has(WALLET)).toBe(true);
      });
    }

    test('asking again keeps what is planned unless it is replaced', async () => {
      await begin({ state: 'begun', plan: '{"a":1}', afterAttempt: 3 });
      await asked();
      expect(await get()).toMatchObject({ state: 'asked', plan: '{"a":1}', afterAttempt: 3 });
    });

    test('nothing is asked for that is not kept', async () => {
      expect(await throwing(asked())).toThrow('must not be asked to send');
      await begin({ state: 'begun' });
      await observe(store, [sampleFailed(1)], { journaled: true });
      expect(await throwing(asked())).toThrow('must not be asked to send');
    });

    test('a send does not take the place of a payment that is there', async () => {
      await observe(store, [sampleFailed(1)], { journaled: true });
      expect(await throwing(begin({ previous: sampleFailed(1) }))).toThrow('already');
      expect(await store.journal.get(WALLET, one.index)).toMatchObject({ status: 'failed' });
      expect(await get()).toBeNull();
    });

    test('a send of a payment that is there fails for that, also where it is above the budget', async () => {
      await setBudget(store, { amountMsat: 10n, period: 'total', maxPaymentMsat: null });
      await observe(store, [sampleFailed(1)], { journaled: true });
      const reservation = { clientPk: CLIENT, amountMsat: 11n, nowMs: 1 };
      const previous = sampleFailed(1);
      expect(await throwing(begin({ caller: CLIENT, reservation, previous }))).toThrow('already');
    });

    for (const journaled of [true, false]) {
      const kind = journaled ? 'journaled' : 'not journaled';
      const reservation = { clientPk: CLIENT, amountMsat: 5n, nowMs: 1 };
      const deliver = () => ({
        ...{ id: 'msg_asked', event: 'payment.approval_requested' as const, body: '{}' },
        ...{ createdAtMs: 1, endpoints: ['configured'] },
      });
      const waiting = awaitingApproval(one);
      const wait = () =>
        begin(
          {
            ...{ state: 'awaiting', journaled, reservation, deliver, caller: CLIENT },
            ...{ idempotencyKey: 'k', plan: '{"a":1}', approveUntilMs: 100, afterAttempt: 3 },
          },
          waiting,
        );
      const approve = (nowMs: number, may = true) =>
        store.spends.approve(
          WALLET,
          one.index,
          { plan: '{"a":2}', afterAttempt: 7, journaled, nowMs },
          (client) => may && client?.clientPk === CLIENT,
        );

      test(`a send that waits for approval is there for readers and told once, and becomes asked once (${kind})`, async () => {
        const key = { walletId: WALLET, caller: CLIENT, key: 'k' };
        await store.idempotency.begin(key, 'print', 1);
        await setBudget(store, { amountMsat: 10n, period: 'total', maxPaymentMsat: null });
        expect(await wait()).toBe(true);
        expect(await get()).toMatchObject({
          state: 'awaiting',
          approveUntilMs: 100,
          payment: waiting,
        });
        expect(await store.idempotency.begin(key, 'print', 1)).toMatchObject({ index: one.index });
        expect(await store.outbox.counts()).toMatchObject({ pending: 1 });
        if (journaled) {
          const [shown] = await store.journal.updatedAfter(WALLET, null, 10);
          expect(shown).toMatchObject({ index: one.index, statusMsg: waiting.statusMsg });
        }
        expect([await approve(100), await approve(99, false)]).toEqual([false, false]);
        expect(await get()).toMatchObject({ state: 'awaiting', plan: '{"a":1}', afterAttempt: 3 });
        expect([await approve(99), await approve(99)]).toEqual([true, false]);
        expect(await get()).toMatchObject({
          ...{ state: 'asked', plan: '{"a":2}', afterAttempt: 7, payment: one },
        });
        if (journaled) {
          expect(await store.journal.get(WALLET, one.index)).toMatchObject({
            statusMsg: 'pending',
          });
        }
        await observe(store, [sampleDone(1)], { journaled, attempt: journaled ? 8 : null });
        expect(await get()).toBeNull();
        expect(await store.outbox.counts()).toMatchObject({ pending: 2 });
      });

      test(`what a node tells again of a send that waits does not make it known, and its end gives the budget back (${kind})`, async () => {
        await setBudget(store, { amountMsat: 10n, period: 'total', maxPaymentMsat: null });
        await wait();
        await observe(store, [waiting], { journaled });
        expect(await get()).toMatchObject({ state: 'awaiting' });
        const failed = sampleFailed(1, { statusMsg: 'not approved' });
        const { deliveries } = await observe(store, [failed], { journaled });
        expect([deliveries, await get()]).toEqual([1, null]);
        expect((await store.budgets.get(WALLET, CLIENT, 1, periodStart)).spentMsat).toBe(0n);
        expect(await approve(99)).toBe(false);
      });
    }

    test('a send that does not wait tells nobody of an approval', async () => {
      const told: string[] = [];
      const deliver = ({ index }: Payment) => {
        told.push(index);
        return null;
      };
      await begin({ deliver });
      expect(told).toEqual([]);
    });

    test('unfinished sends are listed oldest first, by wallet', async () => {
      for (const number of [3, 1, 2]) await begin({}, samplePayment(number));
      const all = await store.spends.unfinished(WALLET);
      expect(all.map(({ payment }) => payment.createdAtMs)).toEqual([1, 2, 3]);
      expect(await store.spends.unfinished('cd'.repeat(32))).toEqual([]);
    });

    test('who made a payment is told while it is pending and when it is completed', async () => {
      const reservation = { clientPk: CLIENT, amountMsat: 5n, nowMs: 1 };
      await begin({ caller: CLIENT, reservation });
      await begin({}, samplePayment(2));
      const callerOf = (number: number) =>
        store.spends.callerOf(WALLET, samplePayment(number).index);
      expect([await callerOf(1), await callerOf(2), await callerOf(3)]).toEqual([
        CLIENT,
        null,
        null,
      ]);
      await observe(store, [sampleDone(1), sampleDone(2)], { journaled: true });
      expect([await callerOf(1), await callerOf(2)]).toEqual([CLIENT, null]);
    });

    test('writes of one turn are each kept or not: one that fails undoes nothing of the others', async () => {
      await setBudget(store, { amountMsat: 1n, period: 'total', maxPaymentMsat: null });
      const beginAs = (at: number, clientPk: string | null) =>
        store.spends.begin(
          WALLET,
          newSpend(samplePayment(at), {
            reservation: clientPk === null ? null : { clientPk, amountMsat: 5n, nowMs: 1 },
          }),
          fits,
        );
      const results = await Promise.allSettled([
        beginAs(1, null),
        beginAs(2, CLIENT),
        beginAs(3, null),
      ]);
      expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      expect((await store.journal.open(WALLET)).map(({ createdAtMs }) => createdAtMs)).toEqual([
        1, 3,
      ]);
    });
  });
}
