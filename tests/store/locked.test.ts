import { afterAll, beforeEach, expect, setDefaultTimeout, spyOn, test } from 'bun:test';
import { join } from 'node:path';
import { asStorageError } from '../../src/model/storage-error.ts';
import type { Store } from '../../src/store/ports.ts';
import { openSqliteStore } from '../../src/store/sqlite/index.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { samplePayment } from '../support/sample-payment.ts';
import { countOf, fits, newSpend, WALLET } from '../support/store-steps.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

const folder = temporaryFolder('locked');
afterAll(() => removeFolder(folder));

/** How long the event loop may do nothing; a write that waits for the lock itself would hold it for longer. */
const IDLE_MS = 1500;

/** A program that takes the lock, says so, keeps it until its input ends, and says how long it was itself held up. */
const LOCKER = `
  const { Database } = require('bun:sqlite');
  const db = new Database(process.argv[1]);
  db.run('PRAGMA busy_timeout = 5000');
  db.run('BEGIN ' + process.argv[2]);
  let [last, longestMs] = [performance.now(), 0];
  const tick = () => {
    longestMs = Math.max(longestMs, performance.now() - last);
    last = performance.now();
  };
  const timer = setInterval(tick, 5);
  console.log('locked');
  await Bun.stdin.text();
  clearInterval(timer);
  tick();
  db.run('COMMIT');
  console.log(Math.ceil(longestMs));
`;

let path: string;
let store: Store;
beforeEach(() => {
  path = join(folder, `${crypto.randomUUID()}.sqlite`);
  store = openSqliteStore(path);
});

/**
 * Another process locks the database; returns how to end that, and with it for how long the machine held up that
 * process, milliseconds.
 */
async function lock(kind: 'IMMEDIATE' | 'EXCLUSIVE'): Promise<() => Promise<number>> {
  const program = Bun.spawn([process.execPath, '-e', LOCKER, path, kind], {
    stdin: 'pipe',
    stdout: 'pipe',
  });
  const output = program.stdout.getReader();
  const { value } = await output.read();
  expect(new TextDecoder().decode(value)).toContain('locked');
  return async () => {
    program.stdin.end();
    const { value: held } = await output.read();
    expect(await program.exited).toBe(0);
    return Number(new TextDecoder().decode(held));
  };
}

const begin = (number: number) => store.spends.begin(WALLET, newSpend(samplePayment(number)), fits);
const begun = async () =>
  (await store.spends.unfinished(WALLET)).map(({ payment }) => payment.createdAtMs);

/** Measures the longest time for which the event loop was blocked. */
function watchEventLoop(): () => number {
  let [last, longestMs] = [performance.now(), 0];
  const tick = () => {
    const now = performance.now();
    longestMs = Math.max(longestMs, now - last);
    last = now;
  };
  const timer = setInterval(tick, 5);
  return () => {
    clearInterval(timer);
    tick();
    return longestMs;
  };
}

/** Counts the timers that this process sets, which here are the pauses of writes that wait for the lock. */
function countPauses() {
  const timers = spyOn(globalThis, 'setTimeout');
  return {
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
    const longestMs = watchEventLoop();
    const writes = [begin(2), begin(3)];
    await pauses.more(10);
    expect(await begun()).toEqual([1]);
    writes.push(begin(4));
    await pauses.more(10);
    const heldUpMs = await release();
    await Promise.all(writes);
    expect(longestMs()).toBeLessThan(IDLE_MS + heldUpMs);
    expect(await begun()).toEqual([1, 2, 3, 4]);
    await store.close();
  }, 60_000);
}

test('a database that stays locked gives error 8, keeps nothing of the write, and takes later ones', async () => {
  const release = await lock('IMMEDIATE');
  const longestMs = watchEventLoop();
  const results = await Promise.allSettled([begin(1), begin(2), store.identity.advance()]);
  for (const result of results) {
    expect(result).toMatchObject({
      status: 'rejected',
      reason: { kind: 'overCapacity', message: expect.stringContaining('locked') },
    });
  }
  const idleMs = longestMs();
  const later = begin(3);
  expect(idleMs).toBeLessThan(IDLE_MS + (await release()));
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
