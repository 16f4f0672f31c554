import { Database } from 'bun:sqlite';
import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { idOf, type Payment, updatedIndexOf } from '../../src/model/payment.ts';
import { paymentIndex } from '../../src/model/payment-index.ts';
import type { Store } from '../../src/store/ports.ts';
import { openSqliteStore } from '../../src/store/sqlite/index.ts';
import { TerminalStateLeft } from '../../src/wallet/observe.ts';
import { leaseFrom } from '../../src/webhooks/lease.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { samplePayment as payment, sampleDone, sampleFailed } from './sample-payment.ts';
import { CLIENT, fits, newSpend, observe as observeIn, setBudget, WALLET } from './steps.ts';

const folder = temporaryFolder('store');
afterAll(() => removeFolder(folder));

let store: Store;
beforeEach(() => {
  store = openSqliteStore(':memory:');
});

const observe = (payments: readonly Payment[], journaled = false, cursor: string | null = null) =>
  observeIn(store, payments, { journaled, cursor });
const due = () => store.outbox.claim({ ...leaseFrom(10_000, 1000), limit: 100 });

describe('observations', () => {
  test('finalizing a watched payment ends its watch and writes its delivery, once ever', async () => {
    const one = payment(1);
    await store.watches.add(WALLET, { kind: 'payment', index: one.index });
    expect((await observe([one])).deliveries).toBe(0);
    expect((await observe([sampleDone(1)])).deliveries).toBe(1);
    expect(await store.watches.has(WALLET)).toBe(false);
    await store.watches.add(WALLET, { kind: 'payment', index: one.index });
    expect((await observe([sampleDone(1)])).deliveries).toBe(0);
    expect(await due()).toHaveLength(1);
  });

  test('what is watched again after its end is watched until it is observed again', async () => {
    const one = payment(1);
    await observe([one], true);
    await observe([sampleDone(1)], true);
    await store.watches.add(WALLET, { kind: 'payment', index: one.index });
    expect((await observe([sampleDone(1)], true)).deliveries).toBe(0);
    expect(await store.watches.has(WALLET)).toBe(false);
  });

  test('an unwatched payment is not delivered; offers and addresses are watched for what arrives on them only', async () => {
    await store.watches.add(WALLET, { kind: 'offer', offerId: 'cd'.repeat(32) });
    await store.watches.add(WALLET, { kind: 'address', address: 'bcrt1qx' });
    expect((await observe([sampleDone(1)])).deliveries).toBe(0);
    const offer = { offerId: 'cd'.repeat(32) };
    expect((await observe([sampleDone(2, { ...offer, direction: 'outbound' })])).deliveries).toBe(
      0,
    );
    expect((await observe([sampleDone(3, { ...offer, direction: 'inbound' })])).deliveries).toBe(1);
    expect((await observe([sampleDone(4, { ...offer, direction: 'inbound' })])).deliveries).toBe(1);
    expect(
      (await observe([sampleDone(5, { address: 'bcrt1qx', direction: 'inbound' })])).deliveries,
    ).toBe(1);
    expect(await store.watches.has(WALLET)).toBe(true);
  });

  test('a pruned delivery is not written again', async () => {
    const one = payment(1);
    await store.watches.add(WALLET, { kind: 'payment', index: one.index });
    await observe([sampleDone(1)]);
    const [delivery] = await due();
    await store.outbox.delivered(delivery?.id ?? '', 10);
    expect(await store.outbox.prune({ beforeMs: 1e15, least: 0, most: 0 })).toBeGreaterThan(0);
    await store.watches.add(WALLET, { kind: 'payment', index: one.index });
    expect((await observe([sampleDone(1)])).deliveries).toBe(0);
  });

  test('the cursor is undefined before the first start and never set back by a start', async () => {
    expect(await store.observations.cursor(WALLET)).toBeUndefined();
    await store.observations.startAt(WALLET, null);
    expect(await store.observations.cursor(WALLET)).toBeNull();
    await observe([], false, 'c1');
    await store.observations.startAt(WALLET, 'c0');
    expect(await store.observations.cursor(WALLET)).toBe('c1');
  });
});

