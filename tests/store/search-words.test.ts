import { heapStats } from 'bun:jsc';
import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { examplePayment } from '../../src/http/examples.ts';
import { encodePayment, type Payment } from '../../src/model/payment.ts';
import { createdAtOfIndex } from '../../src/model/payment-index.ts';
import { searchWordsOf } from '../../src/model/payment-search.ts';
import { cacheConditions } from '../../src/store/cache-conditions.ts';
import type { CacheQuery, Store } from '../../src/store/ports.ts';
import { openPostgresStore } from '../../src/store/postgres/index.ts';
import { openSqliteStore } from '../../src/store/sqlite/index.ts';
import { migrate } from '../../src/store/sqlite/migrations/index.ts';
import type { Bundle, Bundled } from '../../src/store/words/bundle.ts';
import { rowsWithAll, termsOf, timeOf } from '../../src/store/words/terms.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { postgresPrograms, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { samplePayment } from '../support/sample-payment.ts';
import { WALLET } from '../support/store-steps.ts';
import { SLOW_TEST_MS } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** The last schema of SQLite without words. */
const WORDLESS = 19;
/** The last schema of SQLite whose bundles had lines and no sets. */
const LINES_ALONE = 22;
/** The last schema of PostgreSQL without words. */
const WORDLESS_POSTGRES = 11;
const folder = temporaryFolder('search-words');
const programs = postgresPrograms();
const secretsKey = new Uint8Array(32).fill(7);
let server: TestPostgres | null = null;
beforeAll(async () => {
  if (programs !== null) server = await startPostgres(programs);
});
afterAll(async () => {
  await server?.stop();
  removeFolder(folder);
});

const QUERY: CacheQuery = {
  filter: 'all',
  order: 'asc',
  limit: 10,
  after: null,
  direction: null,
  rail: null,
  sinceMs: null,
  untilMs: null,
  externalId: null,
};

/** More than one round of the step, the first of an order and the last as version 0.2 stored it. */
const payments = Array.from({ length: 600 }, (_, at) =>
  samplePayment(at + 1, at === 0 ? { description: 'Table 13' } : { personalNote: `note ${at}` }),
);
const older = samplePayment(700, { invoice: examplePayment.invoice });
const olderJson = () => {
  const { description: _, external_id: __, ...rest } = encodePayment(older);
  return JSON.stringify(rest);
};

async function expectFound(store: Store) {
  const find = async (text: string) => {
    const { json } = await store.cache.list(WALLET, { ...QUERY, text });
    return json.map((one) => (JSON.parse(one) as { index: string }).index as string);
  };
  expect(await find('table 13')).toEqual([payments[0]?.index as string]);
  expect(await find('note 599')).toEqual([payments[599]?.index as string]);
  // Its description is in its invoice alone.
  expect(await find('coffee')).toEqual([older.index]);
}

