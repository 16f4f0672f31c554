import { Database } from 'bun:sqlite';
import { afterAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { encodePayment, idOf, type Payment, updatedIndexOf } from '../../src/model/payment.ts';
import { openSqliteStore } from '../../src/store/sqlite/index.ts';
import { migrate } from '../../src/store/sqlite/migrations/index.ts';
import { periodStart } from '../../src/wallet/budget/budget.ts';
import { leaseFrom } from '../../src/webhooks/lease.ts';
import { nameRecord } from '../contracts/store/names.ts';
import { claimConfigured, endpointRecord, nextDueAt } from '../support/delivery-steps.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { sampleDone, sampleFailed, samplePayment } from '../support/sample-payment.ts';
import { clientRecord, fits, newSpend, observe, rules, WALLET } from '../support/store-steps.ts';

const DAY_MS = 86_400_000;
const [LND_CLIENT, REVOKED, UNUSABLE, BUDGETED] = ['c1', 'c2', 'c3', 'c4'].map((byte) =>
  byte.repeat(32),
) as [string, string, string, string];
const folder = temporaryFolder('migrations');
afterAll(() => removeFolder(folder));

const pending = samplePayment(1);
const incoming = samplePayment(2, { direction: 'inbound' });
const over = sampleDone(3);

/** The row that version 0.1 stored for a client on LND. */
const lndClient = {
  createdAtMs: 5,
  expiresAtMs: 9_000_000_000_000,
  label: 'shop "1"',
  revokedAtMs: null,
  scopes: ['send', 'read_info'],
  permissions: ['create_invoice'],
  secretHash: '1f'.repeat(32),
  macaroon: '0201',
  rootKeyId: '9007199254740991',
  nodePk: '02',
  network: 'regtest',
};

/** A database of a schema version from 1 to 4, with data of every kind. */
function databaseOf(version: number): string {
  const path = join(folder, `version-${version}-${Math.random()}.sqlite`);
  const db = new Database(path, { create: true });
  db.transaction(() => migrate(db, 0, version))();
  const insert = (sql: string, ...values: (string | number | bigint | null)[]) =>
    db.query(`INSERT INTO ${sql} VALUES (${values.map(() => '?').join(', ')})`).run(...values);
  const journaled = (payment: Payment) =>
    insert(
      'journal (wallet, idx, id, updated_idx, status, json)',
      WALLET,
      payment.index,
      idOf(payment),
      updatedIndexOf(payment),
      payment.status,
      JSON.stringify(encodePayment(payment)),
    );
  for (const payment of [pending, incoming, over]) journaled(payment);
  insert('watch (wallet, kind, key)', WALLET, 'payment', pending.index);
  insert('credential (wallet, client_pk, credentials)', WALLET, LND_CLIENT, 'e30');
  const state = (kind: string, key: string, value: unknown) =>
    insert('connector_state', WALLET, kind, key, JSON.stringify(value));
  state('lnd-client', LND_CLIENT, lndClient);
  state('lnd-client', REVOKED, { ...lndClient, revokedAtMs: 8, label: null, expiresAtMs: null });
  state('lnd-client', UNUSABLE, { label: 'shop' });
  state('lnd-follower', 'macaroon', '0203');
  state('other', 'key', { kept: true });
  for (const client of [LND_CLIENT, BUDGETED]) {
    insert('budget', WALLET, client, 2_100_000_000_000_000_001n, 'day', null);
  }
  insert('spending', WALLET, LND_CLIENT, DAY_MS + 5, pending.index, 2000n);
  insert('spending', WALLET, LND_CLIENT, DAY_MS + 4, over.index, 9_007_199_254_740_993n);
  insert('spending', WALLET, LND_CLIENT, 5, 'older', 70n);
  const key = (name: string, idx: string | null, status: number | null, body: string | null) =>
    insert(
      'idempotency (wallet, key, fingerprint, idx, http_status, body, created_at)',
      WALLET,
      name,
      'print',
      idx,
      status,
      body,
      1,
    );
  key('pay', pending.index, null, null);
  key('done', over.index, 200, '{"a":1}');
  key('accepted', over.index, 202, '{"status":"pending"}');
  key('unknown', null, null, null);
  key('client', null, 200, '{"client_pk":"c1","client_credentials":"secret"}');
  db.close();
  return path;
}

/** The schema version from which on clients are rows of the store. */
const CLIENTS_VERSION = 5;

for (let version = 1; version < CLIENTS_VERSION; version++) {
  describe(`a database of version ${version}`, () => {
    test('loses no payment and nothing that is owed, and opens again', async () => {
      const path = databaseOf(version);
      const store = openSqliteStore(path);
      expect(await store.journal.open(WALLET)).toEqual([pending, incoming]);
      expect(await store.watches.wallets()).toEqual([WALLET]);
      expect(await store.connectorState.get(WALLET, 'other', 'key')).toEqual({ kept: true });
      const seen = await observe(store, [sampleDone(1)], { journaled: true, attempt: 4 });
      expect(seen).toMatchObject({ changed: [{ index: pending.index }], deliveries: 1 });
      expect(await store.outbox.counts()).toMatchObject({ pending: 1 });
      const { id } = store.identity;
      await store.close();
      const again = openSqliteStore(path);
      expect((await again.journal.get(WALLET, pending.index))?.status).toBe('completed');
      expect(again.identity.id).toBe(id);
      await again.close();
    });

    test('has its outgoing payments compared with the node, under their keys', async () => {
      const store = openSqliteStore(databaseOf(version));
      expect(await store.spends.unfinished(WALLET)).toEqual([
        {
          walletId: WALLET,
          payment: pending,
          state: 'asked',
          afterAttempt: null,
          attempt: null,
          plan: null,
          fetchedInvoice: null,
          caller: 'owner',
          idempotencyKey: 'pay',
          approveUntilMs: null,
        },
      ]);
      await observe(store, [sampleFailed(1)], { journaled: true, attempt: 4 });
      expect(await store.spends.unfinished(WALLET)).toEqual([]);
      await store.close();
    });

    test('has its clients on an LND as records, with tokens that must be replaced', async () => {
      const store = openSqliteStore(databaseOf(version));
      const record = {
        walletId: WALLET,
        clientPk: LND_CLIENT,
        nodeKind: 'lnd',
        parentPk: null,
        secretHash: lndClient.secretHash,
        createdAtMs: 5,
        expiresAtMs: 9_000_000_000_000,
        label: 'shop "1"',
        scopes: ['send', 'read_info'],
        permissions: ['create_invoice'],
        revokedAtMs: null,
        budgetState: 'set',
        token: { id: '9007199254740991', token: '0201', exposed: true },
        endedTokenIds: [],
        approveAboveMsat: null,
        origins: null,
        own: false,
      } as const;
      const revoked = {
        ...record,
        clientPk: REVOKED,
        label: null,
        expiresAtMs: null,
        revokedAtMs: 8,
        budgetState: 'none',
        token: null,
      } as const;
      expect(await store.clients.list(WALLET)).toEqual([record, revoked]);
      for (const client of [LND_CLIENT, REVOKED, UNUSABLE]) {
        expect(await store.connectorState.get(WALLET, 'lnd-client', client)).toBeNull();
      }
      expect(await store.connectorState.get(WALLET, 'lnd-follower', 'macaroon')).toBeNull();
      await store.close();
    });

    test('has budgets whose sums are exact, and settles what was reserved before', async () => {
      const store = openSqliteStore(databaseOf(version));
      const spent = async (client: string, nowMs: number) =>
        (await store.budgets.get(WALLET, client, nowMs, periodStart)).spentMsat;
      expect(await spent(LND_CLIENT, DAY_MS)).toBe(9_007_199_254_742_993n);
      // Spending of later periods counts too.
      expect(await spent(LND_CLIENT, 0)).toBe(9_007_199_254_742_993n + 70n);
      expect(await spent(BUDGETED, DAY_MS)).toBe(0n);
      expect((await store.budgets.get(WALLET, LND_CLIENT, 0, periodStart)).budgetState).toBe('set');
      // A payment that was final before the migration is not settled a second time.
      await observe(store, [sampleDone(1), sampleDone(3, { message: 'hi' })], { journaled: true });
      expect(await spent(LND_CLIENT, DAY_MS)).toBe(9_007_199_254_741_998n);
      await store.close();
    });

    test('has its keys for every caller of the wallet, without the credentials they held in clear', async () => {
      const path = databaseOf(version);
      const store = openSqliteStore(path);
      const begin = (caller: string, key: string) =>
        store.idempotency.begin({ walletId: WALLET, caller, key }, 'print', 2);
      for (const caller of ['owner', LND_CLIENT]) {
        // A payment that is begun is gone on with, also where its request was answered with 202.
        for (const [key, { index }] of [
          ['pay', pending],
          ['accepted', over],
        ] as const) {
          const running = { state: 'running', index, effect: null, ofAnyCaller: true } as const;
          expect(await begin(caller, key)).toEqual(running);
        }
        expect(await begin(caller, 'done')).toEqual({
          state: 'done',
          httpStatus: 200,
          body: '{"a":1}',
          ofAnyCaller: true,
        });
        expect(await begin(caller, 'client')).toEqual({ state: 'gone' });
      }
      // Of a request that had neither an answer nor a payment nothing is known.
      expect(await begin(LND_CLIENT, 'unknown')).toEqual({ state: 'new' });
      await store.close();
    });

    test('goes on with sends and budgets as a new one does', async () => {
      const store = openSqliteStore(databaseOf(version));
      const reservation = { clientPk: BUDGETED, amountMsat: 7n, nowMs: DAY_MS };
      await store.spends.begin(WALLET, newSpend(samplePayment(9), { reservation }), fits);
      expect((await store.budgets.get(WALLET, BUDGETED, DAY_MS, periodStart)).spentMsat).toBe(7n);
      await store.close();
    });
  });
}

test('a delivery that version 5 had leased waits for the end of its lease, and its later leases have an owner', async () => {
  const path = join(folder, 'leased.sqlite');
  const db = new Database(path, { create: true });
  db.transaction(() => migrate(db, 0, CLIENTS_VERSION))();
  db.run(
    `INSERT INTO delivery (id, wallet, idx, state, body, due_at, created_at)
     VALUES ('msg_1', 'w', 'i', 'pending', '{}', 30000, 1)`,
  );
  db.close();
  const store = openSqliteStore(path);
  expect(await store.outbox.releaseAbandoned(1000)).toBe(0);
  expect(await nextDueAt(store)).toBe(30_000);
  expect(await claimConfigured(store, { ...leaseFrom(30_000, 1000), limit: 5 })).toHaveLength(1);
  await store.close();
  const next = openSqliteStore(path);
  expect(await next.outbox.releaseAbandoned(30_100)).toBe(1);
  await next.close();
});

test('a database of version 7 gives its wallets names', async () => {
  const path = join(folder, 'nameless.sqlite');
  const db = new Database(path, { create: true });
  db.transaction(() => migrate(db, 0, 7))();
  db.close();
  const store = openSqliteStore(path);
  expect(await store.names.ofWallet(WALLET)).toBeNull();
  await store.names.claim(WALLET, 'satoshi', () => nameRecord());
  expect(await store.names.find('satoshi')).toEqual(nameRecord());
  await store.close();
});

test('a database of version 8 keeps its sends, and the invoices of later ones', async () => {
  const path = join(folder, 'unfetched.sqlite');
  const db = new Database(path, { create: true });
  db.transaction(() => migrate(db, 0, 8))();
  db.query(
    `INSERT INTO spend (wallet, idx, state, json, caller) VALUES (?, ?, 'asked', ?, 'owner')`,
  ).run(WALLET, pending.index, JSON.stringify(encodePayment(pending)));
  db.close();
  const store = openSqliteStore(path);
  expect(await store.spends.get(WALLET, pending.index)).toMatchObject({
    payment: pending,
    fetchedInvoice: null,
  });
  const fetchedInvoice = 'lni1q';
  await store.spends.begin(WALLET, newSpend(samplePayment(9), { fetchedInvoice }), fits);
  expect(await store.spends.get(WALLET, samplePayment(9).index)).toMatchObject({ fetchedInvoice });
  await store.close();
});

test('a database of version 10 keeps its deliveries as they stand, for the configured endpoint, and gets others', async () => {
  const path = join(folder, 'one-receiver.sqlite');
  const db = new Database(path, { create: true });
  db.transaction(() => migrate(db, 0, 10))();
  const insert = db.query(
    `INSERT INTO delivery (id, wallet, idx, state, body, attempts, last_error, due_at, delivered_at, created_at)
     VALUES (?, ?, 'i', ?, ?, ?, ?, ?, ?, 7)`,
  );
  insert.run('msg_1', WALLET, 'pending', '{"type":"payment.held"}', 1, 'no', 20, null);
  insert.run('msg_2', WALLET, 'delivered', '{"type":"payment.finalized"}', 2, null, null, 30);
  insert.run('msg_3', WALLET, 'delivered', null, 1, null, null, 30);
  db.close();
  const store = openSqliteStore(path);
  const query = { walletId: WALLET, state: null, endpoint: null, limit: 9, before: null };
  const row = { endpoint: 'configured', index: 'i', created_at: 7 };
  expect(await store.outbox.list(query)).toEqual([
    {
      ...row,
      id: 'msg_2',
      type: 'payment.finalized',
      state: 'delivered',
      attempts: 2,
      last_error: null,
      next_attempt_at: null,
      delivered_at: 30,
    },
    {
      ...row,
      id: 'msg_1',
      type: 'payment.held',
      state: 'pending',
      attempts: 1,
      last_error: 'no',
      next_attempt_at: 20,
      delivered_at: null,
    },
  ]);
  expect(await claimConfigured(store, { ...leaseFrom(20, 1000), limit: 5 })).toMatchObject([
    { id: 'msg_1', body: '{"type":"payment.held"}' },
  ]);
  await store.webhookEndpoints.add(endpointRecord(), 1);
  // A row whose body was pruned still keeps its webhook-id from being delivered again.
  const draft = { id: 'msg_3', event: 'payment.finalized', body: '{}', createdAtMs: 9 } as const;
  await store.watches.add(WALLET, { kind: 'payment', index: pending.index });
  const observed = { observations: [{ payment: sampleDone(1), attempt: null }], cursor: null };
  const { deliveries } = await store.observations.apply(
    WALLET,
    { ...observed, journaled: false, nowMs: 9 },
    { ...rules, deliver: () => ({ ...draft, endpoints: ['configured', 'ep_1'] }) },
  );
  expect(deliveries).toBe(0);
  await store.close();
});

test('a database of version 17 keeps its signed clients, which may fetch from any origin', async () => {
  const path = join(folder, 'version-17.sqlite');
  const unfit: unknown[] = [];
  const open = () =>
    openSqliteStore(path, {
      secretsKey: new Uint8Array(32).fill(7),
      onUnfit: (row) => void unfit.push(row),
    });
  const older = open();
  const client = clientRecord({ approveAboveMsat: 5n });
  await older.clients.change(WALLET, () => ({ records: [client], budgets: [] }));
  await older.close();
  const db = new Database(path);
  db.run('ALTER TABLE client DROP COLUMN origins');
  db.run('ALTER TABLE client DROP COLUMN own');
  db.run('DROP INDEX cache_by_completion');
  db.run('ALTER TABLE cache DROP COLUMN completed_at');
  db.run('DROP TABLE word_bundle');
  db.run('DROP TABLE word_loose');
  db.run('ALTER TABLE cache DROP COLUMN words');
  db.run('PRAGMA user_version = 17');
  db.close();
  const store = open();
  expect(await store.clients.list(WALLET)).toEqual([client]);
  const bounded = { ...client, origins: ['https://a.example'] };
  await store.clients.change(WALLET, () => ({ records: [bounded], budgets: [] }));
  await store.close();
  const changed = new Database(path);
  changed.run('UPDATE client SET origins = NULL');
  changed.close();
  const again = open();
  expect(await again.clients.find(client.clientPk)).toBeNull();
  expect(unfit).toEqual([{ table: 'client', id: `${WALLET} ${client.clientPk}` }]);
  await again.close();
});

test('a database of version 22 loses the indexes that no statement reads', async () => {
  const path = join(folder, 'version-22.sqlite');
  const db = new Database(path, { create: true });
  db.transaction(() => migrate(db, 0, 22))();
  const unused =
    "SELECT name FROM sqlite_schema WHERE name GLOB '*_by_attempt' OR name GLOB '*_by_key'";
  expect(db.query(unused).all()).toHaveLength(2);
  db.close();
  await openSqliteStore(path).close();
  const after = new Database(path);
  expect(after.query(unused).all()).toEqual([]);
  after.close();
});

test('a database of version 11 keeps apart the keys that are certainly of a version with clients', async () => {
  const path = join(folder, 'keys.sqlite');
  const db = new Database(path, { create: true });
  db.transaction(() => migrate(db, 0, 11))();
  const insert = db.query(
    `INSERT INTO idempotency (wallet, caller, key, fingerprint, idx, effect, subject, http_status, body, gone, created_at)
     VALUES (?, ?, ?, 'print', ?, ?, ?, ?, ?, ?, 1)`,
  );
  const done = [200, '{}', 0] as const;
  const open = [null, null, 0] as const;
  insert.run(WALLET, 'owner', 'done', null, null, null, ...done);
  insert.run(WALLET, 'owner', 'bound', pending.index, null, null, ...open);
  insert.run(WALLET, 'owner', 'gone', null, null, null, null, null, 1);
  insert.run(WALLET, 'owner', 'named', pending.index, '{"withdrawal":"x"}', null, ...done);
  insert.run(WALLET, 'owner', 'secret', null, null, LND_CLIENT, ...done);
  insert.run(WALLET, 'owner', 'begun', null, null, null, ...open);
  insert.run(WALLET, BUDGETED, 'client', pending.index, null, null, ...done);
  db.close();
  const store = openSqliteStore(path);
  const met = async (key: string) =>
    (await store.idempotency.begin({ walletId: WALLET, caller: UNUSABLE, key }, 'print', 2)).state;
  expect([await met('done'), await met('bound'), await met('gone')]).toEqual([
    'done',
    'running',
    'gone',
  ]);
  for (const key of ['named', 'secret', 'begun', 'client']) expect(await met(key)).toBe('new');
  await store.close();
});

test('a database of version 11 loses what was given up while a sync had read it, and nothing else of its cache', async () => {
  const path = join(folder, 'given-up.sqlite');
  const db = new Database(path, { create: true });
  db.transaction(() => migrate(db, 0, 11))();
  const cached = (wallet: string, payment: Payment) =>
    db
      .query(
        'INSERT INTO cache (wallet, idx, status, direction, rail, json) VALUES (?, ?, ?, ?, ?, ?)',
      )
      .run(
        wallet,
        payment.index,
        payment.status,
        payment.direction,
        payment.rail,
        JSON.stringify(encodePayment(payment)),
      );
  const journaled = (wallet: string, payment: Payment) =>
    db
      .query('INSERT INTO journal (wallet, idx, updated_at, status, json) VALUES (?, ?, ?, ?, ?)')
      .run(
        wallet,
        payment.index,
        payment.updatedAtMs,
        payment.status,
        JSON.stringify(encodePayment(payment)),
      );
  // The node of this wallet keeps the history, so that no journal has its payments.
  const [onSandbox, withoutRows] = ['cd'.repeat(32), 'ef'.repeat(32)];
  const [givenUp, known] = [samplePayment(1), samplePayment(2)];
  const open = samplePayment(3, { direction: 'inbound' });
  for (const payment of [givenUp, known, open, sampleDone(4)]) cached(WALLET, payment);
  journaled(WALLET, known);
  cached(onSandbox, givenUp);
  cached(withoutRows, givenUp);
  db.query('INSERT INTO journal_tip VALUES (?, 5)').run(withoutRows);
  db.close();
  const store = openSqliteStore(path);
  const isCached = async (wallet: string, { index }: Payment) =>
    (await store.cache.get(wallet, index)) !== null;
  expect(await isCached(WALLET, givenUp)).toBe(false);
  for (const kept of [known, open, sampleDone(4)]) expect(await isCached(WALLET, kept)).toBe(true);
  expect(await isCached(onSandbox, givenUp)).toBe(true);
  expect(await isCached(withoutRows, givenUp)).toBe(false);
  await store.close();
});
