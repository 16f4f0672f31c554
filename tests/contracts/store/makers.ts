import { describe, expect, test } from 'bun:test';
import type { Store } from '../../../src/store/ports.ts';
import { samplePayment } from '../../support/sample-payment.ts';
import { fits, newSpend, WALLET } from '../../support/store-steps.ts';

const [ONE, OTHER] = ['01'.repeat(32), '02'.repeat(32)];

/** Who made what: {@link Makers}. */
export function makerContract(open: () => Promise<Store>): void {
  describe('makers', () => {
    test('are kept once, for their wallet alone', async () => {
      const { makers } = await open();
      expect(await makers.keep(WALLET, 'a', ONE)).toBe(ONE);
      expect(await makers.keep(WALLET, 'a', OTHER)).toBe(ONE);
      expect(await makers.keep(WALLET, 'b', OTHER)).toBe(OTHER);
      expect(await makers.of(WALLET, ONE, ['a', 'b', 'c'])).toEqual(new Set(['a']));
      expect(await makers.of(WALLET, OTHER, ['a', 'b'])).toEqual(new Set(['b']));
      expect(await makers.of(OTHER, ONE, ['a', 'b'])).toEqual(new Set());
      expect(await makers.of(WALLET, ONE, [])).toEqual(new Set());
    });

    test('of a spend are kept with it, and gone where nothing was sent; the owner has none', async () => {
      const store = await open();
      const { spends, makers } = store;
      const keys = [1, 2, 3].map((at) => samplePayment(at).index);
      for (const [at, caller] of [ONE, ONE, 'owner'].entries()) {
        await spends.begin(WALLET, newSpend(samplePayment(at + 1), { caller }), fits);
      }
      expect(await makers.of(WALLET, ONE, keys)).toEqual(new Set(keys.slice(0, 2)));
      expect(await makers.of(WALLET, 'owner', keys)).toEqual(new Set());
      await spends.abandon(WALLET, samplePayment(1).index, fits.periodStart);
      expect(await makers.of(WALLET, ONE, keys)).toEqual(new Set(keys.slice(1, 2)));
    });
  });
}
