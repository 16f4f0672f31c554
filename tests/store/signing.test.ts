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
import { createHmac, hkdfSync } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { PaymentIndex } from '../../src/model/payment-index.ts';
import { openPostgresStore } from '../../src/store/postgres/index.ts';
import { rowSigner, type UnfitRow } from '../../src/store/row-signer.ts';
import { SIGNED, type SignedTable } from '../../src/store/signed-tables.ts';
import { openSqliteStore } from '../../src/store/sqlite/index.ts';
import { openDatabase } from '../../src/store/sqlite/open.ts';
import { sqliteSigner } from '../../src/store/sqlite/signing.ts';
import { periodStart } from '../../src/wallet/budget/budget.ts';
import { factsOf, leftToSpend } from '../support/database-writer.ts';
import { fill } from '../support/filled-store.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { postgresPrograms, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { throwing } from '../support/rejection.ts';
import { samplePayment } from '../support/sample-payment.ts';
import { TO_VERSION_3 } from '../support/schema-3.ts';
import { CLIENT, fits, newSpend, setBudget, WALLET } from '../support/store-steps.ts';
import { SLOW_TEST_MS } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

const KEY = new Uint8Array(32).fill(7);
const OTHER_KEY = new Uint8Array(32).fill(8);
const programs = postgresPrograms();
const unfit: UnfitRow[] = [];
const onUnfit = (row: UnfitRow) => void unfit.push(row);
beforeEach(() => void unfit.splice(0));

