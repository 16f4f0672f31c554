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
import type { SQL } from 'bun';
import { ApiError, isApiError } from '../../src/model/errors.ts';
import type { Payment } from '../../src/model/payment.ts';
import type { Store } from '../../src/store/ports.ts';
import { openConnections } from '../../src/store/postgres/connections.ts';
import { ownedDatabase } from '../../src/store/postgres/database.ts';
import { openPostgresStore } from '../../src/store/postgres/index.ts';
import { runJoined } from '../../src/store/postgres/joined-writes.ts';
import type { Ownership } from '../../src/store/postgres/ownership.ts';
import { ownedTransactions } from '../../src/store/postgres/transactions.ts';
import { type CuttingProxy, cuttingProxy } from '../support/cutting-proxy.ts';
import { postgresPrograms, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { throwing } from '../support/rejection.ts';
import { sampleDone, samplePayment } from '../support/sample-payment.ts';
import { stillClock } from '../support/still-clock.ts';
import {
  CLIENT,
  countOf,
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

describe.skipIf(programs === null)('writes of a wallet that share a transaction (141)', () => {
  let server: TestPostgres;
  let proxy: CuttingProxy;
  let url: string;
  let store: Store;
  let lost: string[];
  beforeAll(async () => {
    server = await startPostgres(programs ?? '');
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    url = await server.createDatabase();
    proxy = cuttingProxy(Number(new URL(url).port));
    lost = [];
    store = await openPostgresStore({
      url: url.replace(/:\d+\//, `:${proxy.port}/`),
      secretsKey,
      onLost: (message) => void lost.push(message),
    });
    await setBudget(store, { amountMsat: 10_000n, period: 'total', maxPaymentMsat: null });
  });
  afterEach(async () => {
    await store.close();
    proxy.stop();
  });

  interface Begun {
    readonly amountMsat?: bigint;
    readonly journaled?: boolean;
    readonly previous?: Payment;
  }
  const begin = (number: number, change: Begun = {}) => {
    const { amountMsat = 100n, journaled = true, previous = null } = change;
    const reservation = { clientPk: CLIENT, amountMsat, nowMs: 5 };
    const others = { caller: CLIENT, reservation, journaled, previous };
    const spend = newSpend(samplePayment(number), others);
    return store.spends.begin(WALLET, spend, fits);
  };
  const beginAll = (count: number) => Array.from({ length: count }, (_, at) => begin(at + 1));
  const spentMsat = async () => (await store.budgets.get(WALLET, CLIENT, 5, () => 0)).spentMsat;
  /** In the order in which they were written: those that no reader is shown yet are numbered from -1 on downward. */
  const journaled = async () => {
    const rows = await server.run(
      url,
      'SELECT substr(idx, 1, 19)::bigint AS ms FROM wallet_sidecar.journal ORDER BY updated_at DESC',
    );
    return rows.map(({ ms }) => Number(ms));
  };
  const transactions = async () => {
    const [row] = await server.run(
      url,
      "SELECT max(split_part(mark, ':', 2)::int) AS number FROM wallet_sidecar.commit_mark WHERE mark <> ''",
    );
    return Number(row?.number);
  };
  /** Starts writes while another session has the lock of the wallet, so that they wait together. */
  const whileLocked = async <T>(start: () => T, meanwhile?: () => Promise<unknown>): Promise<T> => {
    const other = await server.session(url);
    await other.run(
      `BEGIN; SELECT 1 FROM wallet_sidecar.write_lock WHERE name = '${WALLET}' FOR UPDATE`,
    );
    const started = start();
    await until(async () => {
      const waiting = await server.run(
        url,
        "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%FROM wallet_sidecar.write_lock%'",
      );
      return waiting.length > 0;
    });
    await meanwhile?.();
    await other.run('COMMIT');
    await other.close();
    return started;
  };

  test('run in the order of their calls, at most 32 in one transaction', async () => {
    const before = await transactions();
    await Promise.all(await whileLocked(() => beginAll(40)));
    expect(await transactions()).toBe(before + 2);
    expect(await journaled()).toEqual(Array.from({ length: 40 }, (_, at) => at + 1));
    expect(await spentMsat()).toBe(4000n);
  });

  test('one that fails, by a rule or in the database, undoes itself and nothing else', async () => {
    const before = await transactions();
    const results = await Promise.allSettled(
      await whileLocked(() => [
        begin(1),
        begin(2, { amountMsat: 9_901n }),
        begin(3, { amountMsat: 9_800n }),
        begin(1, { previous: samplePayment(1) }),
        begin(3, { amountMsat: 50n, journaled: false }),
        begin(4),
        begin(5, { amountMsat: 1n }),
      ]),
    );
    expect(await transactions()).toBe(before + 1);
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
      'rejected',
      'fulfilled',
      'rejected',
    ]);
    const [, above, , again, twice] = results.map((result) =>
      result.status === 'rejected' ? (result.reason as Error) : null,
    );
    expect(isApiError(above, 'overBudget')).toBe(true);
    expect(again?.message).toContain('exists already');
    expect(twice?.message).toContain('duplicate key');
    expect(await journaled()).toEqual([1, 3, 4]);
    expect(await store.spends.unfinished(WALLET)).toHaveLength(3);
    expect(await spentMsat()).toBe(10_000n);
  });

  test('all hear of a commit whose answer was cut off, and each of its own failure', async () => {
    const writes = await whileLocked(
      () => [...beginAll(5), begin(6, { amountMsat: 10_000n }), begin(7)],
      async () => proxy.cutAtCommit('server'),
    );
    const results = await Promise.allSettled(writes);
    expect(proxy.cuts()).toBe(1);
    expect(results.filter(({ status }) => status === 'rejected')).toEqual([
      { status: 'rejected', reason: expect.objectContaining({ message: 'over budget' }) },
    ]);
    expect(await journaled()).toEqual([1, 2, 3, 4, 5, 7]);
    expect(await spentMsat()).toBe(600n);
  });

  test('are all made again, once, when their transaction was cut off before its commit', async () => {
    using _ = stillClock();
    // New connections tell the name of what they run.
    await server.endSessions();
    const writes = await whileLocked(
      () => [...beginAll(5), begin(6, { amountMsat: 10_000n }), begin(7)],
      async () => proxy.cutAtCommit('client'),
    );
    const results = await Promise.allSettled(writes);
    expect(proxy.cuts()).toBe(1);
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(1);
    expect(await journaled()).toEqual([1, 2, 3, 4, 5, 7]);
    expect(await spentMsat()).toBe(600n);
  });

  test('are all made again when their session is ended in the middle', async () => {
    using _ = stillClock();
    const writes = await whileLocked(() => beginAll(20));
    await server.endSessions();
    await Promise.all(writes);
    expect(await spentMsat()).toBe(2000n);
    expect(await store.spends.unfinished(WALLET)).toHaveLength(20);
  });

  test('are made again when another transaction ended one, whichever of its statements is told so', async () => {
    await begin(1);
    // The server looks for a deadlock when a statement has waited for a second.
    await server.run(
      url,
      `CREATE SEQUENCE wallet_sidecar.times;
       CREATE FUNCTION wallet_sidecar.end_first() RETURNS trigger LANGUAGE plpgsql AS
         'BEGIN IF nextval(''wallet_sidecar.times'') = 1 THEN
             PERFORM pg_sleep(1); RAISE ''ended'' USING ERRCODE = ''40P01''; END IF;
           RETURN OLD; END';
       CREATE TRIGGER end_first BEFORE DELETE ON wallet_sidecar.spend
         FOR EACH ROW EXECUTE FUNCTION wallet_sidecar.end_first()`,
    );
    const [seen] = await Promise.all([
      observe(store, [sampleDone(1)], { journaled: true }),
      begin(2),
    ]);
    expect(await server.run(url, 'SELECT last_value::int FROM wallet_sidecar.times')).toEqual([
      { last_value: 2 },
    ]);
    expect(seen.changed).toHaveLength(1);
    expect(await store.spends.unfinished(WALLET)).toHaveLength(1);
  });

  test('none is told as made when the lease was lost in the middle', async () => {
    const writes = await whileLocked(
      () => beginAll(3),
      async () => {
        await server.run(
          url,
          "UPDATE wallet_sidecar.ownership_lease SET fence = fence + 1, expires_at = 'infinity'",
        );
        await until(() => lost.length > 0);
      },
    );
    for (const result of await Promise.allSettled(writes)) {
      expect(result.status).toBe('rejected');
      if (result.status === 'rejected')
        expect(isApiError(result.reason, 'overCapacity')).toBe(true);
    }
    expect(lost).toHaveLength(1);
  });

  test('are made before the store closes, and those of other wallets do not wait for them', async () => {
    const other = 'cd'.repeat(32);
    let closing: Promise<void> | undefined;
    const writes = await whileLocked(
      () => beginAll(3),
      async () => {
        await store.watches.add(other, { kind: 'address', address: 'a' });
        closing = store.close();
      },
    );
    await Promise.all(writes);
    await closing;
    const spends = await server.run(url, 'SELECT 1 FROM wallet_sidecar.spend');
    expect(spends).toHaveLength(3);
  });

  test('hold the counter of all wallets only when each has run', async () => {
    const other = await server.session(url);
    // The second write waits for this row.
    await other.run(`BEGIN; INSERT INTO wallet_sidecar.watch VALUES ('${WALLET}', 'address', 'a')`);
    const before = await countOf(store);
    const writes = await whileLocked(() => [
      begin(1),
      store.watches.add(WALLET, { kind: 'address', address: 'a' }),
      begin(2, { amountMsat: 10_000n }),
      begin(3),
    ]);
    const waits = (what: string) =>
      server.run(
        url,
        `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%${what}%'`,
      );
    await until(async () => (await waits('INSERT INTO wallet_sidecar.watch')).length > 0);
    let advanced = 0;
    const advancing = store.identity.advance().then(({ count }) => {
      advanced = count;
    });
    await until(async () => advanced > 0 || (await waits('UPDATE wallet_sidecar.meta')).length > 0);
    expect(advanced).toBe(before + 1);
    await other.run('ROLLBACK');
    await other.close();
    await advancing;
    await Promise.allSettled(writes);
    expect(await countOf(store)).toBe(before + 2);
    expect(await spentMsat()).toBe(200n);
  });

  test('do not advance the counter when they fail', async () => {
    const before = await countOf(store);
    const tooMuch = { amountMsat: 10_001n };
    await Promise.allSettled([begin(1, tooMuch)]);
    await Promise.allSettled(await whileLocked(() => [begin(2, tooMuch), begin(3, tooMuch)]));
    expect(await countOf(store)).toBe(before);
  });

  test('are refused at once when the store was told to close', async () => {
    const add = () => store.watches.add(WALLET, { kind: 'address', address: 'a' });
    const closing = store.close();
    for (const late of [add(), closing.then(add)]) {
      const error = await late.catch((reason: unknown) => reason);
      expect(isApiError(error, 'overCapacity')).toBe(true);
      expect((error as Error).message).toBe('The sidecar is stopping: try again in a moment.');
    }
  });

  test('one that hid the error of a statement undoes all, since it has undone itself', async () => {
    await server.run(url, 'CREATE TABLE number (value INT PRIMARY KEY)');
    const [lease] = await server.run(url, 'SELECT fence FROM wallet_sidecar.ownership');
    const connections = openConnections(url, 2);
    const ownership = { fence: BigInt(lease?.fence as number), lost: () => new Error('lost') };
    const transactions = ownedTransactions(
      connections,
      ownership as unknown as Ownership,
      new AbortController().signal,
    );
    const add = (value: number) => async (tx: SQL) =>
      void (await tx`INSERT INTO public.number VALUES (${value})`);
    const hidden = async (tx: SQL) => {
      await add(2)(tx);
      await add(2)(tx).catch(() => undefined);
    };
    for (const writes of [[add(1), hidden, add(3)], [add(1), hidden], [hidden]]) {
      const run = () => transactions.run({ slot: 0, lock: WALLET }, (tx) => runJoined(tx, writes));
      expect(await throwing(run())).toThrow(/aborted|a statement had failed/);
      expect(await server.run(url, 'SELECT * FROM number')).toEqual([]);
    }
    await connections.close();
  });

  test('a write that is committed while the database is lost says that it may have been written', async () => {
    await server.run(url, 'CREATE TABLE number (value INT)');
    const [lease] = await server.run(url, 'SELECT fence FROM wallet_sidecar.ownership');
    const connections = openConnections(url, 2);
    const lost = () => new ApiError('overCapacity', 'Another sidecar has the database.');
    const ownership = { fence: BigInt(lease?.fence as number), lost, confirm: async () => {} };
    const database = ownedDatabase(connections, ownership as unknown as Ownership, {
      mostWrites: 1,
      onAdvance: () => undefined,
    });
    const add = () =>
      database.write(WALLET, (tx) => tx`INSERT INTO public.number VALUES (1)`).catch((e) => e);
    ownership.confirm = () => Promise.reject(lost());
    expect(await add()).toMatchObject({ kind: 'overCapacity', outcomeUnknown: true });
    expect(await server.run(url, 'SELECT * FROM number')).toHaveLength(1);
    ownership.fence = -1n;
    expect(await add()).toMatchObject({ kind: 'overCapacity', outcomeUnknown: false });
    expect(await server.run(url, 'SELECT * FROM number')).toHaveLength(1);
    await database.close();
    await connections.close();
  });
});
