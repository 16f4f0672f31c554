import { Database } from 'bun:sqlite';
import { afterAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { examplePayment } from '../../src/http/examples.ts';
import { encodePayment } from '../../src/model/payment.ts';
import { openSqliteStore } from '../../src/store/sqlite/index.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { sampleDone } from '../support/sample-payment.ts';
import { observe, WALLET } from '../support/store-steps.ts';

const folder = temporaryFolder('older-rows');
afterAll(() => removeFolder(folder));

const { invoice } = examplePayment;
const payments = [1, 2, 3].map((number) => sampleDone(number, { invoice, updatedAtMs: number }));
const EVERYTHING = {
  filter: 'all',
  order: 'asc',
  limit: 2,
  after: null,
  direction: null,
  rail: null,
  sinceMs: null,
  untilMs: null,
  externalId: null,
} as const;

/** What later versions have added. */
const ADDED = [
  ...['description', 'external_id', 'refund_of', 'refunded'],
  ...['price', 'rate', 'rate_at', 'rate_source'],
];
const PATHS = ADDED.map((name) => `'$.${name}'`).join();

/** A file whose rows are as version 0.2 wrote them. */
async function olderFile(name: string): Promise<string> {
  const path = join(folder, name);
  const store = openSqliteStore(path);
  await store.cache.apply(WALLET, payments, null);
  await observe(store, payments, { journaled: true, cursor: null });
  await store.close();
  const db = new Database(path);
  for (const table of ['cache', 'journal']) {
    db.run(`UPDATE ${table} SET json = json_remove(json, ${PATHS})`);
  }
  db.close();
  return path;
}

function jsonOf(path: string): string[] {
  const db = new Database(path);
  const rows = db.query<{ json: string }, []>('SELECT json FROM cache ORDER BY idx').all();
  db.close();
  return rows.map(({ json }) => json);
}

for (const secretsKey of [null, new Uint8Array(32).fill(7)]) {
  const how = secretsKey ? 'with a secrets key' : 'without a secrets key';
  test(`rows of an older version are told with every field, and stored so by a list, ${how}`, async () => {
    const path = await olderFile(how);
    const unfit: unknown[] = [];
    const open = () => openSqliteStore(path, { secretsKey, onUnfit: (row) => unfit.push(row) });
    const whole = payments.map((payment) =>
      JSON.stringify(encodePayment({ ...payment, description: 'Coffee' })),
    );
    let store = open();
    const [first] = payments;
    expect(await store.cache.get(WALLET, first?.index ?? ('' as never))).toMatchObject({
      json: whole[0],
    });
    expect((await store.cache.list(WALLET, EVERYTHING)).json).toEqual(whole.slice(0, 2));
    expect(jsonOf(path).map((json) => json.includes('"description"'))).toEqual([true, true, false]);
    const all = { ...EVERYTHING, limit: 10 };
    expect((await store.cache.list(WALLET, all)).json).toEqual(whole);
    expect(jsonOf(path)).toEqual(whole);
    const journal = await store.journal.updatedAfter(WALLET, null, 10);
    expect(journal.map(({ description, externalId }) => [description, externalId])).toEqual(
      payments.map(() => ['Coffee', null]),
    );
    await store.close();
    store = open();
    expect((await store.cache.list(WALLET, all)).json).toEqual(whole);
    await store.close();
    expect(unfit).toEqual([]);
  });
}
