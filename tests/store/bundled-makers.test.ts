import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import type { Store } from '../../src/store/ports.ts';
import { openPostgresStore } from '../../src/store/postgres/index.ts';
import { openSqliteStore } from '../../src/store/sqlite/index.ts';
import { migrate } from '../../src/store/sqlite/migrations/index.ts';
import { bundleOf } from '../../src/store/words/bundle.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { postgresPrograms, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { samplePayment } from '../support/sample-payment.ts';
import { WALLET } from '../support/store-steps.ts';
import { SLOW_TEST_MS } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** The last schemas whose bundles did not say who made what. */
const [WITHOUT, WITHOUT_IN_POSTGRES] = [24, 16];
const [ONE, OTHER_WALLET] = ['01'.repeat(32), 'cd'.repeat(32)];
const folder = temporaryFolder('bundled-makers');
const programs = postgresPrograms();
const secretsKey = new Uint8Array(32).fill(7);
let server: TestPostgres;
beforeAll(async () => {
  if (programs !== null) server = await startPostgres(programs);
});
afterAll(async () => {
  await server?.stop();
  removeFolder(folder);
});

const page = Array.from({ length: 60 }, (_, at) => samplePayment(at + 1));
const own = page[7] as (typeof page)[number];

async function madeIn(store: Store): Promise<string[]> {
  const { json } = await store.cache.list(WALLET, {
    filter: 'all',
    order: 'asc',
    limit: 10,
    after: null,
    direction: null,
    rail: null,
    sinceMs: null,
    untilMs: null,
    externalId: null,
    maker: ONE,
  });
  return json.map((one) => (JSON.parse(one) as { index: string }).index);
}

/** Stores a page of which a client made one payment, and the same page of a wallet without clients. */
async function storePages(store: Store): Promise<void> {
  await store.makers.keep(WALLET, own.index, ONE);
  await store.cache.apply(WALLET, page, null);
  await store.cache.apply(OTHER_WALLET, page, null);
}

const openTables = (url: string) => openPostgresStore({ url, secretsKey, onLost: () => undefined });

describe('what a client made is found in bundles that a version wrote which did not say it', () => {
  test('in a file', async () => {
    const path = join(folder, 'older.sqlite');
    let store = openSqliteStore(path);
    await storePages(store);
    await store.close();
    const db = new Database(path);
    db.transaction(() => {
      db.run('ALTER TABLE word_bundle DROP COLUMN makers');
      db.run(`PRAGMA user_version = ${WITHOUT}`);
    })();
    db.close();
    store = openSqliteStore(path);
    expect(await madeIn(store)).toEqual([own.index]);
    await store.close();
    const read = new Database(path, { readonly: true });
    const makers = read.query('SELECT wallet, makers FROM word_bundle ORDER BY wallet').values();
    read.close();
    // A wallet without clients is not looked through.
    expect(makers).toEqual([
      [WALLET, ''],
      [OTHER_WALLET, null],
    ]);
  });

  test.skipIf(programs === null)('in PostgreSQL', async () => {
    const url = await server.createDatabase();
    let store = await openTables(url);
    await storePages(store);
    await store.close();
    await server.run(url, 'ALTER TABLE wallet_sidecar.word_bundle DROP COLUMN sealed_makers');
    await server.run(
      url,
      `UPDATE wallet_sidecar.schema_version SET version = ${WITHOUT_IN_POSTGRES}`,
    );
    store = await openTables(url);
    expect(await madeIn(store)).toEqual([own.index]);
    await store.close();
  });
});

test('a file of a version before makers has no bundle of which they are not known', () => {
  const db = new Database(':memory:');
  migrate(db, 0, WITHOUT);
  const rows = page.map(({ index: idx, status, direction, rail }) => ({
    ...{ idx, status, direction, rail },
    words: 'zimt',
  }));
  const { since, until, marks, sets, ids, times, lines } = bundleOf(rows);
  db.query('INSERT INTO word_bundle VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?)').run(
    ...([WALLET, since, until, marks, sets, ids, times, lines] as const),
  );
  migrate(db, WITHOUT);
  expect(db.query('SELECT makers, lines FROM word_bundle').values()).toEqual([[null, lines]]);
});

describe.skipIf(programs === null)('in PostgreSQL', () => {
  test('no table says in clear who made the payments of a page, nor which have the same maker', async () => {
    const url = await server.createDatabase();
    const store = await openTables(url);
    for (const payment of page.slice(0, 30)) await store.makers.keep(WALLET, payment.index, ONE);
    await store.cache.apply(WALLET, page, null);
    const [bundle] = await server.run(url, 'SELECT * FROM wallet_sidecar.word_bundle');
    const { sealed_makers: sealed, ...clear } = bundle ?? {};
    expect(sealed).toStartWith('s1.');
    expect(JSON.stringify(bundle)).not.toContain(ONE.slice(0, 16));
    const rows = page.map(({ index: idx, status, direction, rail }) => ({
      ...{ idx, status, direction, rail },
      words: '',
    }));
    const { makers } = bundleOf(rows, new Map(page.slice(0, 30).map(({ index }) => [index, ONE])));
    const set = makers?.split(' ')[1] as string;
    expect(JSON.stringify(clear)).not.toContain(set);
    await store.close();
  });

  test('a row of a maker that was changed keeps no payment from being stored and found', async () => {
    const url = await server.createDatabase();
    const store = await openTables(url);
    await store.makers.keep(WALLET, own.index, ONE);
    await server.run(url, "UPDATE wallet_sidecar.connector_state SET sealed_json = 'x'");
    expect(await store.cache.apply(WALLET, page, null)).toEqual({ numNew: 60, numUpdated: 0 });
    await server.run(url, 'DELETE FROM wallet_sidecar.connector_state');
    await store.makers.keep(WALLET, page[9]?.index ?? '', ONE);
    await store.makers.keep(WALLET, own.index, ONE);
    await server.run(url, 'DELETE FROM wallet_sidecar.word_loose');
    expect(await madeIn(store)).toEqual([own.index, page[9]?.index as string]);
    await store.close();
  });
});
