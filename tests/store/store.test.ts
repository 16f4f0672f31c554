import { Database } from 'bun:sqlite';
import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { openLog } from '../../src/lib/log.ts';
import { type Payment, updatedIndexOf } from '../../src/model/payment.ts';
import { paymentId, paymentIndex } from '../../src/model/payment-index.ts';
import type { Store } from '../../src/store/ports.ts';
import { openSqliteStore } from '../../src/store/sqlite/index.ts';
import { observationRules, TerminalStateLeft } from '../../src/wallet/observe.ts';
import { samplePayment as payment } from './sample-payment.ts';

const folder = mkdtempSync(join(tmpdir(), 'wallet-sidecar-store-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const WALLET = 'ab'.repeat(32);
const log = openLog({ level: 'silent', format: 'text', write: () => undefined });
const rules = observationRules({
  log,
  strict: true,
  deliver: (payment) => ({ id: `msg_${payment.index}`, body: '{}', createdAtMs: 1 }),
});
let store: Store;
beforeEach(() => {
  store = openSqliteStore(':memory:');
});

const done = (one: Payment): Payment => ({
  ...one,
  status: 'completed',
  statusMsg: 'completed',
  finalizedAtMs: 9,
  feesMsat: 5n,
});
const observe = (payments: readonly Payment[], journaled = false, cursor: string | null = null) =>
  store.observations.apply(WALLET, { payments, cursor, journaled, nowMs: 1_000 }, rules);
const due = () => store.outbox.claim({ nowMs: 10_000, leaseMs: 1000, limit: 100 });

describe('observations', () => {
  test('finalizing a watched payment ends its watch and writes its delivery, once ever', async () => {
    const one = payment(1);
    await store.watches.add(WALLET, { kind: 'payment', index: one.index });
    expect((await observe([one])).deliveries).toBe(0);
    expect((await observe([done(one)])).deliveries).toBe(1);
    expect(await store.watches.has(WALLET)).toBe(false);
    await store.watches.add(WALLET, { kind: 'payment', index: one.index });
    expect((await observe([done(one)])).deliveries).toBe(0);
    expect(await due()).toHaveLength(1);
  });

  test('an unwatched payment is not delivered; offers and addresses are watched for what arrives on them only', async () => {
    await store.watches.add(WALLET, { kind: 'offer', offerId: 'cd'.repeat(32) });
    await store.watches.add(WALLET, { kind: 'address', address: 'bcrt1qx' });
    expect((await observe([done(payment(1))])).deliveries).toBe(0);
    const offer = { offerId: 'cd'.repeat(32) };
    expect(
      (await observe([done(payment(2, { ...offer, direction: 'outbound' }))])).deliveries,
    ).toBe(0);
    expect((await observe([done(payment(3, { ...offer, direction: 'inbound' }))])).deliveries).toBe(
      1,
    );
    expect((await observe([done(payment(4, { ...offer, direction: 'inbound' }))])).deliveries).toBe(
      1,
    );
    expect(
      (await observe([done(payment(5, { address: 'bcrt1qx', direction: 'inbound' }))])).deliveries,
    ).toBe(1);
    expect(await store.watches.has(WALLET)).toBe(true);
  });

  test('a pruned delivery is not written again', async () => {
    const one = payment(1);
    await store.watches.add(WALLET, { kind: 'payment', index: one.index });
    await observe([done(one)]);
    const [delivery] = await due();
    await store.outbox.delivered(delivery?.id ?? '', 10);
    expect(await store.outbox.prune({ beforeMs: 1e15, least: 0, most: 0 })).toBeGreaterThan(0);
    await store.watches.add(WALLET, { kind: 'payment', index: one.index });
    expect((await observe([done(one)])).deliveries).toBe(0);
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
    await store.intents.begin(WALLET, {
      payment: one,
      journaled: true,
      reservation: null,
      idempotencyKey: null,
    });
    const seen = done({
      ...payment(2),
      index: paymentIndex(2, paymentId('ln', one.hash ?? '')),
      hash: one.hash,
    });
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
    await observe([done(payment(1))], true);
    await expect(
      observe([payment(1, { status: 'failed', statusMsg: 'x' })], true),
    ).rejects.toBeInstanceOf(TerminalStateLeft);
    expect((await store.journal.get(WALLET, payment(1).index))?.status).toBe('completed');
  });
});

describe('budgets', () => {
  const CLIENT = 'ef'.repeat(32);
  const reserve = (one: Payment, amountMsat: bigint, nowMs = 1000) =>
    store.intents.begin(WALLET, {
      payment: one,
      journaled: false,
      idempotencyKey: null,
      reservation: { clientPk: CLIENT, amountMsat, nowMs },
    });

  test('whatever is asked for at once, what is granted fits the budget', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.bigInt(1n, 400n), { minLength: 1, maxLength: 30 }),
        async (amounts) => {
          const fresh = openSqliteStore(':memory:');
          await fresh.budgets.set(WALLET, CLIENT, {
            amountMsat: 1000n,
            period: 'total',
            maxPaymentMsat: 300n,
          });
          const results = await Promise.allSettled(
            amounts.map((amountMsat, at) =>
              fresh.intents.begin(WALLET, {
                payment: payment(at + 1),
                journaled: false,
                idempotencyKey: null,
                reservation: { clientPk: CLIENT, amountMsat, nowMs: 5 },
              }),
            ),
          );
          const granted = amounts.filter((_, at) => results[at]?.status === 'fulfilled');
          const sum = granted.reduce((total, amount) => total + amount, 0n);
          expect(sum).toBeLessThanOrEqual(1000n);
          expect(granted.every((amount) => amount <= 300n)).toBe(true);
          expect((await fresh.budgets.get(WALLET, CLIENT, 5))?.spentMsat).toBe(sum);
          await fresh.close();
        },
      ),
      { numRuns: 40 },
    );
  });

  test('what completes counts with its fees, what fails or is abandoned is given back', async () => {
    await store.budgets.set(WALLET, CLIENT, {
      amountMsat: 10_000n,
      period: 'day',
      maxPaymentMsat: null,
    });
    const spent = async () => (await store.budgets.get(WALLET, CLIENT, 1000))?.spentMsat;
    for (const at of [1, 2, 3]) await reserve(payment(at), 2000n);
    expect(await spent()).toBe(6000n);
    await observe([done(payment(1))]);
    await observe([payment(2, { status: 'failed', statusMsg: 'x' })]);
    await store.intents.abandon(WALLET, payment(3).index, null);
    expect(await spent()).toBe(1005n);
    expect((await store.budgets.get(WALLET, CLIENT, 1000 + 86_400_000))?.spentMsat).toBe(0n);
  });

  test('a refused reservation writes nothing', async () => {
    await store.budgets.set(WALLET, CLIENT, {
      amountMsat: 10n,
      period: 'day',
      maxPaymentMsat: null,
    });
    await expect(reserve(payment(1), 11n)).rejects.toMatchObject({ kind: 'overBudget' });
    expect(await store.watches.has(WALLET)).toBe(false);
  });
});