describe('payments that were cached before words were kept are found by them', () => {
  test('in a file, of which one row is damaged', async () => {
    const path = join(folder, 'store.sqlite');
    const db = new Database(path, { create: true });
    db.transaction(() => migrate(db, 0, WORDLESS))();
    const insert = db.query('INSERT INTO cache VALUES (?, ?, ?, ?, ?, ?, NULL)');
    const add = ({ index, status, direction, rail }: typeof older, json: string) =>
      insert.run(WALLET, index, status, direction, rail, json);
    for (const payment of payments) add(payment, JSON.stringify(encodePayment(payment)));
    add(older, olderJson());
    add(samplePayment(800), '{"external_id":1}');
    db.close();
    const store = openSqliteStore(path);
    await expectFound(store);
    await store.close();
    const stored = new Database(path);
    expect(
      stored.query("SELECT since, until FROM word_bundle WHERE lines LIKE '% coffee%'").values(),
    ).toEqual([[700, 800]]);
    expect(stored.query('PRAGMA integrity_check').values()).toEqual([['ok']]);
    stored.close();
  });

  test.skipIf(programs === null)('in PostgreSQL', async () => {
    const url = (await server?.createDatabase()) ?? '';
    const open = () => openPostgresStore({ url, secretsKey, onLost: () => undefined });
    let store = await open();
    await store.cache.apply(WALLET, [...payments, older], null);
    await store.close();
    // What the later steps have added goes too.
    await server?.run(url, 'ALTER TABLE wallet_sidecar.cache DROP COLUMN words');
    await server?.run(url, 'ALTER TABLE wallet_sidecar.client DROP COLUMN own');
    await server?.run(url, 'DROP TABLE wallet_sidecar.word_bundle, wallet_sidecar.word_loose');
    await server?.run(
      url,
      `UPDATE wallet_sidecar.schema_version SET version = ${WORDLESS_POSTGRES}`,
    );
    await server?.run(
      url,
      `UPDATE wallet_sidecar.cache SET mac = NULL, json = '${olderJson()}' WHERE idx = '${older.index}'`,
    );
    store = await open();
    const words = await server?.run(
      url,
      `SELECT count(*)::int AS n FROM wallet_sidecar.cache WHERE words LIKE '%coffee%'`,
    );
    expect(words).toEqual([{ n: 1 }]);
    const { json } = await store.cache.list(WALLET, { ...QUERY, text: 'table 13' });
    expect(json).toHaveLength(1);
    // An index of words took their place before.
    const kept = await server?.run(
      url,
      `SELECT count(*)::int AS n, (SELECT count(*)::int FROM pg_indexes WHERE indexname = 'cache_by_word') AS indexes
       FROM wallet_sidecar.word_bundle`,
    );
    expect(kept).toEqual([{ n: 4, indexes: 0 }]);
    await store.close();
  });

  test('in a file whose bundles had lines alone', async () => {
    const path = join(folder, 'lines.sqlite');
    const db = new Database(path, { create: true });
    db.transaction(() => migrate(db, 0, LINES_ALONE))();
    const insert = db.query(
      'INSERT INTO cache (wallet, idx, status, direction, rail, json, words) VALUES (?, ?, ?, ?, ?, ?, ?)',
    );
    for (const payment of [...payments, older]) {
      const { index, status, direction, rail } = payment;
      const json = JSON.stringify(encodePayment(payment));
      const words = payment === older ? 'coffee' : searchWordsOf(payment);
      insert.run(WALLET, index, status, direction, rail, json, words);
    }
    db.run("INSERT INTO word_bundle VALUES (1, ?, 9, 1, 2, x'00', 'lines')", [WALLET]);
    db.close();
    const store = openSqliteStore(path);
    await expectFound(store);
    await store.close();
    expect(bundlesIn(path)).toHaveLength(4);
  });
});

/** The bundles of a file, and what names payments that are in none yet. */
function bundlesIn(path: string) {
  const db = new Database(path, { readonly: true });
  const bundles = db.query('SELECT wallet, lines FROM word_bundle').values();
  const loose = db.query('SELECT wallet, idx FROM word_loose').values();
  db.close();
  return [...bundles, ...loose];
}

test('a change that leaves words and status as they are writes nothing into the bundles', async () => {
  const path = join(folder, 'unchanged.sqlite');
  const store = openSqliteStore(path);
  const bundled = () => bundlesIn(path);
  await store.cache.apply(WALLET, payments.slice(0, 50), null);
  const before = bundled();
  const done = payments.slice(0, 50).map((payment) => ({ ...payment, feesMsat: 1n }) as const);
  expect(await store.cache.apply(WALLET, done, null)).toEqual({ numNew: 0, numUpdated: 50 });
  expect(bundled()).toEqual(before);
  await store.cache.apply(WALLET, [{ ...payments[0], personalNote: 'x' } as Payment], null);
  expect(bundled()).not.toEqual(before);
  await store.close();
});

test('a payment that is stored again as it is writes no words, also where an older version made them', async () => {
  const path = join(folder, 'older-words.sqlite');
  const store = openSqliteStore(path);
  await store.cache.apply(WALLET, payments.slice(0, 2), null);
  const db = new Database(path);
  db.run("UPDATE cache SET words = 'older ' || words");
  db.close();
  const before = bundlesIn(path);
  await store.cache.apply(WALLET, payments.slice(0, 2), null);
  await store.cache.refresh(WALLET, payments[0] as Payment);
  expect(bundlesIn(path)).toEqual(before);
  await store.close();
});

test('a cache that is cleared leaves none of its words behind, and the words of other wallets', async () => {
  const path = join(folder, 'cleared.sqlite');
  const other = 'cd'.repeat(32);
  const store = openSqliteStore(path);
  await store.cache.apply(WALLET, payments, null);
  await store.cache.apply(other, payments.slice(0, 2), null);
  await store.cache.clear(WALLET);
  expect(bundlesIn(path)).toEqual([
    [other, payments[0]?.index as string],
    [other, payments[1]?.index as string],
  ]);
  await store.close();
});

