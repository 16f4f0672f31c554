import { beforeEach, describe, expect, test } from 'bun:test';
import type { ClientRecord } from '../../../src/model/client.ts';
import type { Store } from '../../../src/store/ports.ts';
import { periodStart } from '../../../src/wallet/budget.ts';
import { samplePayment } from '../../support/sample-payment.ts';
import {
  CLIENT,
  clientRecord,
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
      const grewBy = async (work: Promise<unknown>, from = store.identity.count()) => {
        const before = await from;
        await work;
        return (await store.identity.count()) - before;
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
      expect(await grewBy(change([]))).toBe(0);
      expect(await grewBy(change([clientRecord()]))).toBe(1);
      expect(await grewBy(begin(1))).toBe(0);
      await setBudget(store, { amountMsat: 9n, period: 'day', maxPaymentMsat: null });
      expect(await grewBy(begin(2))).toBe(1);
      expect(await grewBy(reserve('x'))).toBe(1);
      expect(await grewBy(store.spends.settle(WALLET, 'x', 1n, periodStart))).toBe(0);
      await setBudget(store, null);
      expect(await grewBy(reserve('y'))).toBe(1);
    });

    test('a store has an identity of its own, and its count is lifted over a marker', async () => {
      const other = await open();
      expect(store.identity.id).toMatch(/^[0-9a-f]{32}$/);
      expect(store.identity.secret).toHaveLength(32);
      expect(other.identity.id).not.toBe(store.identity.id);
      expect(other.identity.secret).not.toEqual(store.identity.secret);
      expect(await store.identity.advance()).toBe(1);
      expect(await store.identity.advance(10)).toBe(11);
      expect(await store.identity.advance(10)).toBe(12);
      expect(await store.identity.count()).toBe(12);
    });
  });
}
