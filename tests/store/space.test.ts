import { Database } from 'bun:sqlite';
import { afterAll, expect, test } from 'bun:test';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { encodePayment, idOf, type Payment, updatedIndexOf } from '../../src/model/payment.ts';
import type { CacheQuery } from '../../src/store/ports.ts';
import { openSqliteStore } from '../../src/store/sqlite/index.ts';
import { migrate } from '../../src/store/sqlite/migrations/index.ts';
import { packOnce, releaseSpace } from '../../src/store/sqlite/space.ts';
import { writeQueue } from '../../src/store/sqlite/write-queue.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { sampleDone } from '../support/sample-payment.ts';
import { observe, WALLET } from '../support/store-steps.ts';

const folder = temporaryFolder('space');
afterAll(() => removeFolder(folder));

/** As long as a real invoice with a description and a private route hint. */
const INVOICE = `lnbcrt10u1p${'q'.repeat(420)}`;
const ROWS = 2000;
const PAYMENTS = Array.from({ length: ROWS }, (_, at) =>
  sampleDone(at + 1, { direction: 'inbound', invoice: INVOICE, personalNote: 'Two coffees' }),
);
const jsonOf = (payment: Payment) => JSON.stringify(encodePayment(payment));
const JSON_BYTES = PAYMENTS.reduce((sum, payment) => sum + jsonOf(payment).length, 0);

const ALL: CacheQuery = {
  ...{ filter: 'all', order: 'asc', limit: ROWS, after: null },
  ...{ direction: null, rail: null, sinceMs: null, untilMs: null, externalId: null },
};

/** Members that no payment had in version 9. */
const ADDED_LATER = new Set([
  'description',
  'external_id',
  'price',
  'rate',
  'rate_at',
  'rate_source',
]);

