import { beforeEach, describe, expect, test } from 'bun:test';
import { idOf, type Payment, updatedIndexOf } from '../../../src/model/payment.ts';
import { paymentIndex, receiveId } from '../../../src/model/payment-index.ts';
import type { Store } from '../../../src/store/ports.ts';
import {
  samplePayment as payment,
  sampleDone,
  sampleFailed,
} from '../../support/sample-payment.ts';
import { fits, newSpend, observe as observeIn, WALLET } from '../../support/store-steps.ts';

const OTHER = 'cd'.repeat(32);
const isPayment = (payment: Payment | null): payment is Payment => payment !== null;

/** Payments of nodes that keep no order of their own: {@link PaymentJournal}. */
export function journalContract(open: () => Promise<Store>): void {
  describe('the journal', () => {
    let store: Store;
    beforeEach(async () => {
      store = await open();
    });
    const observe = (payments: readonly Payment[], journaled = false) =>
      observeIn(store, payments, { journaled });

    test('assigns strictly increasing times, keeps identity and note, and ignores what says nothing new', async () => {
      const onchain = { rail: 'onchain', kind: 'onchain' } as const;
      const one = payment(1, { ...onchain, personalNote: 'mine' });
      await store.spends.begin(WALLET, newSpend(one), fits);
      const later = { index: paymentIndex(2, idOf(one)), createdAtMs: 2 };
      const seen = sampleDone(1, { ...onchain, ...later });
      const { changed } = await observe([seen], true);
      expect(changed).toHaveLength(1);
      expect(changed[0]).toMatchObject({
        index: one.index,
        createdAtMs: 1,
        personalNote: 'mine',
        status: 'completed',
      });
      expect((await observe([seen], true)).changed).toEqual([]);
      await observe([payment(3), payment(4), payment(5)], true);
      const all = await store.journal.updatedAfter(WALLET, null, 10);
      const times = all.map(({ updatedAtMs }) => updatedAtMs);
      expect(new Set(times).size).toBe(4);
      expect(times).toEqual(times.toSorted((a, b) => a - b));
      const [first] = all;
      expect(
        await store.journal.updatedAfter(WALLET, first ? updatedIndexOf(first) : null, 10),
      ).toEqual(all.slice(1));
      expect((await store.journal.open(WALLET)).map(({ createdAtMs }) => createdAtMs)).toEqual([
        3, 4, 5,
      ]);
    });

    test('the unfinished on-chain payments are found among all that are unfinished', async () => {
      const onchain = { ...payment(7), index: paymentIndex(7, receiveId('aa'.repeat(32), 0)) };
      const over = { ...onchain, index: paymentIndex(8, receiveId('bb'.repeat(32), 0)) };
      await observe([payment(3), onchain, { ...over, rail: 'onchain', status: 'completed' }], true);
      const found = await store.journal.openOnchain(WALLET);
      expect(found.map(({ index }) => index)).toEqual([onchain.index]);
    });

    test('a payment never leaves a terminal state', async () => {
      await observe([sampleDone(1)], true);
      expect((await observe([sampleFailed(1)], true)).changed).toEqual([]);
      expect((await store.journal.get(WALLET, payment(1).index))?.status).toBe('completed');
    });

    test('a note is set and cleared as an update, and set on nothing where there is no payment', async () => {
      await observe([payment(1), payment(2)], true);
      const tip = await store.journal.tip(WALLET);
      const { index } = payment(1);
      const noted = await store.journal.setPersonalNote(WALLET, index, 'mine', 50);
      expect(noted).toMatchObject({ index, personalNote: 'mine' });
      expect(await store.journal.updatedAfter(WALLET, tip, 10)).toEqual([noted].filter(isPayment));
      expect(await store.journal.setPersonalNote(WALLET, index, null, 51)).toMatchObject({
        personalNote: null,
      });
      expect(await store.journal.setPersonalNote(WALLET, payment(3).index, 'x', 52)).toBeNull();
      expect(await store.journal.setPersonalNote(OTHER, index, 'x', 53)).toBeNull();
    });

    test('updates are read in pages that leave nothing out', async () => {
      await observe(
        [1, 2, 3, 4, 5].map((number) => payment(number)),
        true,
      );
      const read: Payment[] = [];
      for (;;) {
        const last = read.at(-1);
        const page = await store.journal.updatedAfter(
          WALLET,
          last ? updatedIndexOf(last) : null,
          2,
        );
        expect(page.length).toBeLessThanOrEqual(2);
        if (page.length === 0) break;
        read.push(...page);
      }
      expect(read).toEqual(await store.journal.updatedAfter(WALLET, null, 100));
      const [newest] = read.slice(-1);
      expect(await store.journal.tip(WALLET)).toBe(newest ? updatedIndexOf(newest) : null);
    });

    test('is empty for a wallet that has none, whatever others have', async () => {
      await observe([payment(1)], true);
      expect(await store.journal.tip(OTHER)).toBeNull();
      expect(await store.journal.updatedAfter(OTHER, null, 10)).toEqual([]);
      expect(await store.journal.get(OTHER, payment(1).index)).toBeNull();
      expect(await store.journal.latest(OTHER, idOf(payment(1)))).toBeNull();
      expect(await store.journal.open(OTHER)).toEqual([]);
    });
  });
}
