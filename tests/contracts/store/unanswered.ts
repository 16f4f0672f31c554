import { beforeEach, describe, expect, test } from 'bun:test';
import { idOf, type Payment, updatedIndexOf } from '../../../src/model/payment.ts';
import type { Store } from '../../../src/store/ports.ts';
import { periodStart } from '../../../src/wallet/budget/budget.ts';
import { sampleDone, samplePayment } from '../../support/sample-payment.ts';
import { fits, newSpend, observe, WALLET } from '../../support/store-steps.ts';

/** What readers see of a spend whose request has no answer yet (docs/decisions.md 168). */
export function unansweredContract(open: () => Promise<Store>): void {
  describe('a spend without an answer', () => {
    let store: Store;
    beforeEach(async () => {
      store = await open();
    });

    const one = samplePayment(1);
    const begin = (payment: Payment, wallet = WALLET) =>
      store.spends.begin(wallet, newSpend(payment, { afterAttempt: 3 }), fits);
    const incoming = (number: number) => samplePayment(number, { direction: 'inbound' });
    const receive = (number: number) => observe(store, [incoming(number)], { journaled: true });
    const told = () => store.journal.updatedAfter(WALLET, null, 10);
    const indexes = async () => (await told()).map(({ index }) => index);

    test('is told to no reader, and found by who has to know it', async () => {
      await begin(one);
      expect([await told(), await store.journal.tip(WALLET)]).toEqual([[], null]);
      const first = updatedIndexOf({ ...one, updatedAtMs: 0 });
      expect(await store.journal.updatedAfter(WALLET, first, 10)).toEqual([]);
      expect(await store.journal.open(WALLET)).toEqual([one]);
      expect(await store.journal.get(WALLET, one.index)).toEqual(one);
      expect(await store.journal.latest(WALLET, idOf(one))).toEqual(one);
      await receive(5);
      expect(await indexes()).toEqual([incoming(5).index]);
      expect(await store.journal.tip(WALLET)).toBe(updatedIndexOf((await told())[0] as Payment));
    });

    test('is shown once, after all that readers were told before', async () => {
      await begin(one);
      await receive(50);
      const tip = await store.journal.tip(WALLET);
      const shown = await store.journal.show(WALLET, one.index);
      expect(shown).toMatchObject({ index: one.index, status: 'pending', updatedAtMs: 51 });
      expect(await store.journal.updatedAfter(WALLET, tip, 10)).toEqual([shown as Payment]);
      expect(await store.journal.show(WALLET, one.index)).toBeNull();
      expect(await store.journal.show(WALLET, incoming(50).index)).toBeNull();
      expect(await store.journal.show(WALLET, samplePayment(2).index)).toBeNull();
      expect(await indexes()).toEqual([incoming(50).index, one.index]);
    });

    test('is shown by what the node says of it, also where that changes nothing', async () => {
      await begin(one);
      await receive(50);
      const { changed } = await observe(store, [one], { journaled: true, attempt: 4 });
      expect(changed).toMatchObject([{ index: one.index, status: 'pending', updatedAtMs: 51 }]);
      expect(await indexes()).toEqual([incoming(50).index, one.index]);
      expect(await store.spends.get(WALLET, one.index)).toMatchObject({ state: 'known' });
      const again = await observe(store, [one], { journaled: true, attempt: 4 });
      expect(again.changed).toEqual([]);
      expect(await store.journal.show(WALLET, one.index)).toBeNull();
    });

    test('is shown as pending where the node reports what cannot be so', async () => {
      await begin(one);
      const unproven = sampleDone(1, { preimage: '00'.repeat(32) });
      await observe(store, [unproven], { journaled: true, attempt: 4 });
      expect(await told()).toMatchObject([{ index: one.index, status: 'pending' }]);
    });

    test('is shown once in a batch that tells of it twice', async () => {
      await begin(one);
      const twice = await observe(store, [one, one], { journaled: true, attempt: 4 });
      expect(twice.changed).toHaveLength(1);
      expect(await told()).toHaveLength(1);
    });

    test('leaves nothing behind when it is given up', async () => {
      await receive(50);
      const tip = await store.journal.tip(WALLET);
      await begin(one);
      await store.spends.abandon(WALLET, one.index, periodStart);
      expect(await store.journal.show(WALLET, one.index)).toBeNull();
      expect(await store.journal.get(WALLET, one.index)).toBeNull();
      expect(await store.journal.tip(WALLET)).toBe(tip);
      await receive(51);
      expect(await indexes()).toEqual([incoming(50).index, incoming(51).index]);
    });

    test('stands beside others, in the same millisecond and in another wallet', async () => {
      const another = 'cd'.repeat(32);
      const spends = [1, 2, 3].map((number) => samplePayment(number, { createdAtMs: 7 }));
      for (const spend of spends) await begin(spend);
      await begin(one, another);
      expect(await told()).toEqual([]);
      expect(await store.journal.open(WALLET)).toHaveLength(3);
      for (const { index } of spends.toReversed()) await store.journal.show(WALLET, index);
      expect(await indexes()).toEqual(spends.toReversed().map(({ index }) => index));
      expect(await store.journal.tip(another)).toBeNull();
    });
  });
}
