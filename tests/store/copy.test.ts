import { Database } from 'bun:sqlite';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test';
import { copyFileSync, existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Store } from '../../src/store/ports.ts';
import { COPIED_TABLES } from '../../src/store/postgres/copied-tables.ts';
import { openPostgresStore } from '../../src/store/postgres/index.ts';
import { openSqliteStore } from '../../src/store/sqlite/index.ts';
import { periodStart } from '../../src/wallet/budget/budget.ts';
import { runBinary } from '../support/binary.ts';
import { CREATED, fill, RUNNING } from '../support/filled-store.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { postgresPrograms, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { sampleDone, samplePayment } from '../support/sample-payment.ts';
import {
  CLIENT,
  countOf,
  fits,
  newSpend,
  observe,
  setBudget,
  WALLET,
} from '../support/store-steps.ts';
import { SLOW_TEST_MS } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

const programs = postgresPrograms();
const KEY = '5e'.repeat(32);

/** What a store holds, as its ports tell it. */
async function contentOf(store: Store): Promise<unknown> {
  const { identity, clients, spends, journal, outbox, idempotency } = store;
  const all = { walletId: WALLET, id: null, endpoint: null, after: 0, limit: 100 };
  const log = { walletId: WALLET, state: null, endpoint: null, limit: 100, before: null };
  const list = {
    after: null,
    direction: null,
    rail: null,
    sinceMs: null,
    untilMs: null,
    externalId: null,
  };
  return {
    identity: [identity.id, [...identity.secret], await countOf({ identity })],
    clients: await clients.list(WALLET),
    budget: await store.budgets.get(WALLET, CLIENT, 5, periodStart),
    spends: await spends.unfinished(WALLET),
    callers: [await spends.callerOf(WALLET, samplePayment(1).index)],
    journal: await journal.updatedAfter(WALLET, null, 100),
    tip: await journal.tip(WALLET),
    cursor: await store.observations.cursor(WALLET),
    watched: await store.watches.wallets(),
    log: await outbox.list(log),
    attempts: await outbox.attempts(all),
    endpoints: await store.webhookEndpoints.list(WALLET),
    state: await store.connectorState.get(WALLET, 'lnd', 'a'),
    name: await store.names.find('satoshi'),
    done: await idempotency.begin(CREATED, 'print', 1),
    running: await idempotency.begin(RUNNING, 'print', 1),
    cache: await store.cache.list(WALLET, { filter: 'all', order: 'asc', limit: 10, ...list }),
    cached: await store.cache.cursor(WALLET),
  };
}

