import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { Payment } from '../../../src/model/payment.ts';
import type { WalletNode } from '../../../src/nodes/node.ts';
import type { Store } from '../../../src/store/ports.ts';
import { openSqliteStore } from '../../../src/store/sqlite/index.ts';
import { ended, follow, payCommand } from '../../contracts/node/steps.ts';
import { type FakeLnd, startFakeLnd } from '../../hostile/fake-lnd.ts';
import { rules } from '../../support/store-steps.ts';
import { SLOW_TEST_MS, until } from '../../support/until.ts';
import { connectedOnFake } from './connected-on-fake.ts';

setDefaultTimeout(SLOW_TEST_MS);

let fake: FakeLnd;
let wallet: Awaited<ReturnType<typeof connectedOnFake>>;
let node: WalletNode;
let store: Store;
let walletId: string;
let cursor: string | null;
beforeEach(async () => {
  fake = await startFakeLnd();
  wallet = await connectedOnFake(fake);
  ({ node, walletId } = wallet);
  store = openSqliteStore(':memory:');
  cursor = null;
});
afterEach(async () => {
  await wallet.close();
  await fake.stop();
  await store.close();
});

/** Follows the wallet from where it was followed to, until all that was before is stored. */
async function look(attempts?: (attempt: number) => number): Promise<void> {
  const feed = follow(node, cursor, await store.journal.open(walletId));
  await until(feed.isCaughtUp, 'the feed has caught up');
  const read = feed.cursor();
  await feed.end();
  const observations = feed.observations.map((seen) => ({
    ...seen,
    attempt: seen.attempt === null ? null : (attempts?.(seen.attempt) ?? seen.attempt),
  }));
  const batch = { observations, cursor: read, journaled: true, nowMs: Date.now() };
  await store.observations.apply(walletId, batch, rules);
  cursor = read;
}
const rows = async (): Promise<Payment[]> =>
  (await store.journal.updatedAfter(walletId, null, 100)).filter(({ hash }) => hash !== null);
const ends = async (hash: string) =>
  (await rows())
    .filter((row) => row.hash === hash)
    .toSorted((a, b) => a.createdAtMs - b.createdAtMs)
    .map(({ status }) => status);

/** Another program pays a new invoice, or tries a failed one again. */
async function othersPay(end: 'succeed' | 'fail', again?: { invoice: string; hash: string }) {
  const made = again ?? fake.payments.foreignInvoice({ amountMsat: 5000n });
  fake.payments.decide(made.hash, { end, ...(end === 'succeed' ? { feeMsat: 7n } : {}) });
  const most = { amountMsat: 0n, feeLimitMsat: 1000n };
  fake.payments.send({ paymentRequest: made.invoice, ...most });
  await until(() => fake.payments.get(made.hash).status !== 'IN_FLIGHT', 'it ended');
  return made;
}

describe('payments that LND numbers anew when it moves to native SQL', () => {
  test('stand once, with their fees, and what comes after them is told', async () => {
    const failed = await othersPay('fail');
    const paid = await othersPay('succeed');
    // The retries have the numbers 3 to 5, so that the newest of all becomes 2.
    for (const end of ['fail', 'fail', 'succeed'] as const) await othersPay(end, failed);
    await look();
    const before = await rows();
    expect(before).toHaveLength(2);
    fake.payments.moveToNativeSql();
    await look();
    expect(await rows()).toEqual(before);
    const later = await othersPay('succeed');
    await look();
    expect(await rows()).toHaveLength(3);
    for (const { hash } of [failed, paid, later]) expect(await ends(hash)).toEqual(['completed']);
    expect((await rows()).map(({ feesMsat }) => feesMsat)).toEqual([7n, 7n, 7n]);
  });

  test('are told also where as many were made since as LND had before', async () => {
    const first = await othersPay('fail');
    await othersPay('fail', first);
    await othersPay('fail', first);
    await look();
    fake.payments.moveToNativeSql();
    const later = [await othersPay('succeed'), await othersPay('fail'), await othersPay('succeed')];
    await look();
    expect(await ends(first.hash)).toEqual(['failed']);
    for (const [at, { hash }] of later.entries()) {
      expect(await ends(hash)).toEqual([at === 1 ? 'failed' : 'completed']);
    }
  });

  test('are matched to rows of version 0.2, which hold the number from before', async () => {
    const failed = await othersPay('fail');
    const paid = await othersPay('succeed');
    const open = fake.payments.foreignInvoice({ amountMsat: 5000n });
    fake.payments.decide(open.hash, { end: 'hold' });
    fake.payments.send({ paymentRequest: open.invoice, amountMsat: 0n, feeLimitMsat: 1000n });
    await look(
      (attempt) =>
        fake.payments.list().findIndex((one) => one.createdNs / 1000n === BigInt(attempt)) + 1,
    );
    cursor = JSON.stringify({ a: 0, s: 0, p: 3, h: 0 });
    const before = await rows();
    fake.payments.moveToNativeSql();
    fake.payments.delete(failed.hash);
    await look();
    expect(await rows()).toEqual(before);
    fake.payments.resolve(open.hash, { end: 'succeed' });
    await look();
    expect(await ends(open.hash)).toEqual(['completed']);
    expect(await ends(paid.hash)).toEqual(['completed']);
    expect(await rows()).toHaveLength(3);
  });
});

describe('an LND with native SQL', () => {
  beforeEach(() => fake.payments.moveToNativeSql());

  test('tells of a retry that has the number of the attempt before', async () => {
    const bill = await othersPay('fail');
    await look();
    await othersPay('succeed', bill);
    expect(fake.payments.get(bill.hash).index).toBe(1);
    const later = await othersPay('fail');
    await look();
    expect(await ends(bill.hash)).toEqual(['failed', 'completed']);
    expect(await ends(later.hash)).toEqual(['failed']);
  });

  test('tells of a payment that has the number of one that was deleted', async () => {
    const gone = await othersPay('fail');
    await look();
    fake.payments.delete(gone.hash);
    await look();
    const next = await othersPay('succeed');
    await look();
    expect(await ends(gone.hash)).toEqual(['failed']);
    expect(await ends(next.hash)).toEqual(['completed']);
  });

  test('numbers the attempts of a hash that the wallet pays again by their time', async () => {
    const { invoice, hash } = fake.payments.foreignInvoice({ amountMsat: 5000n });
    fake.payments.decide(hash, { end: 'fail' });
    const first = await node.payInvoice(payCommand(node, invoice));
    await ended(node, hash);
    fake.payments.decide(hash, { end: 'succeed' });
    const second = await node.payInvoice(payCommand(node, invoice));
    expect(fake.payments.get(hash).index).toBe(1);
    expect([first.state, second.state]).toEqual(['known', 'known']);
    const attempts = [first, second].map((one) => ('attempt' in one ? one.attempt : null));
    expect(attempts[1]).toBeGreaterThan(attempts[0] ?? Number.NaN);
  });
});
