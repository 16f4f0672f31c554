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
import { isApiError } from '../../src/model/errors.ts';
import type { Store } from '../../src/store/ports.ts';
import { openPostgresStore } from '../../src/store/postgres/index.ts';
import { StoreUnusable } from '../../src/store/unusable.ts';
import { type CuttingProxy, cuttingProxy } from '../support/cutting-proxy.ts';
import { endpointRecord } from '../support/delivery-steps.ts';
import { postgresPrograms, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { throwing } from '../support/rejection.ts';
import { sampleDone, samplePayment } from '../support/sample-payment.ts';
import { stillClock } from '../support/still-clock.ts';
import {
  CLIENT,
  clientRecord,
  fits,
  newSpend,
  observe,
  setBudget,
  WALLET,
} from '../support/store-steps.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

const programs = postgresPrograms();
const secretsKey = new Uint8Array(32).fill(7);
/** Half of this without an answer counts as silence. Elsewhere a server that stands still for a moment must not. */
const SHORT_LEASE_MS = 1500;

describe.skipIf(programs === null)('the store over PostgreSQL', () => {
  let server: TestPostgres;
  let proxy: CuttingProxy;
  let url: string;
  let store: Store;
  let lost: string[];
  const opened: Store[] = [];
  beforeAll(async () => {
    server = await startPostgres(programs ?? '');
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    url = await server.createDatabase();
    proxy = cuttingProxy(Number(new URL(url).port));
    lost = [];
    store = await open();
  });
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close();
    proxy.stop();
  });
  const throughProxy = () => url.replace(/:\d+\//, `:${proxy.port}/`);
  const open = async (change: { key?: Uint8Array; at?: string; leaseMs?: number } = {}) => {
    const { key = secretsKey, at = throughProxy(), ...lease } = change;
    const onLost = (message: string) => void lost.push(message);
    const one = await openPostgresStore({ url: at, secretsKey: key, onLost, ...lease });
    opened.push(one);
    return one;
  };
  const refusal = async (opening: Promise<unknown>): Promise<string> => {
    const error = await opening.then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(StoreUnusable);
    return (error as Error).message;
  };
  const begin = (number: number) =>
    store.spends.begin(
      WALLET,
      newSpend(samplePayment(number), {
        caller: CLIENT,
        reservation: { clientPk: CLIENT, amountMsat: 100n, nowMs: 5 },
      }),
      fits,
    );
  const spentMsat = async () => (await store.budgets.get(WALLET, CLIENT, 5, () => 0)).spentMsat;
  const isCapacityError = (error: unknown) => isApiError(error, 'overCapacity');
  /** Another sidecar takes over, as it can once a lease has ended. */
  const takeOver = () =>
    server.run(
      url,
      `UPDATE wallet_sidecar.ownership_lease SET fence = fence + 1, expires_at = 'infinity';
       UPDATE wallet_sidecar.ownership SET fence = fence + 1, holder = 'another'`,
    );

  test('a process that stands by and is told to stop leaves the database to the next one', async () => {
    const ending = new AbortController();
    const looked = Promise.withResolvers<void>();
    const opening = openPostgresStore({
      url,
      secretsKey,
      onLost: () => undefined,
      standingBy: {
        ending: ending.signal,
        onLook: () => looked.resolve(),
        marked: () => null,
        onAway: () => undefined,
      },
    });
    opening.then((one) => opened.push(one)).catch(() => undefined);
    await looked.promise;
    ending.abort(new Error('told to stop'));
    await store.close();
    expect(await throwing(opening)).toThrow('told to stop');
    const [lease] = await server.run(url, 'SELECT fence FROM wallet_sidecar.ownership_lease');
    expect(lease?.fence).toBe('1');
  });

  test('a commit whose answer was cut off counts once, and its caller hears that it was made', async () => {
    await setBudget(store, { amountMsat: 10_000n, period: 'total', maxPaymentMsat: null });
    for (const number of [1, 2, 3]) {
      proxy.cutAtCommit('server');
      await begin(number);
      expect(proxy.cuts()).toBe(number);
    }
    expect(await spentMsat()).toBe(300n);
    expect(await store.spends.unfinished(WALLET)).toHaveLength(3);
  });

  test('a transaction that was cut off before its commit is made again, and counts once', async () => {
    using _ = stillClock();
    await setBudget(store, { amountMsat: 10_000n, period: 'total', maxPaymentMsat: null });
    // New connections tell the name of what they run.
    await server.endSessions();
    proxy.cutAtCommit('client');
    await begin(1);
    expect(proxy.cuts()).toBe(1);
    expect(await spentMsat()).toBe(100n);
  });

  test('a mark that the process before has left does not tell of a takeover', async () => {
    using _ = stillClock();
    await server.run(url, "UPDATE wallet_sidecar.commit_mark SET mark = '0:7'");
    await server.endSessions();
    proxy.cutAtCommit('client');
    await begin(1);
    expect(proxy.cuts()).toBe(1);
    expect(lost).toEqual([]);
    expect(await store.spends.unfinished(WALLET)).toHaveLength(1);
  });

  test('a key whose row is pruned while it is looked up is new, and is stored', async () => {
    const begun = (nowMs: number) =>
      store.idempotency.begin({ walletId: WALLET, caller: 'owner', key: 'k' }, 'a', nowMs);
    await begun(1);
    // Prunes as soon as the statement has found that the row is there.
    await server.run(
      url,
      `CREATE FUNCTION wallet_sidecar.prune() RETURNS trigger LANGUAGE plpgsql AS
         'BEGIN DELETE FROM wallet_sidecar.idempotency WHERE created_at < 5; RETURN NULL; END';
       CREATE TRIGGER prune AFTER INSERT ON wallet_sidecar.idempotency
         FOR EACH STATEMENT EXECUTE FUNCTION wallet_sidecar.prune()`,
    );
    expect(await begun(5)).toEqual({ state: 'new' });
    expect(await begun(5)).toEqual({ state: 'running', index: null, effect: null });
  });

  test('a commit is told when the database is back, however long it was away', async () => {
    using _ = stillClock();
    proxy.cutAtCommit('server');
    const beginning = begin(1);
    await until(() => proxy.cuts() === 1);
    proxy.refuse(true);
    await until(() => store.problem() !== null);
    expect(await Promise.race([beginning.then(() => 'told'), 'not yet'])).toBe('not yet');
    proxy.refuse(false);
    await beginning;
    expect(await store.spends.unfinished(WALLET)).toHaveLength(1);
  });

  test('sessions that are ended at the server are opened again, and nothing is lost or made twice', async () => {
    using _ = stillClock();
    await setBudget(store, { amountMsat: 1_000_000n, period: 'total', maxPaymentMsat: null });
    for (let number = 1; number <= 20; number++) {
      const work = Promise.all([begin(3 * number), begin(3 * number + 1), begin(3 * number + 2)]);
      await server.endSessions();
      await work;
    }
    expect(await store.spends.unfinished(WALLET)).toHaveLength(60);
    expect(await spentMsat()).toBe(6000n);
    for (const { index } of await store.journal.open(WALLET)) {
      await store.journal.show(WALLET, index);
    }
    const updates = await store.journal.updatedAfter(WALLET, null, 100);
    expect(new Set(updates.map(({ updatedAtMs }) => updatedAtMs)).size).toBe(60);
    expect(lost).toEqual([]);
  });

  test('while the database is away reads and writes are error 8, health says so, and both work by themselves after', async () => {
    await begin(1);
    await server.crash();
    const failures = await Promise.allSettled([begin(2), store.spends.unfinished(WALLET)]);
    for (const failure of failures) {
      expect(failure).toMatchObject({ status: 'rejected' });
      if (failure.status === 'rejected') expect(failure.reason).toSatisfy(isCapacityError);
    }
    await until(() => store.problem() !== null);
    expect(store.problem()).toMatch(
      /database cannot be reached.*error 8.*check that PostgreSQL runs/,
    );
    await server.start();
    await until(() => store.problem() === null);
    expect(await store.spends.unfinished(WALLET)).toHaveLength(1);
    await begin(2);
    await observe(store, [sampleDone(1)], { journaled: true });
    expect(await store.spends.unfinished(WALLET)).toHaveLength(1);
    expect(lost).toEqual([]);
  });

  test('while the database says nothing and ends no connection, requests end with error 8, and work again after', async () => {
    await store.close();
    store = await open({ leaseMs: SHORT_LEASE_MS });
    await begin(1);
    proxy.silence(true);
    const failures = await Promise.allSettled([
      store.spends.unfinished(WALLET),
      store.watches.add(WALLET, { kind: 'address', address: 'a' }),
    ]);
    for (const failure of failures) {
      expect(failure.status).toBe('rejected');
      if (failure.status === 'rejected') expect(failure.reason).toSatisfy(isCapacityError);
    }
    await until(() => store.problem() !== null);
    proxy.silence(false);
    await until(() => store.problem() === null);
    await begin(2);
    expect(await store.spends.unfinished(WALLET)).toHaveLength(2);
    expect(lost).toEqual([]);
  });

  test('a second sidecar is refused with one sentence that says who has the database', async () => {
    const message = await refusal(open());
    expect(message).toMatch(
      /in use by the wallet-sidecar with process id \d+ on .*, started at .*: stop that one, or use another database\. .* share one with --peer-url\./,
    );
    await begin(1);
    expect(lost).toEqual([]);
  });

  test('a database whose sidecar has ended in order is taken over at once', async () => {
    await begin(1);
    await store.close();
    store = await open();
    expect(await store.spends.unfinished(WALLET)).toHaveLength(1);
  });

  test('a sidecar that lost the database writes nothing more, and is told once that it must end', async () => {
    await begin(1);
    await takeOver();
    const writes = await Promise.allSettled([
      begin(2),
      store.spends.asked(WALLET, samplePayment(1).index, { plan: null, journaled: true }),
      store.idempotency.begin({ walletId: WALLET, caller: 'owner', key: 'k' }, 'a', 1),
      store.names.takePlace(
        WALLET,
        { id: samplePayment(1).index.slice(20) as never, source: 'a', expiresAtMs: 10 },
        { nowMs: 1, most: 1, mostOfSource: 1 },
      ),
    ]);
    for (const write of writes) {
      expect(write.status).toBe('rejected');
      if (write.status === 'rejected') expect(write.reason).toSatisfy(isCapacityError);
    }
    await until(() => lost.length > 0);
    expect(lost).toEqual([
      expect.stringMatching(/Another sidecar has taken over the database.*ends/),
    ]);
    const spends = await server.run(url, 'SELECT state FROM wallet_sidecar.spend');
    expect(spends).toHaveLength(1);
  });

  test('who takes over waits for a transaction that runs, and then sees it', async () => {
    const held = await server.session(url);
    await held.run('BEGIN; SELECT 1 FROM wallet_sidecar.ownership FOR SHARE');
    await server.run(
      url,
      "UPDATE wallet_sidecar.ownership_lease SET expires_at = '-infinity', fence = -1",
    );
    let taken = false;
    const next = open({ at: url }).then((other) => {
      taken = true;
      return other;
    });
    await until(async () => {
      const waiting = await server.run(
        url,
        "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'UPDATE wallet_sidecar.ownership SET%'",
      );
      return waiting.length > 0;
    });
    expect(taken).toBe(false);
    await held.run('COMMIT');
    await held.close();
    await next;
  });

  test('secrets are sealed in every row that has one, and what is wrong with a row is not shown', async () => {
    const key = { walletId: WALLET, caller: 'owner', key: 'k' };
    await store.clients.change(WALLET, () => ({
      records: [clientRecord({ token: { id: '7', token: 'geheim', exposed: false } })],
      budgets: [],
    }));
    await store.webhookEndpoints.add(endpointRecord({ secret: 'geheim' }), 1);
    await store.connectorState.put(WALLET, 'lnd', 'a', 'geheim');
    await store.idempotency.begin(key, 'a', 1);
    await store.idempotency.name(key, { json: '"geheim"', index: null });
    await store.idempotency.finish(key, { httpStatus: 200, body: 'geheim', subject: null });
    const spend = newSpend(samplePayment(1), { state: 'begun', plan: 'geheim' });
    await store.spends.begin(WALLET, spend, fits);
    await store.spends.asked(WALLET, samplePayment(1).index, { plan: 'geheim2', journaled: true });
    const { secret } = store.identity;
    const tables = await server.run(
      url,
      "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'wallet_sidecar'",
    );
    for (const { name } of tables) {
      const rows = await server.run(url, `SELECT t::text AS row FROM wallet_sidecar.${name} t`);
      expect(JSON.stringify(rows)).not.toContain('geheim');
      expect(JSON.stringify(rows)).not.toContain(Buffer.from(secret).toString('hex'));
    }
    expect((await store.clients.list(WALLET))[0]?.token?.token).toBe('geheim');
    expect((await store.webhookEndpoints.list(WALLET))[0]?.secret).toBe('geheim');
    expect((await store.spends.unfinished(WALLET))[0]?.plan).toBe('geheim2');
    await server.run(
      url,
      `UPDATE wallet_sidecar.connector_state SET sealed_json = (SELECT sealed_token FROM wallet_sidecar.client)`,
    );
    const moved = store.connectorState.get(WALLET, 'lnd', 'a');
    expect(await throwing(moved)).toThrow(/connector_state.sealed_json does not open/);
  });

  test('another key is refused at the start, and so is a newer schema', async () => {
    await store.close();
    const other = await refusal(open({ key: new Uint8Array(32).fill(8) }));
    expect(other).toMatch(
      /sealed with the key [0-9a-f]{16}, and --secrets-key is the key [0-9a-f]{16}/,
    );
    await server.run(url, 'UPDATE wallet_sidecar.schema_version SET version = 99');
    expect(await refusal(open())).toMatch(/written by a newer version.*schema 99/);
  });

  test('a database that cannot be used is named without its password', async () => {
    const at = (change: string) =>
      url.replace('sidecar@', 'sidecar:geheim@').replace(/\/\w+$/, change);
    expect(await refusal(open({ at: at('/missing') }))).toMatch(
      /^The database missing at 127\.0\.0\.1:\d+ is not there: create it with "createdb"/,
    );
    const closed = at('/missing').replace(/:\d+\//, ':1/');
    const away = await refusal(open({ at: closed }));
    expect(away).toMatch(/cannot be reached: check that PostgreSQL runs/);
    expect(away).not.toContain('geheim');
  });
});