/** Bytes of a closed database, with what its write-ahead log held. */
function bytesOf(path: string): number {
  const db = new Database(path);
  db.run('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
  return statSync(path).size;
}

test('a payment in journal and cache takes at most 2.5 times the disk of its two JSON texts', async () => {
  const path = join(folder, 'rows.sqlite');
  const store = openSqliteStore(path);
  await observe(store, PAYMENTS, { journaled: true });
  await store.cache.apply(WALLET, PAYMENTS, null);
  await store.close();
  expect(bytesOf(path)).toBeLessThan(2.5 * 2 * JSON_BYTES);
});

test('the log of a long sync is moved into the file in small parts', async () => {
  const path = join(folder, 'log.sqlite');
  const store = openSqliteStore(path);
  for (let from = 0; from < ROWS; from += 100) {
    await store.cache.apply(WALLET, PAYMENTS.slice(from, from + 100), null);
  }
  const { json } = await store.cache.list(WALLET, ALL);
  expect(json.length).toBe(ROWS);
  // The log keeps its length after it was moved, and the next commits begin it again.
  expect(statSync(`${path}-wal`).size).toBeLessThan(2 * JSON_BYTES);
  await store.close();
});

test('the disk of removed rows is given back, and the rest stays', async () => {
  const path = join(folder, 'removed.sqlite');
  const store = openSqliteStore(path);
  await observe(store, PAYMENTS.slice(0, 5), { journaled: true });
  await store.cache.apply(WALLET, PAYMENTS, null);
  await store.cache.clear(WALLET);
  await store.releaseSpace(new AbortController().signal);
  expect((await store.journal.updatedAfter(WALLET, null, 10)).length).toBe(5);
  await store.close();
  expect(bytesOf(path)).toBeLessThan(JSON_BYTES / 4);
});

test('a database of version 9 is packed when it is opened, and keeps its payments in order', async () => {
  const path = join(folder, 'version-9.sqlite');
  const db = new Database(path, { create: true });
  db.transaction(() => {
    migrate(db, 0, 9);
    const insert = db.query(
      `INSERT INTO journal (wallet, idx, id, updated_idx, status, json, attempt)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
    );
    const cached = db.query('INSERT INTO cache VALUES (?, ?, ?, ?, ?, ?)');
    for (const [at, payment] of PAYMENTS.entries()) {
      const { index, status, direction, rail } = payment;
      const json = JSON.stringify(encodePayment(payment), (name, value) =>
        ADDED_LATER.has(name) ? undefined : value,
      );
      insert.run(WALLET, index, idOf(payment), updatedIndexOf(payment), status, json, at);
      cached.run(WALLET, index, status, direction, rail, json);
    }
  })();
  db.close();
  const before = bytesOf(path);

  const store = openSqliteStore(path);
  const middle = PAYMENTS[ROWS / 2 - 1] as Payment;
  const after = await store.journal.updatedAfter(WALLET, updatedIndexOf(middle), 2);
  expect(after).toEqual(PAYMENTS.slice(ROWS / 2, ROWS / 2 + 2));
  expect(await store.journal.tip(WALLET)).toBe(updatedIndexOf(PAYMENTS.at(-1) as Payment));
  expect(await store.journal.latest(WALLET, idOf(middle))).toEqual(middle);
  expect((await store.cache.get(WALLET, middle.index))?.json).toBe(jsonOf(middle));
  await store.close();

  expect(bytesOf(path)).toBeLessThan(before / 2);
  const packed = new Database(path);
  expect(packed.query('PRAGMA auto_vacuum').get()).toEqual({ auto_vacuum: 2 });
  packed.close();
});

test('a file that could not be packed gives nothing back, and asking for it ends', async () => {
  const db = new Database(join(folder, 'unpacked.sqlite'), { create: true });
  db.run('CREATE TABLE row (text TEXT)');
  db.run("INSERT INTO row SELECT hex(randomblob(2000)) FROM json_each('[1,2,3,4,5,6,7,8,9]')");
  db.run('DELETE FROM row');
  expect(db.query('PRAGMA freelist_count').get()).not.toEqual({ freelist_count: 0 });
  await releaseSpace(db, writeQueue(db), new AbortController().signal);
  db.close();
});

/** Opens a new database in the write-ahead log mode, which cannot give free pages back yet. */
function unpacked(name: string, rows: number): Database {
  const db = new Database(join(folder, name), { create: true });
  db.run('PRAGMA journal_mode = WAL');
  db.run('PRAGMA synchronous = OFF');
  db.run('PRAGMA cache_size = -2000');
  db.run('CREATE TABLE large (text TEXT)');
  const insert = db.query('INSERT INTO large VALUES (?)');
  db.transaction(() => {
    for (let row = 0; row < rows; row++) insert.run('x'.repeat(2000));
  })();
  return db;
}

// Elsewhere SQLite may be the system's own, which chooses the place.
test.if(process.platform === 'linux')(
  'the copy that packing makes lies beside the database, since it holds secrets (docs/decisions.md 123)',
  () => {
    const db = unpacked('beside.sqlite', 10);
    const place = () => db.query('PRAGMA temp_store_directory').get();
    const run = db.run.bind(db);
    let during: unknown = null;
    db.run = (sql: string) => {
      if (sql === 'VACUUM') during = place();
      return run(sql);
    };
    packOnce(db);
    expect(during).toEqual({ temp_store_directory: folder });
    expect(place()).toBeNull();
    expect(db.query('PRAGMA auto_vacuum').get()).toEqual({ auto_vacuum: 2 });
    db.close();
  },
);

test('packing that fails on a full disk gives back what the log took (docs/decisions.md 123)', () => {
  const db = unpacked('full.sqlite', 2000);
  const run = db.run.bind(db);
  db.run = (sql: string) => {
    if (sql !== 'VACUUM') return run(sql);
    // As VACUUM does: pages are in the log when the disk is full, and are not committed.
    run('BEGIN');
    run("UPDATE large SET text = text || 'y'");
    run('ROLLBACK');
    throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
  };
  packOnce(db);
  expect(statSync(join(folder, 'full.sqlite-wal')).size).toBe(0);
  db.close();
});
