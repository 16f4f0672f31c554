import { beforeEach, describe, expect, test } from 'bun:test';
import type { Store, Watch } from '../../../src/store/ports.ts';
import { samplePayment } from '../../support/sample-payment.ts';
import { WALLET } from '../../support/store-steps.ts';

/** What deliveries are owed for: {@link WatchStore}. */
export function watchContract(open: () => Promise<Store>): void {
  describe('watches', () => {
    let store: Store;
    beforeEach(async () => {
      store = await open();
    });

    test('a wallet has a watch of any kind once it was added, and is named once however many it has', async () => {
      const watches: Watch[] = [
        { kind: 'payment', index: samplePayment(1).index },
        { kind: 'held', index: samplePayment(1).index },
        { kind: 'offer', offerId: 'cd'.repeat(32) },
        { kind: 'address', address: 'bcrt1qx' },
      ];
      expect(await store.watches.wallets()).toEqual([]);
      for (const [at, watch] of watches.entries()) {
        const wallet = `0${at}`;
        expect(await store.watches.has(wallet)).toBe(false);
        await store.watches.add(wallet, watch);
        await store.watches.add(wallet, watch);
        expect(await store.watches.has(wallet)).toBe(true);
      }
      for (const watch of watches) await store.watches.add(WALLET, watch);
      expect((await store.watches.wallets()).toSorted()).toEqual(['00', '01', '02', '03', WALLET]);
    });
  });
}
