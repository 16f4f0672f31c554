import { Database } from 'bun:sqlite';
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type UnfitRow, unsigned } from '../../src/store/row-signer.ts';
import { openSqliteStore } from '../../src/store/sqlite/index.ts';
import { perform, sqliteRows } from '../../src/store/sqlite/rows.ts';
import { storeContract } from '../contracts/store.ts';
import { damageSpend } from '../support/damage-spend.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { samplePayment } from '../support/sample-payment.ts';
import { fits, newSpend, WALLET } from '../support/store-steps.ts';
import { SLOW_TEST_MS } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

const folder = temporaryFolder('store');
const secretsKey = new Uint8Array(32).fill(7);
afterAll(() => removeFolder(folder));

/** The file below draws all of what is drawn, these some of it. */
const SHARE = { runsShare: 0.3 };
const inMemory = async () => ({ store: openSqliteStore(':memory:'), reopen: null });
storeContract('in memory', inMemory, SHARE);
storeContract('in a file', async () => {
  const path = join(folder, `${crypto.randomUUID()}.sqlite`);
  const forgetCallers = async () => {
    const db = new Database(path);
    db.run("UPDATE idempotency SET any_caller = 1 WHERE caller = 'owner'");
    db.close();
  };
  const damage = async (index: string, text: string) => {
    const db = new Database(path);
    perform(
      damageSpend(
        sqliteRows(
          db,
          unsigned(() => undefined),
        ),
        index,
        text,
      ),
    );
    db.close();
  };
  const open = () => openSqliteStore(path);
  return { store: open(), reopen: async () => open(), forgetCallers, damageSpend: damage };
});

const inSignedFile = async () => {
  const path = join(folder, `${crypto.randomUUID()}.sqlite`);
  const open = () =>
    openSqliteStore(path, {
      secretsKey,
      onUnfit: ({ table, id }) => {
        throw new Error(`The row ${id} of ${table} does not fit.`);
      },
    });
  return { store: open(), reopen: async () => open() };
};
storeContract('in a file whose rows are signed', inSignedFile, SHARE);

describe('the file', () => {
  test('has a spend whose payment cannot be read told, without a key too', async () => {
    const path = join(folder, 'told.sqlite');
    const told: UnfitRow[] = [];
    const store = openSqliteStore(path, { secretsKey: null, onUnfit: (row) => told.push(row) });
    await store.spends.begin(WALLET, newSpend(samplePayment(1)), fits);
    const db = new Database(path);
    db.run("UPDATE spend SET json = '{'");
    db.close();
    expect(await store.spends.unfinished(WALLET)).toEqual([]);
    expect(told).toEqual([{ table: 'spend', id: `${WALLET} ${samplePayment(1).index}` }]);
    await store.close();
  });

  test('is readable by its owner only', async () => {
    const path = join(folder, 'a.sqlite');
    const store = openSqliteStore(path);
    await store.close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
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
