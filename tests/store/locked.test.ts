import { afterAll, beforeEach, expect, setDefaultTimeout, spyOn, test } from 'bun:test';
import { join } from 'node:path';
import { asStorageError } from '../../src/model/storage-error.ts';
import type { Store } from '../../src/store/ports.ts';
import { openSqliteStore } from '../../src/store/sqlite/index.ts';
import { openDatabase } from '../../src/store/sqlite/open.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { samplePayment } from '../support/sample-payment.ts';
import { countOf, fits, newSpend, WALLET } from '../support/store-steps.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

const folder = temporaryFolder('locked');
afterAll(() => removeFolder(folder));

/** A program that takes the lock, says so, and keeps it until its input ends. */
const LOCKER = `
  const { Database } = require('bun:sqlite');
  const db = new Database(process.argv[1]);
  db.run('PRAGMA busy_timeout = 5000');
  db.run('BEGIN ' + process.argv[2]);
  console.log('locked');
  await Bun.stdin.text();
  db.run('COMMIT');
`;

let path: string;
let store: Store;
beforeEach(() => {
  path = join(folder, `${crypto.randomUUID()}.sqlite`);
  store = openSqliteStore(path);
});

/** Another process locks the database; returns how to end that. */
async function lock(kind: 'IMMEDIATE' | 'EXCLUSIVE'): Promise<() => Promise<void>> {
  const program = Bun.spawn([process.execPath, '-e', LOCKER, path, kind], {
    stdin: 'pipe',
    stdout: 'pipe',
  });
  const { value } = await program.stdout.getReader().read();
  expect(new TextDecoder().decode(value)).toContain('locked');
  return async () => {
    program.stdin.end();
    expect(await program.exited).toBe(0);
  };
}

const begin = (number: number) => store.spends.begin(WALLET, newSpend(samplePayment(number)), fits);
const begun = async () =>
  (await store.spends.unfinished(WALLET)).map(({ payment }) => payment.createdAtMs);

/**
 * Counts the timers that this process sets, which here are the pauses of writes that wait for the lock. A write that
 * SQLite lets wait sets none, and holds the event loop meanwhile.
 */
function countPauses() {
  const timers = spyOn(globalThis, 'setTimeout');
  return {
    made: () => timers.mock.calls.length,
    more: (count: number) => {
      const before = timers.mock.calls.length;
      return until(() => timers.mock.calls.length >= before + count, 'writes try again');
    },
    [Symbol.dispose]: () => timers.mockRestore(),
  };
}

for (const kind of ['IMMEDIATE', 'EXCLUSIVE'] as const) {
  test(`a database that is locked while writes try 20 times (${kind}) delays writes, and neither reads nor the event loop`, async () => {
    await begin(1);
    using pauses = countPauses();
    const release = await lock(kind);
    const writes = [begin(2), begin(3)];
    await pauses.more(10);
    expect(await begun()).toEqual([1]);
    writes.push(begin(4));
    await pauses.more(10);
    await release();
    await Promise.all(writes);
    expect(await begun()).toEqual([1, 2, 3, 4]);
    await store.close();
  }, 60_000);
}

test('a database that stays locked gives error 8, keeps nothing of the write, and takes later ones', async () => {
  using pauses = countPauses();
  const release = await lock('IMMEDIATE');
  const results = await Promise.allSettled([begin(1), begin(2), store.identity.advance()]);
  for (const result of results) {
    expect(result).toMatchObject({
      status: 'rejected',
      reason: { kind: 'overCapacity', message: expect.stringContaining('locked') },
    });
  }
  // They wait for 5 seconds, in pauses of 125 ms at most.
  expect(pauses.made()).toBeGreaterThanOrEqual(40);
  const later = begin(3);
  await release();
  await later;
  expect(await begun()).toEqual([3]);
  expect(await store.journal.open(WALLET)).toEqual([samplePayment(3)]);
  expect(await countOf(store)).toBe(0);
  await store.close();
}, 60_000);

test('a locked database is error 8, whichever way SQLite says it', () => {
  for (const code of ['SQLITE_BUSY', 'SQLITE_BUSY_SNAPSHOT', 'SQLITE_LOCKED', 'SQLITE_PROTOCOL']) {
    expect(asStorageError(Object.assign(new Error('x'), { code }))).toMatchObject({
      kind: 'overCapacity',
    });
  }
});

test('SQLite itself waits for a lock for 20 ms at most, since it blocks the event loop meanwhile', async () => {
  await store.close();
  const db = openDatabase(path);
  const { timeout } = db.query('PRAGMA busy_timeout').get() as { timeout: number };
  expect(timeout).toBeLessThanOrEqual(20);
  db.close();
});