describe('a file', () => {
  const folder = temporaryFolder('signing');
  const path = join(folder, 'sidecar.sqlite');
  afterEach(() => rmSync(path, { force: true }));
  afterAll(() => removeFolder(folder));

  test('that gets a key keeps all that it held, and is not opened without that key from then on', async () => {
    const before = openSqliteStore(path);
    await fill(before);
    const [facts, left] = [await factsOf(before), await leftToSpend(before)];
    await before.close();
    for (let start = 0; start < 2; start++) {
      const signed = openSqliteStore(path, { secretsKey: KEY, onUnfit });
      expect(signed.identity.isSigned).toBe(true);
      expect(await leftToSpend(signed)).toBe(left);
      expect(await factsOf(signed)).toEqual(facts);
      await signed.close();
    }
    expect(unfit).toEqual([]);
    expect(() => openSqliteStore(path)).toThrow(/are signed with .*start with that key/);
    expect(() => openSqliteStore(path, { secretsKey: OTHER_KEY })).toThrow(/the key that was used/);
  });

  test('has rows used that were signed before a column was added, while that is null in them', () => {
    const signer = rowSigner(KEY, 'id', onUnfit);
    for (const table of Object.values(SIGNED) as SignedTable[]) {
      const { columns, later } = table;
      const before = {
        ...table,
        columns: columns.filter((one) => !later.includes(one)),
        later: [],
      };
      const row = Object.fromEntries(
        [...table.key, ...columns].map((name, at) => [name, later.includes(name) ? null : at]),
      );
      const mac = signer.mac(before, row);
      expect({ table: table.table, fits: signer.fits(table, { ...row, mac }) }).toEqual({
        table: table.table,
        fits: true,
      });
      for (const name of later) expect(signer.fits(table, { ...row, [name]: 0, mac })).toBe(false);
    }
    expect(SIGNED.client.later).toEqual(['approve_above_msat', 'origins', 'own']);
  });

  test('has no row used in which any signed column was changed', async () => {
    const signer = rowSigner(KEY, 'id', onUnfit);
    for (const table of Object.values(SIGNED) as SignedTable[]) {
      const names = [...table.key, ...table.columns];
      const row = Object.fromEntries(names.map((name, at) => [name, at]));
      const mac = signer.mac(table, row);
      expect(signer.fits(table, { ...row, mac })).toBe(true);
      for (const name of names) {
        expect({ name, fits: signer.fits(table, { ...row, [name]: 99, mac }) }).toEqual({
          name,
          fits: false,
        });
      }
      expect(signer.fits(table, { ...row, mac: null })).toBe(false);
      expect(signer.fits({ ...table, table: 'other' }, { ...row, mac })).toBe(false);
      expect(rowSigner(KEY, 'other', onUnfit).fits(table, { ...row, mac })).toBe(false);
      expect(rowSigner(OTHER_KEY, 'id', onUnfit).fits(table, { ...row, mac })).toBe(false);
    }
    expect(unfit[0]).toEqual({ table: 'client', id: '99 1' });
  });

  test('is signed once, so that no later start signs what was changed meanwhile', async () => {
    const first = openSqliteStore(path, { secretsKey: KEY, onUnfit });
    await setBudget(first, { amountMsat: 1n, period: 'day', maxPaymentMsat: null });
    await first.close();
    const db = new Database(path);
    db.run('UPDATE budget SET amount_msat = 1000');
    db.close();
    const again = openSqliteStore(path, { secretsKey: KEY, onUnfit });
    expect((await again.budgets.get(WALLET, CLIENT, 1, periodStart)).budget).toBeNull();
    expect(unfit).toHaveLength(1);
    await again.close();
  });

  test('is signed in the form that stored rows have', () => {
    const row = { wallet: 'w', idx: 'i', to_idx: 't' };
    const key = hkdfSync('sha256', KEY, 'id', 'wallet-sidecar/row-mac', 32);
    const whole = createHmac('sha256', Buffer.from(key)).update('given_way"1:w"1:i"1:t').digest();
    const mac = whole.subarray(0, 16).toString('base64url');
    expect(rowSigner(KEY, 'id', onUnfit).mac(SIGNED.givenWay, row)).toBe(mac);
  });

  test('fits a row that readers are not shown, whichever number below 0 it has, and no other number', () => {
    const signer = rowSigner(KEY, 'id', onUnfit);
    const row = {
      ...{ wallet: 'w', idx: 'i', status: 'pending', json: '{}' },
      ...{ attempt: null, after_attempt: null },
    };
    const mac = signer.mac(SIGNED.journal, { ...row, updated_at: -1 });
    const fits = [-1, -2, 0].map((at) =>
      signer.fits(SIGNED.journal, { ...row, updated_at: at, mac }),
    );
    expect(fits).toEqual([true, true, false]);
  });

  test('says so where what a connector keeps was changed, in the place of beginning anew', async () => {
    const store = openSqliteStore(path, { secretsKey: KEY, onUnfit });
    await store.connectorState.put('w', 'lnd', 'a', { b: 1 });
    const db = new Database(path);
    db.run(`UPDATE connector_state SET json = '{"b":2}'`);
    db.close();
    expect(await throwing(store.connectorState.get('w', 'lnd', 'a'))).toThrow(/connector_state/);
    expect(unfit).toEqual([{ table: 'connector_state', id: 'w lnd a' }]);
    await store.close();
  });

  test('leads from a spend that gave way to no payment but the one that it gave way to', async () => {
    const store = openSqliteStore(path, { secretsKey: KEY, onUnfit });
    await fill(store);
    const [gave, to, other] = [5, 6, 3].map((number) => samplePayment(number).index) as [
      PaymentIndex,
      PaymentIndex,
      PaymentIndex,
    ];
    expect((await store.journal.get(WALLET, gave))?.index).toBe(to);
    const db = new Database(path);
    db.query('UPDATE given_way SET to_idx = ?').run(other);
    db.close();
    expect(await store.journal.get(WALLET, gave)).toBeNull();
    await store.close();
  });

  test('that was never signed is refused where its marker says that it was, unless it is empty', async () => {
    const marked = { secretsKey: KEY, isMarkedSigned: true };
    await openSqliteStore(path, marked).close();
    rmSync(path);
    const before = openSqliteStore(path);
    await fill(before);
    await before.close();
    expect(() => openSqliteStore(path, marked)).toThrow(/changed or replaced.*Restore/);
    expect(() => openSqliteStore(path, { ...marked, secretsKey: null })).toThrow(/Restore/);
  });

  test('that was signed and is empty has no row signed that is added while it is being opened', async () => {
    await openSqliteStore(path).close();
    const db = openDatabase(path);
    const begin = db.transaction.bind(db);
    db.transaction = ((work: () => void) => {
      db.run(
        `INSERT INTO name (wallet, node_kind, username, window_at) VALUES ('w', 'lnd', 'a', 1)`,
      );
      return begin(work);
    }) as typeof db.transaction;
    expect(() => sqliteSigner(db, { secretsKey: KEY, isMarkedSigned: true })).toThrow(/Restore/);
    expect(db.query('SELECT mac FROM name').get()).toEqual({ mac: null });
    db.close();
  });

  test('gives a reservation back once, however often it was copied and its end is told', async () => {
    const store = openSqliteStore(path, { secretsKey: KEY, onUnfit });
    const budget = { amountMsat: 10_000n, period: 'total', maxPaymentMsat: null } as const;
    await setBudget(store, budget);
    const reservation = { clientPk: CLIENT, amountMsat: 4000n, nowMs: 1 };
    await store.spends.begin(WALLET, newSpend(samplePayment(1), { reservation }), fits);
    const db = new Database(path);
    db.run(`INSERT INTO spending (wallet, client_pk, at, idx, amount_msat, settled, mac)
      SELECT wallet, client_pk, at, idx, amount_msat, settled, mac FROM spending`);
    db.close();
    const { index } = samplePayment(1);
    for (let told = 0; told < 3; told++) {
      await store.spends.settle(WALLET, index, 3000n, periodStart);
      expect((await store.budgets.get(WALLET, CLIENT, 1, periodStart)).spentMsat).toBe(3000n);
    }
    await store.close();
  });
});

