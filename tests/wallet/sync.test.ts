import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { syncPayments } from '../../src/wallet/sync.ts';
import { samplePayment } from '../support/sample-payment.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { type WalletWorld, walletWorld } from './wallet-world.ts';

setDefaultTimeout(SLOW_TEST_MS);

let world: WalletWorld;
beforeEach(async () => {
  world = await walletWorld();
});
afterEach(() => world.close());

test('a sync takes small pages, between which other requests are served', async () => {
  const { owner } = await world.start();
  const payments = Array.from({ length: 600 }, (_, at) => samplePayment(at + 1));
  await Promise.all(
    payments.map((payment) => owner.feed.observe({ payment, attempt: null }, owner.node)),
  );
  const { cache } = world.store;
  const store = cache.apply;
  const sizes: number[] = [];
  cache.apply = (walletId, page, cursor) => {
    sizes.push(page.length);
    return store(walletId, page, cursor);
  };
  expect(await syncPayments(owner)).toEqual({ numNew: 600, numUpdated: 0 });
  expect(sizes).toEqual([250, 250, 100]);
});
