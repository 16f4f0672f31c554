import { afterEach, describe, expect, test } from 'bun:test';
import { encodePayment } from '../../../src/model/payment.ts';
import type { Store } from '../../../src/store/ports.ts';
import { samplePayment as payment, sampleDone } from '../../support/sample-payment.ts';
import { fits, newSpend, observe, WALLET } from '../../support/store-steps.ts';
import type { OpenedStore } from '../store.ts';

const DAMAGED = ['', '{"index":', 'null', '{}', '"a"', JSON.stringify(encodePayment(payment(2)))];

/** Spends whose payment cannot be read (docs/decisions.md 179): {@link SpendStore}. */
export function damagedSpendContract(open: () => Promise<OpenedStore>): void {
  describe('spends whose payment cannot be read', () => {
    const opened: Store[] = [];
    afterEach(async () => {
      for (const store of opened.splice(0)) await store.close();
    });

    /** A store with three spends, the first of which has that text; null where only the store itself can write. */
    async function damaged(text: string, journaled: boolean) {
      const { store, damageSpend } = await open();
      opened.push(store);
      if (damageSpend === undefined) return null;
      for (const at of [1, 2, 3]) {
        await store.spends.begin(WALLET, newSpend(payment(at), { journaled }), fits);
      }
      await damageSpend(payment(1).index, text);
      return store;
    }
    const unfinished = async ({ spends }: Store) =>
      (await spends.unfinished(WALLET)).map(({ payment: { index } }) => index);

    for (const text of DAMAGED) {
      test(`are left out and stop no other, as with ${text.slice(0, 12) || 'nothing'}`, async () => {
        const store = await damaged(text, true);
        if (store === null) return;
        expect(await unfinished(store)).toEqual([payment(2).index, payment(3).index]);
        expect(await store.spends.get(WALLET, payment(1).index)).toBeNull();
      });
    }

    for (const journaled of [true, false]) {
      test(`end when the node tells of it, ${journaled ? 'in' : 'without'} the journal`, async () => {
        const store = await damaged('{', journaled);
        if (store === null) return;
        for (const told of [payment, sampleDone]) {
          await observe(store, [told(1), told(2)], { journaled });
        }
        expect(await unfinished(store)).toEqual([payment(3).index]);
        await observe(store, [sampleDone(3)], { journaled });
        expect(await store.spends.wallets()).toEqual([]);
      });
    }
  });
}