describe.skipIf(programs === null)('a PostgreSQL database of an older version', () => {
  let server: TestPostgres;
  let url: string;
  let facts: string[];
  beforeAll(async () => {
    server = await startPostgres(programs ?? '');
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    url = await server.createDatabase();
    const store = await open();
    await fill(store);
    facts = await factsOf(store);
    await store.close();
    await server.run(url, TO_VERSION_3);
  });
  const open = (change: { isMarkedSigned?: boolean } = {}) =>
    openPostgresStore({ url, secretsKey: KEY, onLost: () => undefined, onUnfit, ...change });

  test('is signed once, with all that it held but the sums of budgets', async () => {
    for (let start = 0; start < 2; start++) {
      const store = await open();
      const found = await factsOf(store);
      await store.close();
      expect(unfit).toEqual([]);
      expect(found.filter((fact) => !isOfVersion3(fact))).toEqual(
        facts.filter((fact) => !isOfVersion3(fact)),
      );
    }
  });

  test('has no row used in which a column was changed, or a sealed one cannot be opened', async () => {
    await (await open()).close();
    for (const change of [`budget_state = 'lifted'`, `sealed_token = 'x'`]) {
      unfit.splice(0);
      await server.run(
        url,
        `UPDATE wallet_sidecar.client SET ${change} WHERE client_pk = '${CLIENT}'`,
      );
      const store = await open();
      expect(await store.clients.find(CLIENT)).toBeNull();
      expect((await store.clients.list(WALLET)).map(({ clientPk }) => clientPk)).not.toContain(
        CLIENT,
      );
      await store.close();
      expect(unfit).toContainEqual({ table: 'client', id: `${WALLET} ${CLIENT}` });
    }
  });

  test('is refused where the marker says that it was signed', async () => {
    expect(await throwing(open({ isMarkedSigned: true }))).toThrow(/changed or replaced.*Restore/);
    await (await open()).close();
  });
});

/** The old schema did not have what gave way to what. */
function isOfVersion3(fact: string): boolean {
  return fact.startsWith('payment');
}
