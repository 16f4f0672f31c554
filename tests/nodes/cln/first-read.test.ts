import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import type { Payment } from '../../../src/model/payment.ts';
import type { UpdatesOptions } from '../../../src/nodes/node.ts';
import type { Following } from '../../contracts/node/steps.ts';
import { SLOW_TEST_MS, until } from '../../support/until.ts';
import { bolt11Of, FakeCln, NODE_SECS } from './fake-cln.ts';
import { followFake } from './fake-sends.ts';
import { fakeWallet } from './fake-wallet.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** Rows that the connector reads in one call. */
const PAGE = 500;
const HASH = 'ab'.repeat(32);
const PAID = { status: 'complete', completed_at: NODE_SECS, payment_preimage: 'cd'.repeat(32) };
const BOLT11 = bolt11Of(HASH, 1000n);

let cln: FakeCln;
let feed: Following | null;
beforeEach(() => {
  cln = new FakeCln();
  feed = null;
});
afterEach(async () => {
  await feed?.end().catch(() => undefined);
  await cln.stop();
});

/** Reads the list from its first row on, and returns the payments of {@link HASH} as they were told. */
async function firstRead(change: Partial<UpdatesOptions> = {}): Promise<Payment[]> {
  const following = followFake(cln, fakeWallet(), null, [], change);
  feed = following;
  await until(following.isCaughtUp, 'the feed has caught up');
  return following.observations.map(({ payment }) => payment).filter(({ hash }) => hash === HASH);
}

/** Payments of others, so that the next part is the last of its page. */
function fillPage(): void {
  for (let at = 0; at < PAGE - 1; at++) {
    const hash = at.toString(16).padStart(64, '0');
    cln.addPart({ ...PAID, payment_hash: hash, bolt11: bolt11Of(hash, 1000n) });
  }
}

const hashesAskedFor = () =>
  cln
    .of('listsendpays')
    .map(({ payment_hash }) => payment_hash)
    .filter((hash) => hash !== undefined);

test('a payment that a page shows whole is told without a call of its own', async () => {
  cln.addPart({ ...PAID, payment_hash: HASH, bolt11: BOLT11, amount_msat: 400 });
  cln.addPart({ payment_hash: HASH, bolt11: BOLT11, partid: 2, status: 'failed' });
  cln.addPart({ ...PAID, payment_hash: HASH, bolt11: BOLT11, partid: 3, amount_msat: 600 });
  const [payment, ...others] = await firstRead();
  expect(others).toEqual([]);
  expect(payment).toMatchObject({ status: 'completed', amountMsat: 1000n });
  expect(hashesAskedFor()).toEqual([]);
});

test.each([
  ['part of the amount is paid', { ...PAID, bolt11: BOLT11, amount_msat: 999 }],
  ['it is pending', { bolt11: BOLT11 }],
  ['it has failed', { bolt11: BOLT11, status: 'failed' }],
  ['its invoice names no amount', { ...PAID, bolt11: bolt11Of(HASH, null) }],
  ['its invoice cannot be read', { ...PAID, bolt11: 'lnbcrt1' }],
  ['it has no invoice', { ...PAID, bolt11: undefined }],
])('its hash is asked for where %s', async (_, part) => {
  cln.addPart({ payment_hash: HASH, ...part });
  await firstRead();
  expect(hashesAskedFor()).toEqual([HASH]);
});

test('a payment whose parts stand on two pages is told with all of them', async () => {
  fillPage();
  cln.addPart({ ...PAID, payment_hash: HASH, bolt11: BOLT11, amount_msat: 400 });
  cln.addPart({ ...PAID, payment_hash: HASH, bolt11: BOLT11, partid: 2, amount_msat: 600 });
  for (const payment of await firstRead()) {
    expect(payment).toMatchObject({ status: 'completed', amountMsat: 1000n });
  }
  expect(new Set(hashesAskedFor())).toEqual(new Set([HASH]));
});

test('a payment that began on the page before is told as it began', async () => {
  fillPage();
  const began = { payment_hash: HASH, bolt11: BOLT11, created_at: NODE_SECS - 50 };
  cln.addPart({ ...began, status: 'failed' });
  cln.addPart({ ...PAID, payment_hash: HASH, bolt11: BOLT11, partid: 2 });
  const told = await firstRead();
  expect(told.length).toBeGreaterThan(0);
  for (const { createdAtMs } of told) expect(createdAtMs).toBe((NODE_SECS - 50) * 1000);
});

test('a part that is too old to be told still counts for its payment', async () => {
  const began = { payment_hash: HASH, bolt11: BOLT11, created_at: NODE_SECS - 50 };
  cln.addPart({ ...began, status: 'failed', completed_at: NODE_SECS - 40 });
  cln.addPart({ ...PAID, payment_hash: HASH, bolt11: BOLT11, partid: 2 });
  const [payment] = await firstRead({ historySinceMs: NODE_SECS * 1000 });
  expect(payment).toMatchObject({ status: 'completed', createdAtMs: (NODE_SECS - 50) * 1000 });
});
