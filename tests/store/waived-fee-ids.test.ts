import { Database } from 'bun:sqlite';
import { afterAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { blankPayment, encodePayment, updatedIndexOf } from '../../src/model/payment.ts';
import { type PaymentIndex, presentId, type UpdatedIndex } from '../../src/model/payment-index.ts';
import { openSqliteStore } from '../../src/store/sqlite/index.ts';
import { migrate } from '../../src/store/sqlite/migrations/index.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { sampleDone } from '../support/sample-payment.ts';
import { WALLET } from '../support/store-steps.ts';

/** The last schema version in which the id of a waived fee was `wf_<channel id>`. */
const OLD_VERSION = 6;
const [SHOWN, NAMED_ONLY] = ['5a', '5b'].map(
  (byte) => `0000000000000000007-wf_${byte.repeat(32)}`,
) as [PaymentIndex, PaymentIndex];
const NOTE = `see ${SHOWN} or wf_${'5a'.repeat(32)}`;
const waived = {
  ...blankPayment({
    index: SHOWN,
    rail: 'onchain',
    direction: 'info',
    status: 'completed',
    statusMsg: 'completed',
    createdAtMs: 7,
    updatedAtMs: 9,
  }),
  kind: 'waived_channel_fee' as const,
  personalNote: NOTE,
};
const other = sampleDone(3, { personalNote: NOTE });
const folder = temporaryFolder('waived');
afterAll(() => removeFolder(folder));

/** A database with old ids in every column that can name a payment. */
function oldDatabase(): string {
  const path = join(folder, `${Math.random()}.sqlite`);
  const db = new Database(path, { create: true });
  db.transaction(() => migrate(db, 0, OLD_VERSION))();
  const insert = (table: string, row: Record<string, string | number | null>) =>
    db
      .query(
        `INSERT INTO ${table} (${Object.keys(row)}) VALUES (${Object.keys(row).map(() => '?')})`,
      )
      .run(...Object.values(row));
  const wallet = WALLET;
  for (const payment of [waived, other]) {
    const { index: idx, status, direction, rail } = payment;
    const json = JSON.stringify(encodePayment(payment));
    insert('cache', { wallet, idx, status, direction, rail, json });
    const id = idx.slice(20);
    insert('journal', { wallet, idx, id, updated_idx: updatedIndexOf(payment), status, json });
    insert('spend', { wallet, idx, state: 'known', json, caller: 'owner' });
    const delivery = { wallet, idx, state: 'delivered', body: json, created_at: 1 };
    insert('delivery', { id: `msg_${rail}`, ...delivery });
    insert('idempotency', {
      wallet,
      caller: 'owner',
      key: rail,
      fingerprint: 'print',
      http_status: 200,
      body: json,
      created_at: 1,
    });
  }
  insert('cache_cursor', { wallet, updated_idx: `u${SHOWN}` });
  insert('feed_cursor', { wallet, cursor: `u${NAMED_ONLY}` });
  insert('feed_cursor', { wallet: 'lnd', cursor: `{"payments":"-wf_"}` });
  insert('watch', { wallet, kind: 'payment', key: NAMED_ONLY });
  insert('watch', { wallet, kind: 'address', key: 'bcrt1qaddress' });
  const spending = { wallet, client_pk: 'c1', at: 1, amount_msat: 1, settled: 1 };
  insert('spending', { ...spending, idx: NAMED_ONLY });
  insert('delivery', { id: 'pruned', wallet, idx: SHOWN, state: 'delivered', created_at: 1 });
  const key = { wallet, caller: 'owner', fingerprint: 'print', created_at: 1 };
  insert('idempotency', { ...key, key: 'named', idx: NAMED_ONLY });
  insert('idempotency', { ...key, key: 'sealed', http_status: 200, body: 'v1.-wf_ no JSON' });
  db.close();
  return path;
}

test('no table of a migrated store names a waived fee as the first versions did', async () => {
  const path = oldDatabase();
  await openSqliteStore(path).close();
  const db = new Database(path);
  const tables = db
    .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table'")
    .all();
  const kept = tables.flatMap(({ name }) =>
    db.query<Record<string, unknown>, []>(`SELECT * FROM ${name}`).all(),
  );
  const text = JSON.stringify(kept).replaceAll(NOTE, '').replaceAll('-wf_ no JSON', '');
  expect(text.match(/wf_[0-9a-f]{64}/g)).toBeNull();
  expect(text.split(presentId(NAMED_ONLY))).toHaveLength(5);
  db.close();
});

test('a migrated store finds the payment by its present index, created when it was', async () => {
  const store = openSqliteStore(oldDatabase());
  const index = presentId(SHOWN);
  expect(await store.journal.get(WALLET, index)).toEqual({ ...waived, index });
  expect(await store.journal.updatedAfter(WALLET, `u${SHOWN}` as UpdatedIndex, 5)).toHaveLength(1);
  expect((await store.spends.get(WALLET, index))?.payment).toEqual({ ...waived, index });
  const cached = await store.cache.get(WALLET, index);
  expect(JSON.parse(cached?.json ?? '')).toEqual(encodePayment({ ...waived, index }));
  expect(await store.cache.cursor(WALLET)).toBe(presentId(`u${SHOWN}`) as UpdatedIndex);
  expect(await store.observations.cursor(WALLET)).toBe(presentId(`u${NAMED_ONLY}`));
  expect(await store.observations.cursor('lnd')).toBe('{"payments":"-wf_"}');
  await store.close();
});

test('a migrated store keeps every webhook-id and every outcome, and changes no other payment', async () => {
  const store = openSqliteStore(oldDatabase());
  const index = presentId(SHOWN);
  const deliveries = await store.outbox.list({
    walletId: WALLET,
    state: null,
    endpoint: null,
    limit: 9,
    before: null,
  });
  expect(deliveries.map((delivery) => [delivery.id, delivery.index])).toEqual([
    ['msg_invoice', other.index],
    ['msg_onchain', index],
  ]);
  const outcome = (key: string) =>
    store.idempotency.begin({ walletId: WALLET, caller: 'owner', key }, 'print', 2);
  expect(await outcome('onchain')).toEqual({
    state: 'done',
    httpStatus: 200,
    body: JSON.stringify(encodePayment({ ...waived, index })),
    ofAnyCaller: true,
  });
  expect(await outcome('invoice')).toMatchObject({ body: JSON.stringify(encodePayment(other)) });
  expect(await outcome('named')).toMatchObject({ index: presentId(NAMED_ONLY) });
  expect(await outcome('sealed')).toMatchObject({ body: 'v1.-wf_ no JSON' });
  expect(await store.journal.get(WALLET, other.index)).toEqual(other);
  await store.close();
});
