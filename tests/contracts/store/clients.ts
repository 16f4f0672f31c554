import { beforeEach, describe, expect, test } from 'bun:test';
import type { ClientChanges, Store } from '../../../src/store/ports.ts';
import { periodStart } from '../../../src/wallet/budget/budget.ts';
import { throwing } from '../../support/rejection.ts';
import { CLIENT, clientRecord, countOf, setBudget, WALLET } from '../../support/store-steps.ts';

/** Clients of all wallets: {@link ClientStore}. */
export function clientContract(open: () => Promise<Store>): void {
  describe('clients', () => {
    const OTHER = 'cd'.repeat(32);
    let store: Store;
    beforeEach(async () => {
      store = await open();
    });

    const changes = (change: Partial<ClientChanges>): ClientChanges => ({
      records: [],
      budgets: [],
      ...change,
    });
    const change = (wanted: Partial<ClientChanges>, walletId = WALLET) =>
      store.clients.change(walletId, () => changes(wanted));

    test('a client is found by its key as it was written, and again as it was changed', async () => {
      const record = clientRecord({
        parentPk: OTHER,
        label: 'till',
        expiresAtMs: 9,
        permissions: ['pay_invoice'],
        endedTokenIds: ['3', '4'],
        approveAboveMsat: 7n,
        origins: ['https://a.example', 'http://localhost:8080'],
        own: true,
      });
      await change({ records: [record] });
      expect(await store.clients.find(CLIENT)).toEqual(record);
      const after = {
        ...record,
        revokedAtMs: 5,
        token: null,
        endedTokenIds: [],
        secretHash: '00',
        origins: [],
      };
      await change({ records: [after] });
      expect(await store.clients.find(CLIENT)).toEqual(after);
      expect(await store.clients.find(OTHER)).toBeNull();
    });

    test("a wallet's clients are listed oldest first, ended ones too, and no other wallet's", async () => {
      await change({
        records: [
          clientRecord({ createdAtMs: 7 }),
          clientRecord({ clientPk: '01', createdAtMs: 3, revokedAtMs: 4 }),
          clientRecord({ clientPk: '00', createdAtMs: 7 }),
        ],
      });
      await change({ records: [clientRecord({ clientPk: '02', walletId: OTHER })] }, OTHER);
      await change({ records: [clientRecord({ createdAtMs: 7, label: 'changed' })] });
      const all = (await store.clients.list(WALLET)).map(({ clientPk }) => clientPk);
      expect(all).toEqual(['01', CLIENT, '00']);
    });

    test('a change is whole or not at all', async () => {
      await change({ records: [clientRecord()] });
      const count = await countOf(store);
      const thrown = store.clients.change(WALLET, () => {
        throw new Error('no');
      });
      expect(await throwing(thrown)).toThrow('no');
      // The second record belongs to another wallet, which is found out when the first is written already.
      const foreign = change({
        records: [
          clientRecord({ label: 'new' }),
          clientRecord({ clientPk: '01', walletId: OTHER }),
        ],
        budgets: [{ clientPk: CLIENT, budget: null, periodStart }],
      });
      expect(await throwing(foreign)).toThrow('another wallet');
      expect(await store.clients.list(WALLET)).toEqual([clientRecord()]);
      expect(await countOf(store)).toBe(count);
    });

    test("no wallet takes over another wallet's client", async () => {
      await change({ records: [clientRecord()] });
      const taken = change(
        { records: [clientRecord({ walletId: OTHER, secretHash: '00' })] },
        OTHER,
      );
      expect(await throwing(taken)).toThrow('another wallet');
      expect(await store.clients.find(CLIENT)).toEqual(clientRecord());
    });

    test('changes asked for at once see each other', async () => {
      const addOne = (clientPk: string) =>
        store.clients.change(WALLET, (records) =>
          changes({ records: records.length < 2 ? [clientRecord({ clientPk })] : [] }),
        );
      await Promise.all(['01', '02', '03', '04'].map(addOne));
      expect(await store.clients.list(WALLET)).toHaveLength(2);
    });

    test('whether an active client has a budget', async () => {
      expect(await store.clients.anyBudget(5)).toBe(false);
      await setBudget(store, { amountMsat: 1n, period: 'day', maxPaymentMsat: null });
      expect(await store.clients.anyBudget(5)).toBe(true);
      await change({ records: [clientRecord({ budgetState: 'set', expiresAtMs: 5 })] });
      expect([await store.clients.anyBudget(4), await store.clients.anyBudget(5)]).toEqual([
        true,
        false,
      ]);
      await change({ records: [clientRecord({ budgetState: 'set', revokedAtMs: 5 })] });
      expect(await store.clients.anyBudget(4)).toBe(false);
      await change({ records: [clientRecord({ budgetState: 'lifted' })] });
      expect(await store.clients.anyBudget(4)).toBe(false);
    });
  });
}