describe.skipIf(programs === null)('migrate sqlite-to-postgres', () => {
  let server: TestPostgres;
  let dataDir: string;
  let url: string;
  beforeAll(async () => {
    server = await startPostgres(programs ?? '');
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    dataDir = temporaryFolder('migrate');
    url = await server.createDatabase();
  });
  afterEach(() => removeFolder(dataDir));
  const file = () => join(dataDir, 'sidecar.sqlite');
  const migrate = (to = url) =>
    runBinary(['migrate', 'sqlite-to-postgres', '--data-dir', dataDir], {
      env: { PATH: '', HOME: '/nonexistent', SERVICE_DATABASE_URL: to, SERVICE_SECRETS_KEY: KEY },
    });
  const openCopy = () =>
    openPostgresStore({
      url,
      secretsKey: new Uint8Array(32).fill(0x5e),
      onLost: () => undefined,
    });
  const filled = async () => {
    const store = openSqliteStore(file());
    await fill(store);
    const content = await contentOf(store);
    await store.close();
    const db = new Database(file());
    db.run('PRAGMA wal_checkpoint(TRUNCATE)');
    db.close();
    return content;
  };

  test('copies everything that a store holds, and what is made after it comes after it', async () => {
    const content = await filled();
    const { exitCode, stdout, stderr } = await migrate();
    expect(stderr).toBe('');
    expect({ exitCode, stdout }).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(
        /^\d+ rows were copied\. Start with --database-url from now on/,
      ),
    });
    expect(existsSync(file())).toBe(false);
    expect(existsSync(`${file()}.moved`)).toBe(true);
    expect(existsSync(`${file()}-wal`)).toBe(false);
    const kept = openSqliteStore(`${file()}.moved`);
    expect(await contentOf(kept)).toEqual(content);
    await kept.close();
    const copy = await openCopy();
    expect(await contentOf(copy)).toEqual(content);
    const tip = await copy.journal.tip(WALLET);
    await copy.spends.begin(WALLET, newSpend(samplePayment(5)), fits);
    await copy.journal.show(WALLET, samplePayment(5).index);
    expect(await copy.journal.updatedAfter(WALLET, tip, 10)).toHaveLength(1);
    await observe(copy, [sampleDone(5)], { journaled: true });
    expect(await copy.outbox.counts()).toMatchObject({ pending: 1, delivered: 1 });
    await setBudget(copy, null, '02'.repeat(32));
    await copy.close();
  });

  test('keys of any caller are so in the copy too, with their outcomes', async () => {
    await filled();
    const db = new Database(file());
    db.run("UPDATE idempotency SET effect = NULL, any_caller = 1 WHERE caller = 'owner'");
    db.close();
    expect(await migrate()).toMatchObject({ exitCode: 0 });
    const copy = await openCopy();
    const meet = (key: string) =>
      copy.idempotency.begin({ walletId: WALLET, caller: CLIENT, key }, 'print', 1);
    expect(await meet(CREATED.key)).toMatchObject({ body: '{"a":1}', ofAnyCaller: true });
    const { index } = samplePayment(2);
    expect(await meet(RUNNING.key)).toMatchObject({ index, ofAnyCaller: true });
    await copy.close();
  });

  test('every table of the file is copied', async () => {
    await openSqliteStore(file()).close();
    const db = new Database(file(), { readonly: true });
    const tables = db.query("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
    db.close();
    const names = tables.map((row) => (row as { name: string }).name);
    expect(COPIED_TABLES.map(({ table }) => table).toSorted()).toEqual(
      names.filter((name) => !name.startsWith('sqlite_')).toSorted(),
    );
  });

  test('is finished by a repeat when it was cut off before the file was renamed', async () => {
    await filled();
    copyFileSync(file(), `${file()}.before`);
    await migrate();
    copyFileSync(`${file()}.before`, file());
    const again = await migrate();
    expect(again).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('The store had been copied before'),
    });
    expect(existsSync(file())).toBe(false);
  });

  test('leaves a database that holds another store, or is in use, as it is, and the file too', async () => {
    await filled();
    const other = await openCopy();
    const used = await migrate();
    expect(used).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('The database is in use by'),
    });
    await other.close();
    expect(await migrate()).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('holds a store already'),
    });
    expect(existsSync(file())).toBe(true);
    expect(existsSync(`${file()}.moved-to`)).toBe(false);
  });

  test('leaves a directory that is not started as an empty one, but says where its data went', async () => {
    await filled();
    await migrate();
    const place = new URL(url);
    const start = (command: 'serve' | 'dev') =>
      runBinary([command, '--data-dir', dataDir, '--listen-addr', '127.0.0.1:0'], {
        env: { PATH: '', HOME: '/nonexistent' },
      });
    const moved = {
      exitCode: 2,
      stderr: expect.stringContaining(
        `What ${dataDir} held was moved to the database ${place.pathname.slice(1)} at ${place.host}: start with --database-url that names it, or use another --data-dir.`,
      ),
    };
    expect(await start('serve')).toMatchObject(moved);
    expect(await start('dev')).toMatchObject(moved);
    // The kept file holds secrets, so it is removed some day.
    renameSync(`${file()}.moved`, `${file()}.elsewhere`);
    expect(await start('serve')).toMatchObject(moved);
    expect(existsSync(file())).toBe(false);
    // A version before left no note.
    rmSync(`${file()}.moved-to`);
    renameSync(`${file()}.elsewhere`, `${file()}.moved`);
    expect(await start('serve')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('was moved to a database: start with --database-url'),
    });
    expect(existsSync(file())).toBe(false);
  });

  test('that was cut off after the copy is named too, since the file would go on beside the database', async () => {
    await filled();
    copyFileSync(file(), `${file()}.before`);
    await migrate();
    renameSync(`${file()}.before`, file());
    const { exitCode, stderr } = await runBinary([
      'serve',
      '--data-dir',
      dataDir,
      '--listen-addr',
      '127.0.0.1:0',
    ]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('run "wallet-sidecar migrate sqlite-to-postgres" again');
    expect(stderr).toContain(`remove ${file()}.moved-to.`);
  });

  test("is refused beside the sandbox's world, which no database can hold, and leaves all as it is", async () => {
    const content = await filled();
    const world = join(dataDir, 'sandbox.sqlite');
    writeFileSync(world, '');
    expect(await migrate()).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(`Nothing was moved: ${world} is the world of the sandbox`),
    });
    expect(existsSync(`${file()}.moved-to`)).toBe(false);
    const store = openSqliteStore(file());
    expect(await contentOf(store)).toEqual(content);
    await store.close();
    rmSync(world);
    expect(await migrate()).toMatchObject({ exitCode: 0 });
  });

  test('without a database, or without a file, says what is missing', async () => {
    expect(await migrate('')).toMatchObject({ exitCode: 2 });
    expect(await migrate()).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('sidecar.sqlite is not there'),
    });
  });
});