describe('idempotency', () => {
  test('a key is new, running, done or in conflict; a key without payment is released', async () => {
    const begin = (print = 'a') => store.idempotency.begin(WALLET, 'k', print, 1);
    expect(await begin()).toEqual({ state: 'new' });
    expect(await begin('b')).toEqual({ state: 'conflict' });
    expect(await begin()).toEqual({ state: 'running', index: null });
    await store.idempotency.release(WALLET, 'k');
    expect(await begin()).toEqual({ state: 'new' });
    const one = payment(1);
    await store.intents.begin(WALLET, {
      payment: one,
      journaled: false,
      reservation: null,
      idempotencyKey: 'k',
    });
    await store.idempotency.release(WALLET, 'k');
    expect(await begin()).toEqual({ state: 'running', index: one.index });
    await store.idempotency.finish(WALLET, 'k', { httpStatus: 202, body: '{}' });
    expect(await begin()).toEqual({ state: 'done', httpStatus: 202, body: '{}' });
    await store.idempotency.prune({ beforeMs: 2, keep: 0 });
    expect(await begin()).toEqual({ state: 'new' });
  });
});

describe('the outbox', () => {
  test('a claim is a lease: nobody else has it until it ends', async () => {
    await store.watches.add(WALLET, { kind: 'payment', index: payment(1).index });
    await observe([done(payment(1))]);
    expect(await store.outbox.claim({ nowMs: 10, leaseMs: 100, limit: 5 })).toHaveLength(1);
    expect(await store.outbox.claim({ nowMs: 109, leaseMs: 100, limit: 5 })).toHaveLength(0);
    expect(await store.outbox.nextDueAt()).toBe(110);
    expect(await store.outbox.claim({ nowMs: 110, leaseMs: 100, limit: 5 })).toHaveLength(1);
    expect(await store.outbox.counts()).toEqual({ pending: 1, delivered: 0, failed: 0 });
  });
});

test('writes of one turn share a commit, and one that fails undoes nothing of the others', async () => {
  await store.budgets.set(WALLET, 'c', { amountMsat: 1n, period: 'total', maxPaymentMsat: null });
  const begin = (at: number, clientPk: string | null) =>
    store.intents.begin(WALLET, {
      payment: payment(at),
      journaled: true,
      idempotencyKey: null,
      reservation: clientPk === null ? null : { clientPk, amountMsat: 5n, nowMs: 1 },
    });
  const results = await Promise.allSettled([begin(1, null), begin(2, 'c'), begin(3, null)]);
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