test('a search beside which the cache is cleared and filled anew leaves out nothing that is in both', async () => {
  const store = openSqliteStore(':memory:');
  // More bundles than are read before other requests are served.
  const stored = Array.from({ length: 1000 }, (_, at) =>
    samplePayment(at + 1, { personalNote: 'zimt' }),
  );
  for (let at = 0; at < stored.length; at += 50) {
    await store.cache.apply(WALLET, stored.slice(at, at + 50), null);
  }
  const found = store.cache.list(WALLET, { ...QUERY, limit: 1000, text: 'zimt' });
  // As one bundle, which begins before those that were read.
  const changed = [store.cache.clear(WALLET), store.cache.apply(WALLET, stored, null)];
  const { json } = await found;
  await Promise.all(changed);
  const indexes = json.map((one) => (JSON.parse(one) as { index: string }).index as string);
  expect(indexes).toEqual(stored.map(({ index }) => index as string));
  await store.close();
});

test('payments whose notes change again and again make a bundle for each 200 of them at most', async () => {
  const path = join(folder, 'notes.sqlite');
  const store = openSqliteStore(path);
  await store.cache.apply(WALLET, payments, null);
  const bundles = () => {
    const db = new Database(path, { readonly: true });
    const [[count] = []] = db.query('SELECT count(*) FROM word_bundle').values();
    db.close();
    return count;
  };
  expect(bundles()).toBe(1);
  for (let round = 0; round < 3; round++) {
    for (const payment of payments.slice(0, 150)) {
      await store.cache.refresh(WALLET, { ...payment, personalNote: `round ${round}` });
    }
  }
  expect(bundles()).toBe(1);
  for (const payment of payments.slice(150, 550)) {
    await store.cache.refresh(WALLET, { ...payment, personalNote: 'other' });
  }
  expect(bundles()).toBe(3);
  const { json } = await store.cache.list(WALLET, { ...QUERY, limit: 1000, text: 'round 2' });
  expect(json).toHaveLength(150);
  await store.close();
});

const STORER = `
  const { openSqliteStore } = await import('${import.meta.dir}/../../src/store/sqlite/index.ts');
  const { samplePayment } = await import('${import.meta.dir}/../support/sample-payment.ts');
  const store = openSqliteStore(process.argv[1]);
  for (let number = 1; ; ) {
    const some = Array.from({ length: 1 + (number % 7) }, () =>
      samplePayment(number++, { description: 'zimt ' + number }));
    await store.cache.apply('${WALLET}', some, null);
    await store.cache.apply('${WALLET}', [{ ...some[0], personalNote: 'nelke' }], null);
    if (number % 50 < 7) console.log(number);
  }`;

test('no cached payment is missing in the bundles, wherever the process that stores it is killed', async () => {
  const path = join(folder, 'killed.sqlite');
  for (const rounds of [30, 41, 37, 55]) {
    const program = Bun.spawn([process.execPath, '-e', STORER, path], { stdout: 'pipe' });
    const lines = program.stdout.getReader();
    for (let round = 0; round < rounds; round++) await lines.read();
    program.kill('SIGKILL');
    await program.exited;
    const db = new Database(path);
    const rows = db
      .query<Bundled, []>('SELECT idx, status, direction, rail, words FROM cache')
      .all();
    const bundles = db.query<Bundle, []>('SELECT * FROM word_bundle').all();
    const loose = new Set(db.query('SELECT idx FROM word_loose').values().flat());
    const isBundled = ({ idx, words }: Bundled) => {
      const terms = termsOf({ ...QUERY, text: words });
      const time = createdAtOfIndex(idx);
      return bundles.some((bundle) =>
        rowsWithAll(bundle, terms).some((row) => timeOf(bundle.times, row) === time),
      );
    };
    expect(rows.filter((row) => !loose.has(row.idx) && !isBundled(row))).toEqual([]);
    expect(bundles.length).toBeGreaterThan(0);
    expect(rows.length).toBeGreaterThan(0);
    // The next process stores the same payments.
    db.run('DELETE FROM word_bundle');
    db.run('DELETE FROM word_loose');
    db.run('DELETE FROM cache');
    db.close();
  }
});

test('searches of any number of words keep no statements, neither here nor in a server', async () => {
  const words = (count: number) =>
    Array.from({ length: count }, (_, at) => (at % 3 === 0 ? 'ab12' : 'zimt')).join(' ');
  const texts = Array.from({ length: 300 }, (_, at) => words(at + 1));
  const store = openSqliteStore(':memory:');
  const kept = () => {
    Bun.gc(true);
    return heapStats().objectTypeCounts.SQLStatement ?? 0;
  };
  const before = kept();
  for (const text of texts.slice(0, 60)) await store.cache.list(WALLET, { ...QUERY, text });
  // Bun keeps 20 of a database.
  expect(kept() - before).toBeLessThan(25);
  await store.close();
  const statements = new Set(
    texts.map((text) => cacheConditions(WALLET, { ...QUERY, text }).where),
  );
  expect(statements.size).toBeLessThan(12);
});
