import { Database } from 'bun:sqlite';
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { closeSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type SidecarProcess, startBinary } from '../support/binary.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { send } from '../support/requests.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

const folder = temporaryFolder('care');
const cleanups: (() => unknown)[] = [];
afterAll(() => {
  for (const cleanup of cleanups) cleanup();
  removeFolder(folder);
});
// Each test has a sidecar of its own and waits for what it does at times, so they run side by side.
const TEST_LIMIT_MS = 180_000;

function dev(name: string): SidecarProcess {
  const process = startBinary([
    ...['dev', '--data-dir', join(folder, name), '--listen-addr', '127.0.0.1:0'],
  ]);
  cleanups.push(() => process.signal('SIGKILL'));
  return process;
}

const healthOf = async (baseUrl: string) =>
  String((await send(baseUrl, 'GET', '/v2/health')).body.status);

test.concurrent(
  'a data directory that is removed while the sidecar runs is told by log and health',
  async () => {
    const process = dev('removed');
    const baseUrl = await process.ready();
    expect(await healthOf(baseUrl)).toBe('ok');
    // It goes in one step, since a look at a half of it would name that half alone.
    renameSync(join(folder, 'removed'), join(folder, 'away'));
    rmSync(join(folder, 'away'), { recursive: true });
    await until(async () => (await healthOf(baseUrl)).includes('was removed or replaced'));
    expect(await healthOf(baseUrl)).toContain(join(folder, 'removed', 'sidecar.sqlite'));
    const logged = /ERROR .*sidecar\.sqlite.* was removed or replaced.*backup/;
    await until(() => logged.test(process.log()), 'it is logged');
    expect(await process.stop()).toBe(0);
  },
  TEST_LIMIT_MS,
);

test.concurrent(
  'a database that is replaced while the sidecar runs is told until the file is back',
  async () => {
    const process = dev('replaced');
    const baseUrl = await process.ready();
    const database = join(folder, 'replaced', 'sidecar.sqlite');
    renameSync(database, `${database}.away`);
    closeSync(openSync(database, 'w'));
    await until(async () => (await healthOf(baseUrl)).includes('was removed or replaced'));
    renameSync(`${database}.away`, database);
    await until(async () => (await healthOf(baseUrl)) === 'ok');
    const back = 'The files of the data directory are back.';
    await until(() => process.log().includes(back), 'it is logged');
    expect(await process.stop()).toBe(0);
  },
  TEST_LIMIT_MS,
);

test.concurrent(
  'a damaged page that no request touches is found in the background, with the sentence what to do',
  async () => {
    const first = dev('damaged');
    await first.ready();
    await first.stop();
    const database = join(folder, 'damaged', 'sidecar.sqlite');
    overwritePageOf(database);
    const process = dev('damaged');
    const baseUrl = await process.ready();
    const sentence = `${database} is damaged: stop the sidecar, keep a copy of the file, restore it from a backup, and check the disk.`;
    // The check runs at the lowest priority, and a busy machine leaves it little.
    await until(
      async () => (await healthOf(baseUrl)).includes(sentence),
      'the damage is found',
      150_000,
    );
    await until(() => /ERROR .*sidecar\.sqlite is damaged/.test(process.log()), 'it is logged');
    expect(process.log()).not.toMatch(/sandbox\.sqlite is damaged/);
    expect(await process.stop()).toBe(0);
  },
  TEST_LIMIT_MS,
);

/**
 * Fills a table over many pages, and overwrites one in the middle, which reading the table's first row does not touch.
 */
function overwritePageOf(path: string): void {
  const db = new Database(path);
  db.run(`INSERT INTO idempotency (wallet, caller, key, fingerprint, created_at)
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
    SELECT 'w', 'owner', printf('%08d', i), hex(zeroblob(100)), 4102444800000 FROM n`);
  const { page } = db
    .query<{ page: number }, []>(
      "SELECT max(pageno) AS page FROM dbstat WHERE name = 'idempotency' AND pagetype = 'leaf'",
    )
    .get() ?? { page: 0 };
  const { page_size } = db.query<{ page_size: number }, []>('PRAGMA page_size').get() ?? {
    page_size: 0,
  };
  db.run('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(page_size, 0xa5), 0, page_size, (page - 1) * page_size);
  closeSync(file);
}
