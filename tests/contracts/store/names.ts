import { beforeEach, describe, expect, test } from 'bun:test';
import { idOf } from '../../../src/model/payment.ts';
import type { NameRecord, Store } from '../../../src/store/ports.ts';
import { sampleDone, sampleFailed, samplePayment } from '../../support/sample-payment.ts';
import { observe, WALLET } from '../../support/store-steps.ts';

const OTHER = 'cd'.repeat(32);

/** A name of {@link WALLET} on a node without offers, unless `change` says otherwise. */
export function nameRecord(change: Partial<NameRecord> = {}): NameRecord {
  return {
    walletId: WALLET,
    nodeKind: 'lnd',
    username: 'satoshi',
    offer: null,
    windowAtMs: 1_764_000_000_000,
    ...change,
  };
}

/** The names of wallets, and the places of their unpaid invoices: {@link NameStore}. */
export function nameContract(open: () => Promise<Store>): void {
  describe('names', () => {
    let store: Store;
    beforeEach(async () => {
      store = await open();
    });
    const put = (record: NameRecord) =>
      store.names.claim(record.walletId, record.username, () => record);

    test('a name is found by its wallet and by its username, and is null before', async () => {
      expect(await store.names.ofWallet(WALLET)).toBeNull();
      expect(await store.names.find('satoshi')).toBeNull();
      const record = nameRecord({ offer: 'lno1' });
      expect(await put(record)).toEqual(record);
      expect(await store.names.ofWallet(WALLET)).toEqual(record);
      expect(await store.names.find('satoshi')).toEqual(record);
      expect(await store.names.ofWallet(OTHER)).toBeNull();
    });

    test('a changed name replaces the one before, whose username is free again', async () => {
      await put(nameRecord());
      await put(nameRecord({ username: 'nakamoto' }));
      expect(await store.names.find('satoshi')).toBeNull();
      await put(nameRecord({ walletId: OTHER }));
      expect((await store.names.find('satoshi'))?.walletId).toBe(OTHER);
    });

    test('a claim is decided from what stands, and one that is refused writes nothing', async () => {
      const mine = await put(nameRecord());
      const theirs = await put(nameRecord({ walletId: OTHER, username: 'nakamoto' }));
      const refused = store.names.claim(WALLET, 'nakamoto', (standing) => {
        expect(standing).toEqual({ current: mine, holder: theirs });
        throw new Error('is taken');
      });
      expect(await refused.catch((error: Error) => error.message)).toBe('is taken');
      expect(await store.names.ofWallet(WALLET)).toEqual(mine);
    });

    test('of two claims of one username at the same time the second sees the first', async () => {
      const claim = (walletId: string) =>
        store.names.claim(walletId, 'satoshi', ({ holder }) => {
          if (holder) throw new Error('is taken');
          return nameRecord({ walletId });
        });
      const [first, second] = await Promise.allSettled([claim(WALLET), claim(OTHER)]);
      expect([first?.status, second?.status]).toEqual(['fulfilled', 'rejected']);
      expect((await store.names.find('satoshi'))?.walletId).toBe(WALLET);
    });

    const take = (
      seed: number,
      { nowMs = 1000, most = 2, mostOfSource = 9, source = 'a', wallet = WALLET } = {},
    ) =>
      store.names.takePlace(
        wallet,
        { id: idOf(samplePayment(seed)), source, expiresAtMs: nowMs + 100 },
        { nowMs, most, mostOfSource },
      );

    test('a wallet has no more places for unpaid invoices than its bound', async () => {
      expect(await Promise.all([take(1), take(2), take(3)])).toEqual([true, true, false]);
      expect(await take(4, { wallet: OTHER })).toBe(true);
    });

    test('a source has no more of these places than its own bound', async () => {
      const bound = { most: 3, mostOfSource: 1 };
      expect(await take(1, bound)).toBe(true);
      expect(await take(2, bound)).toBe(false);
      expect(await take(2, { ...bound, source: 'b' })).toBe(true);
      expect(await take(3, { ...bound, wallet: OTHER })).toBe(true);
    });

    test('a place ends when its invoice expires, and when it is given back', async () => {
      await take(1);
      await take(2, { nowMs: 1050 });
      expect(await take(3, { nowMs: 1099 })).toBe(false);
      expect(await take(3, { nowMs: 1100 })).toBe(true);
      expect(await take(4, { nowMs: 1100 })).toBe(false);
      await store.names.givePlaceBack(WALLET, idOf(samplePayment(3)));
      expect(await take(4, { nowMs: 1100 })).toBe(true);
    });

    test('a place ends with its payment, paid or not, whether or not the store keeps the journal', async () => {
      const inbound = { direction: 'inbound' } as const;
      await take(1);
      await take(2);
      await observe(store, [samplePayment(1, inbound)], { journaled: true });
      expect(await take(3)).toBe(false);
      await observe(store, [sampleDone(1, inbound)], { journaled: true });
      expect(await take(3)).toBe(true);
      await observe(store, [sampleFailed(2, inbound)]);
      expect(await take(4)).toBe(true);
    });
  });
}
