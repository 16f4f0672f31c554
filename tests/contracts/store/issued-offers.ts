import { beforeEach, describe, expect, test } from 'bun:test';
import type { Payment } from '../../../src/model/payment.ts';
import type { Store } from '../../../src/store/ports.ts';
import { sampleDone } from '../../support/sample-payment.ts';
import { observe, WALLET } from '../../support/store-steps.ts';

const OFFER = 'cd'.repeat(32);

/** What the wallet keeps of its offers: {@link IssuedOffers} (docs/decisions.md 184). */
export function issuedOfferContract(open: () => Promise<Store>): void {
  describe('issued offers', () => {
    let store: Store;
    beforeEach(async () => {
      store = await open();
    });
    const arrives = async (number: number, change: Partial<Payment> = {}) => {
      const payment = sampleDone(number, { direction: 'inbound', offerId: OFFER, ...change });
      const { changed } = await observe(store, [payment], { journaled: true, cursor: null });
      return changed[0]?.externalId;
    };

    test('are kept once: with the same id again, and with no other', async () => {
      expect(await store.offers.keep(WALLET, OFFER, 'plan-3')).toBe(true);
      expect(await store.offers.keep(WALLET, OFFER, 'plan-3')).toBe(true);
      expect(await store.offers.keep(WALLET, OFFER, 'plan-4')).toBe(false);
      expect(await store.offers.keep(WALLET, OFFER, null)).toBe(false);
      expect(await store.offers.keep(WALLET, 'ef'.repeat(32), null)).toBe(true);
      expect(await store.offers.keep(WALLET, 'ef'.repeat(32), 'plan-3')).toBe(false);
      expect(await arrives(1)).toBe('plan-3');
    });

    test('give their id to each payment that arrives on them, and to no other', async () => {
      await store.offers.keep(WALLET, OFFER, 'plan-3');
      expect([await arrives(1), await arrives(2)]).toEqual(['plan-3', 'plan-3']);
      expect(await arrives(3, { offerId: 'ef'.repeat(32) })).toBeNull();
      expect(await arrives(4, { offerId: null })).toBeNull();
      expect(await arrives(5, { direction: 'outbound' })).toBeNull();
      const stored = await store.journal.updatedAfter(WALLET, null, 10);
      expect(stored.map(({ externalId }) => externalId)).toEqual([
        'plan-3',
        'plan-3',
        null,
        null,
        null,
      ]);
    });

    test('of another wallet are its own', async () => {
      await store.offers.keep('ef'.repeat(32), OFFER, 'plan-3');
      expect(await arrives(1)).toBeNull();
      expect(await store.offers.keep(WALLET, OFFER, 'plan-4')).toBe(true);
    });
  });
}
