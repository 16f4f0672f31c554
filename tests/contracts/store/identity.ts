import { beforeEach, describe, expect, test } from 'bun:test';
import type { ClientRecord } from '../../../src/model/clients/client.ts';
import type { Store } from '../../../src/store/ports.ts';
import { periodStart } from '../../../src/wallet/budget/budget.ts';
import { samplePayment } from '../../support/sample-payment.ts';
import {
  CLIENT,
  clientRecord,
  countOf,
  fits,
  newSpend,
  setBudget,
  WALLET,
} from '../../support/store-steps.ts';

/** Which store it is and how far it has come: {@link StoreIdentity}. */
export function identityContract(open: () => Promise<Store>): void {
  describe('identity', () => {
    let store: Store;
    beforeEach(async () => {
      store = await open();
    });
    const change = (records: readonly ClientRecord[]) =>
      store.clients.change(WALLET, () => ({ records, budgets: [] }));

    test('the count grows with every change of a client and every reservation of a budget, and with nothing else', async () => {
      const grewBy = async (work: () => Promise<unknown>) => {
        const before = await countOf(store);
        await work();
        return (await countOf(store)) - before;
      };
      const begin = (number: number) =>
        store.spends.begin(
          WALLET,
          newSpend(samplePayment(number), {
            reservation: { clientPk: CLIENT, amountMsat: 1n, nowMs: 1 },
          }),
          fits,
        );
      const reserve = (name: string) =>
        store.spends.reserve(WALLET, name, { clientPk: CLIENT, amountMsat: 1n, nowMs: 1 }, fits);
      expect(await grewBy(() => change([]))).toBe(0);
      expect(await grewBy(() => change([clientRecord()]))).toBe(1);
      expect(await grewBy(() => begin(1))).toBe(0);
      await setBudget(store, { amountMsat: 9n, period: 'day', maxPaymentMsat: null });
      expect(await grewBy(() => begin(2))).toBe(1);
      expect(await grewBy(() => reserve('x'))).toBe(1);
      expect(await grewBy(() => store.spends.settle(WALLET, 'x', 1n, periodStart))).toBe(0);
      await setBudget(store, null);
      expect(await grewBy(() => reserve('y'))).toBe(1);
    });

    test('a store has an identity of its own, and its count is lifted over a marker', async () => {
      const other = await open();
      expect(store.identity.id).toMatch(/^[0-9a-f]{32}$/);
      expect(store.identity.secret).toHaveLength(32);
      expect(other.identity.id).not.toBe(store.identity.id);
      expect(other.identity.secret).not.toEqual(store.identity.secret);
      expect(await store.identity.advance()).toMatchObject({ count: 1 });
      expect(await store.identity.confirm(10)).toMatchObject({ count: 11 });
      expect(await store.identity.confirm(10)).toMatchObject({ count: 12 });
      expect(await countOf(store)).toBe(12);
    });

    test('each advance has a word of its own, and the store knows every one of them', async () => {
      const { identity } = store;
      const made = [await identity.advance(), await identity.advance()];
      await change([clientRecord()]);
      const { newest } = await identity.standing(null);
      expect(newest.count).toBe(3);
      const words = [...made, newest].map(({ word }) => word);
      expect(new Set(words).size).toBe(3);
      for (const word of words) expect(word).toMatch(/^[0-9a-f]{16}$/);
      for (const one of [...made, newest]) {
        expect(await identity.standing(one)).toMatchObject({ newest, lineage: 'same' });
      }
    });

    test('an advance that it has not made is ahead of it, or on another branch; one without a word is judged by its count', async () => {
      const { identity } = store;
      for (let at = 0; at < 3; at++) await identity.advance();
      const lineage = async (count: number, word: string | null) =>
        (await identity.standing({ count, word })).lineage;
      expect(await lineage(4, 'aa'.repeat(8))).toBe('behind');
      expect(await lineage(4, null)).toBe('behind');
      for (const count of [1, 2, 3]) {
        expect(await lineage(count, 'aa'.repeat(8))).toBe('branched');
        expect(await lineage(count, null)).toBe('same');
      }
    });

    test('a distrusted store stays so, whatever is written, until it is confirmed, and what was seen before fits then', async () => {
      const { identity } = store;
      const isUnconfirmed = async () => (await identity.standing(null)).isUnconfirmed;
      expect(await isUnconfirmed()).toBe(false);
      await identity.distrust(7);
      await identity.distrust(2);
      await identity.advance();
      await change([clientRecord()]);
      expect(await isUnconfirmed()).toBe(true);
      const other = { count: 7, word: 'aa'.repeat(8) };
      const confirmed = await identity.confirm(3);
      expect(confirmed.count).toBe(8);
      expect(await identity.standing(other)).toEqual({
        newest: confirmed,
        lineage: 'same',
        isUnconfirmed: false,
      });
      expect((await identity.standing({ ...confirmed, word: other.word })).lineage).toBe(
        'branched',
      );
    });
  });
}
