import { beforeEach, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Budget, type BudgetPeriod, budgetWindow } from '../../../src/model/clients/budget.ts';
import type { Store } from '../../../src/store/ports.ts';
import { periodStart } from '../../../src/wallet/budget/budget.ts';
import { lowBudgetRule } from '../../../src/webhooks/low-budget.ts';
import { endpointRecord } from '../../support/delivery-steps.ts';
import { rejection, throwing } from '../../support/rejection.ts';
import { rounds } from '../../support/rounds.ts';
import { sampleDone, sampleFailed, samplePayment } from '../../support/sample-payment.ts';
import {
  CLIENT,
  clientRecord,
  countOf,
  fits,
  newSpend,
  observe,
  setBudget,
  WALLET,
} from '../../support/store-steps.ts';

/**
 * What clients spent of their budgets: {@link BudgetStore}. `runsShare` is the share of the usual number of runs that
 * properties get, since each run opens a store.
 */
export function budgetContract(open: () => Promise<Store>, runsShare: number): void {
  describe('budgets', () => {
    const DAY_MS = 86_400_000;
    let store: Store;
    beforeEach(async () => {
      store = await open();
    });

    const budget = (amountMsat: bigint, period: BudgetPeriod = 'day'): Budget => ({
      amountMsat,
      period,
      maxPaymentMsat: null,
    });
    const spend = (number: number, amountMsat: bigint, nowMs: number, on = store) =>
      on.spends.begin(
        WALLET,
        newSpend(samplePayment(number), {
          caller: CLIENT,
          journaled: false,
          reservation: { clientPk: CLIENT, amountMsat, nowMs },
        }),
        fits,
      );
    const addClient = () =>
      store.clients.change(WALLET, () => ({ records: [clientRecord()], budgets: [] }));
    const spentAt = async (nowMs: number, on = store) =>
      (await on.budgets.get(WALLET, CLIENT, nowMs, periodStart)).spentMsat;

    describe('a budget that is low', () => {
      let told: number;
      beforeEach(async () => {
        told = 0;
        await store.webhookEndpoints.add(
          endpointRecord({ events: ['payment.held', 'client.budget_low'] }),
          9,
        );
      });

      const rule = lowBudgetRule({ configured: null, clock: { now: () => 5000 } });
      const telling = { ...fits, low: { deliver: rule, onDelivery: () => void told++ } };
      const begin = (number: number, amountMsat: bigint, nowMs = 5, more = {}) =>
        store.spends.begin(
          WALLET,
          newSpend(samplePayment(number), {
            caller: CLIENT,
            reservation: { clientPk: CLIENT, amountMsat, nowMs },
            ...more,
          }),
          telling,
        );
      const notices = async () => {
        const query = { walletId: WALLET, state: null, endpoint: null, limit: 50, before: null };
        return (await store.outbox.list(query)).filter(({ type }) => type === 'client.budget_low');
      };
      const bodies = async () =>
        (
          await store.outbox.claim({
            ...{
              endpoint: 'ep_1',
              nowMs: 9000,
              lastPossibleMs: 9e15,
              leaseUntilMs: 9001,
              limit: 9,
            },
          })
        ).map(({ body }) => JSON.parse(body));

      for (const state of ['asked', 'begun', 'awaiting'] as const) {
        for (const journaled of [true, false]) {
          test(`is told with the reservation that leaves a fifth of it, and once in a period (${state}, ${journaled})`, async () => {
            await setBudget(store, budget(1000n));
            const more = { state, journaled };
            expect(await begin(1, 799n, 5, more)).toBe(true);
            expect([await notices(), told]).toEqual([[], 0]);
            expect(await begin(2, 1n, 5, more)).toBe(true);
            expect(await notices()).toMatchObject([
              { type: 'client.budget_low', index: CLIENT, endpoint: 'ep_1', created_at: 5000 },
            ]);
            await begin(3, 50n, 6, more);
            expect([(await notices()).length, told]).toEqual([1, 1]);
            expect(await bodies()).toEqual([
              expect.objectContaining({
                ...{ type: 'client.budget_low', client_pk: CLIENT, user_pk: WALLET },
                ...{ timestamp: new Date(5).toISOString() },
                budget: expect.objectContaining({ amount: '1', spent: '0.8', period: 'day' }),
              }),
            ]);
          });
        }
      }

      test('is told with the reservation of a cost that is no payment', async () => {
        await setBudget(store, budget(1000n));
        const reserve = (name: string, amountMsat: bigint) =>
          store.spends.reserve(WALLET, name, { clientPk: CLIENT, amountMsat, nowMs: 5 }, telling);
        await reserve('a', 500n);
        expect(await notices()).toEqual([]);
        await reserve('b', 400n);
        await reserve('b', 400n);
        expect([(await notices()).length, told]).toEqual([1, 1]);
      });

      test('is told of each period and of each size of the budget', async () => {
        await setBudget(store, budget(1000n));
        await begin(1, 900n);
        await begin(2, 700n, DAY_MS + 5);
        expect(await notices()).toHaveLength(1);
        await begin(3, 100n, DAY_MS + 5);
        expect(await notices()).toHaveLength(2);
        await setBudget(store, { ...budget(1000n), maxPaymentMsat: 500n });
        await begin(4, 10n, DAY_MS + 5);
        expect(await notices()).toHaveLength(2);
        await setBudget(store, budget(2000n));
        await begin(5, 10n, DAY_MS + 5);
        expect(await notices()).toHaveLength(2);
        await begin(6, 900n, DAY_MS + 5);
        expect((await notices()).length).toBe(3);
        expect(new Set((await notices()).map(({ id }) => id)).size).toBe(3);
      });

      test('is told once where several reservations at once cross the line', async () => {
        await setBudget(store, budget(1000n, 'total'));
        await Promise.all(Array.from({ length: 10 }, (_, at) => begin(at + 1, 100n)));
        expect([(await notices()).length, told]).toEqual([1, 1]);
      });

      test('is not told where nothing is reserved, no budget is set, or nobody hears', async () => {
        await setBudget(store, budget(1000n));
        expect(await rejection(begin(1, 1001n))).toMatchObject({ kind: 'overBudget' });
        await begin(2, 10n, 5, { journaled: false });
        // The index is taken, which is found out when the reservation is written.
        expect(await throwing(begin(2, 900n, 5, { journaled: false }))).toThrow();
        expect(await spentAt(5)).toBe(10n);
        await setBudget(store, null);
        await begin(3, 5000n);
        await store.webhookEndpoints.remove(WALLET, 'ep_1');
        await setBudget(store, budget(9000n));
        await begin(4, 3900n);
        expect([await notices(), told]).toEqual([[], 0]);
      });
    });

    test('whatever is asked for at once, what is granted fits the budget', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.bigInt(1n, 400n), { minLength: 1, maxLength: 30 }),
          async (amounts) => {
            const fresh = await open();
            await setBudget(fresh, budget(1000n, 'total'));
            const results = await Promise.allSettled(
              amounts.map((amountMsat, at) => spend(at + 1, amountMsat, 5, fresh)),
            );
            const granted = amounts.filter((_, at) => results[at]?.status === 'fulfilled');
            const sum = granted.reduce((total, amount) => total + amount, 0n);
            expect(sum).toBeLessThanOrEqual(1000n);
            expect(await spentAt(5, fresh)).toBe(sum);
            await fresh.close();
          },
        ),
        { numRuns: Math.ceil(rounds(12, 40) * runsShare) },
      );
    }, 60_000);

    test('what completes counts with its fees, what fails or is abandoned is given back', async () => {
      await setBudget(store, budget(10_000n));
      for (const at of [1, 2, 3]) await spend(at, 2000n, 1000);
      expect(await spentAt(1000)).toBe(6000n);
      await observe(store, [sampleDone(1)]);
      await observe(store, [sampleFailed(2)]);
      await store.spends.abandon(WALLET, samplePayment(3).index, periodStart);
      expect(await spentAt(1000)).toBe(1005n);
      expect(await spentAt(1000 + DAY_MS)).toBe(0n);
    });

    test('a cost replaces its reservation in the period in which that was made, however late it is known', async () => {
      await setBudget(store, budget(10_000n));
      await spend(1, 2000n, 1000);
      await spend(2, 3000n, 1000 + DAY_MS);
      await observe(store, [sampleDone(1, { updatedAtMs: 5 * DAY_MS, finalizedAtMs: 5 * DAY_MS })]);
      expect([await spentAt(1000), await spentAt(1000 + DAY_MS)]).toEqual([4005n, 3000n]);
      await observe(store, [sampleFailed(2)]);
      expect([await spentAt(1000), await spentAt(1000 + DAY_MS)]).toEqual([1005n, 0n]);
    });

    test('an end that is told again changes no sum again', async () => {
      await setBudget(store, budget(10_000n));
      await spend(1, 2000n, 1000);
      for (const _ of [1, 2]) await observe(store, [sampleDone(1)]);
      expect(await spentAt(1000)).toBe(1005n);
    });

    test('a completed payment of unknown amount keeps what was reserved for it', async () => {
      await setBudget(store, budget(10_000n));
      const unknown = { amountMsat: null };
      await store.spends.begin(
        WALLET,
        newSpend(samplePayment(1, unknown), {
          journaled: false,
          reservation: { clientPk: CLIENT, amountMsat: 2000n, nowMs: 1000 },
        }),
        fits,
      );
      await observe(store, [sampleDone(1, unknown)]);
      expect(await spentAt(1000)).toBe(2000n);
    });

    test('a client without a row counts as having a budget, so it spends nothing', async () => {
      const standing = { budgetState: 'set', budget: null, spentMsat: 0n } as const;
      const of = (walletId: string) => store.budgets.get(walletId, CLIENT, 1000, periodStart);
      expect(await of(WALLET)).toEqual(standing);
      await addClient();
      expect(await of(WALLET)).toEqual({ ...standing, budgetState: 'none' });
      expect(await of('another wallet')).toEqual(standing);
    });

    test('a budget that is set later knows what was spent and is still pending', async () => {
      await addClient();
      await spend(1, 2000n, 1000);
      await spend(2, 300n, 1000);
      await observe(store, [sampleDone(1)]);
      expect(await store.budgets.get(WALLET, CLIENT, 1000, periodStart)).toEqual({
        budgetState: 'none',
        budget: null,
        spentMsat: 0n,
      });
      await setBudget(store, budget(10_000n));
      expect(await spentAt(1000)).toBe(1305n);
      await observe(store, [sampleFailed(2)]);
      expect(await spentAt(1000)).toBe(1005n);
    });

    test('another period sums the same spending anew; another amount leaves the sum', async () => {
      await setBudget(store, budget(10_000n));
      await spend(1, 2000n, 5 * DAY_MS);
      await spend(2, 3000n, 6 * DAY_MS);
      await setBudget(store, budget(20_000n));
      expect(await spentAt(6 * DAY_MS)).toBe(3000n);
      await setBudget(store, budget(20_000n, 'week'));
      expect(await spentAt(6 * DAY_MS)).toBe(5000n);
      await setBudget(store, null);
      expect(await store.budgets.get(WALLET, CLIENT, 1000, periodStart)).toMatchObject({
        budgetState: 'lifted',
        budget: null,
      });
      await setBudget(store, budget(20_000n, 'total'));
      expect(await spentAt(1)).toBe(5000n);
    });

    test('the sum of a month is not taken for that of its first day when the period changes', async () => {
      const [may1, may9] = [Date.UTC(2026, 4, 1), Date.UTC(2026, 4, 9)];
      await setBudget(store, budget(10_000n, 'month'));
      await spend(1, 2000n, may9);
      expect(await spentAt(may1)).toBe(2000n);
      await setBudget(store, budget(10_000n, 'day'));
      expect([await spentAt(may1), await spentAt(may9)]).toEqual([2000n, 2000n]);
    });

    test('what is not allowed writes nothing', async () => {
      await setBudget(store, budget(10n));
      const before = await countOf(store);
      expect(await rejection(spend(1, 11n, 1000))).toMatchObject({ kind: 'overBudget' });
      expect(await store.watches.has(WALLET)).toBe(false);
      expect(await store.spends.unfinished(WALLET)).toEqual([]);
      expect(await countOf(store)).toBe(before);
    });

    test('a rule is told of a budget whose row is missing', async () => {
      await store.clients.change(WALLET, () => ({
        records: [clientRecord({ budgetState: 'set' })],
        budgets: [],
      }));
      expect(await store.budgets.get(WALLET, CLIENT, 1, periodStart)).toEqual({
        budgetState: 'set',
        budget: null,
        spentMsat: 0n,
      });
    });

    test('a named reservation is held once however often it is made, and settled by its true cost', async () => {
      await setBudget(store, budget(1000n));
      const reserve = (amountMsat: bigint) =>
        store.spends.reserve(WALLET, 'channel a', { clientPk: CLIENT, amountMsat, nowMs: 1 }, fits);
      await reserve(700n);
      await reserve(800n);
      expect(await spentAt(1)).toBe(800n);
      expect(await rejection(reserve(1001n))).toMatchObject({ kind: 'overBudget' });
      expect(await spentAt(1)).toBe(800n);
      await store.spends.settle(WALLET, 'channel a', 250n, periodStart);
      expect(await spentAt(1)).toBe(250n);
      await store.spends.settle(WALLET, 'channel a', 0n, periodStart);
      expect(await spentAt(1)).toBe(250n);
    });

    test('what was settled under a name is not counted again by a repeat, whose budget may be used up', async () => {
      await setBudget(store, budget(1000n));
      const reserve = (amountMsat: bigint) =>
        store.spends.reserve(WALLET, 'channel a', { clientPk: CLIENT, amountMsat, nowMs: 1 }, fits);
      await reserve(900n);
      await store.spends.settle(WALLET, 'channel a', 700n, periodStart);
      await reserve(900n);
      expect(await spentAt(1)).toBe(700n);
      await store.spends.settle(WALLET, 'channel a', 700n, periodStart);
      expect(await spentAt(1)).toBe(700n);
    });

    test('periods begin when the rule that is given says so', async () => {
      const tens = (_: BudgetPeriod, atMs: number) => atMs - (atMs % 10);
      const spentSince = async (nowMs: number) =>
        (await store.budgets.get(WALLET, CLIENT, nowMs, tens)).spentMsat;
      const reserve = (name: string, amountMsat: bigint, nowMs: number) =>
        store.spends.reserve(
          WALLET,
          name,
          { clientPk: CLIENT, amountMsat, nowMs },
          { ...fits, periodStart: tens },
        );
      await reserve('a', 100n, 17);
      await store.clients.change(WALLET, () => ({
        records: [clientRecord({ budgetState: 'set' })],
        budgets: [{ clientPk: CLIENT, budget: budget(1000n), periodStart: tens }],
      }));
      await reserve('b', 20n, 19);
      await reserve('c', 3n, 20);
      await store.spends.settle(WALLET, 'a', 50n, tens);
      expect([await spentSince(10), await spentSince(20), await spentSince(30)]).toEqual([
        73n,
        3n,
        0n,
      ]);
    });

    test('sums hold more than a double or 64 bits can', async () => {
      const most = 2_100_000_000_000_000_001n;
      for (const at of [1, 2, 3, 4, 5]) await spend(at, most, 1);
      await setBudget(store, budget(most));
      expect(await spentAt(1)).toBe(5n * most);
    });

    /** Days since the epoch: ten weeks and three changes of the month. */
    const [FIRST_DAY, LAST_DAY] = [18_000, 18_070];

    type Step =
      | { readonly do: 'spend'; readonly msat: bigint; readonly day: number }
      | { readonly do: 'complete' | 'fail' | 'abandon'; readonly which: number }
      | { readonly do: 'budget'; readonly period: BudgetPeriod | null };

    const steps = fc.array(
      fc.oneof(
        fc.record({
          do: fc.constant('spend' as const),
          msat: fc.bigInt(1n, 10n ** 15n),
          day: fc.integer({ min: FIRST_DAY, max: LAST_DAY }),
        }),
        fc.record({
          do: fc.constantFrom('complete' as const, 'fail' as const, 'abandon' as const),
          which: fc.nat(20),
        }),
        fc.record({
          do: fc.constant('budget' as const),
          period: fc.constantFrom<BudgetPeriod | null>('day', 'week', 'month', 'total', null),
        }),
      ),
      { maxLength: 40, size: 'max' },
    );

    test('the running sum of a period is the sum of its payments and of later ones, whatever happened in which order, and of one before the newest 16 never less', async () => {
      await fc.assert(
        fc.asyncProperty(steps, async (script: Step[]) => {
          const fresh = await open();
          const naive: { atMs: number; msat: bigint; open: boolean }[] = [];
          let period: BudgetPeriod | null = null;
          for (const step of script) {
            if (step.do === 'budget') {
              period = step.period;
              await setBudget(fresh, period && budget(10n ** 18n, period));
            } else if (step.do === 'spend') {
              const atMs = step.day * DAY_MS + 7;
              naive.push({ atMs, msat: step.msat, open: true });
              await spend(naive.length, step.msat, atMs, fresh);
            } else {
              const number = step.which + 1;
              const entry = naive[step.which];
              if (!entry?.open) continue;
              entry.open = false;
              entry.msat = step.do === 'complete' ? 1005n : 0n;
              if (step.do === 'complete') await observe(fresh, [sampleDone(number)]);
              else if (step.do === 'fail') await observe(fresh, [sampleFailed(number)]);
              else await fresh.spends.abandon(WALLET, samplePayment(number).index, periodStart);
            }
          }
          const kind = period;
          for (let day = FIRST_DAY; day <= LAST_DAY; day++) {
            const startOf = (atMs: number) => (kind ? budgetWindow(kind, atMs).startsAtMs : 0);
            const startsAtMs = startOf(day * DAY_MS);
            const expected = naive
              .filter(({ atMs }) => kind !== null && startOf(atMs) >= startsAtMs)
              .reduce((total, { msat }) => total + msat, 0n);
            const starts = [...new Set(naive.map(({ atMs }) => startOf(atMs)))].sort(
              (a, b) => b - a,
            );
            const spent = await spentAt(day * DAY_MS, fresh);
            if (startsAtMs > (starts[15] ?? -1)) expect(spent).toBe(expected);
            else expect(spent >= expected).toBe(true);
          }
          await fresh.close();
        }),
        { numRuns: Math.ceil(rounds(15, 60) * runsShare) },
      );
    }, 120_000);
  });
}