describe('the journal', () => {
  test('assigns strictly increasing times, keeps identity and note, and ignores what says nothing new', async () => {
    const one = payment(1, { personalNote: 'mine' });
    await store.spends.begin(WALLET, newSpend(one), fits);
    const seen = sampleDone(1, { index: paymentIndex(2, idOf(one)), createdAtMs: 2 });
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

  test('a payment never leaves a terminal state', async () => {
    await observe([sampleDone(1)], true);
    await expect(observe([sampleFailed(1)], true)).rejects.toBeInstanceOf(TerminalStateLeft);
    expect((await store.journal.get(WALLET, payment(1).index))?.status).toBe('completed');
  });
});

describe('the outbox', () => {
  test('a lease that is given back is due at once, and its attempt does not count', async () => {
    await store.watches.add(WALLET, { kind: 'payment', index: payment(1).index });
    await observe([sampleDone(1)]);
    const [first] = await store.outbox.claim({ ...leaseFrom(10, 1000), limit: 5 });
    await store.outbox.release(first?.id ?? '', 20);
    expect(await store.outbox.nextDueAt()).toBe(20);
    const again = await store.outbox.claim({ ...leaseFrom(20, 1000), limit: 5 });
    expect(again).toMatchObject([{ id: first?.id, attempts: 0 }]);
  });

  test('leases of the process that has the store stay when those of others are given back', async () => {
    await store.watches.add(WALLET, { kind: 'payment', index: payment(1).index });
    await observe([sampleDone(1)]);
    await store.outbox.claim({ ...leaseFrom(10, 1000), limit: 5 });
    expect(await store.outbox.releaseAbandoned(20)).toBe(0);
    expect(await store.outbox.nextDueAt()).toBe(1010);
  });

  test('a claim is a lease: nobody else has it until it ends', async () => {
    await store.watches.add(WALLET, { kind: 'payment', index: payment(1).index });
    await observe([sampleDone(1)]);
    expect(await store.outbox.claim({ ...leaseFrom(10, 100), limit: 5 })).toHaveLength(1);
    expect(await store.outbox.claim({ ...leaseFrom(109, 100), limit: 5 })).toHaveLength(0);
    expect(await store.outbox.nextDueAt()).toBe(110);
    expect(await store.outbox.claim({ ...leaseFrom(110, 100), limit: 5 })).toHaveLength(1);
    expect(await store.outbox.counts()).toEqual({ pending: 1, delivered: 0, failed: 0 });
  });
});

test('writes of one turn share a commit, and one that fails undoes nothing of the others', async () => {
  await setBudget(store, { amountMsat: 1n, period: 'total', maxPaymentMsat: null });
  const begin = (at: number, clientPk: string | null) =>
    store.spends.begin(
      WALLET,
      newSpend(payment(at), {
        reservation: clientPk === null ? null : { clientPk, amountMsat: 5n, nowMs: 1 },
      }),
      fits,
    );
  const results = await Promise.allSettled([begin(1, null), begin(2, CLIENT), begin(3, null)]);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect((await store.journal.open(WALLET)).map(({ createdAtMs }) => createdAtMs)).toEqual([1, 3]);
});

describe('the file', () => {
  test('is readable by its owner only and survives closing', async () => {
    const path = join(folder, 'a.sqlite');
    const first = openSqliteStore(path);
    await first.cache.apply(WALLET, [payment(1)], updatedIndexOf(payment(1)));
    await first.close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const second = openSqliteStore(path);
    expect(await second.cache.cursor(WALLET)).toBe(updatedIndexOf(payment(1)));
    await second.close();
  });

  test('of a newer version, of somebody else, or corrupted is refused with what to do, and never overwritten', () => {
    const newer = join(folder, 'newer.sqlite');
    const db = new Database(newer, { create: true });
    db.run('CREATE TABLE t (x)');
    db.run('PRAGMA user_version = 99');
    db.close();
    const foreign = join(folder, 'foreign.sqlite');
    const other = new Database(foreign, { create: true });
    other.run('CREATE TABLE t (x)');
    other.close();
    const corrupt = join(folder, 'corrupt.sqlite');
    writeFileSync(corrupt, 'this is not a database, whatever its name says'.repeat(100));
    for (const [path, reason] of [
      [newer, /newer version.*start that version/],
      [foreign, /not a database of wallet-sidecar/],
      [corrupt, /corrupted.*backup/],
    ] as const) {
      const before = readFileSync(path);
      expect(() => openSqliteStore(path)).toThrow(reason);
      expect(readFileSync(path)).toEqual(before);
    }
  });
});
