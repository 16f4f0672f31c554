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
import { openLog } from '../../src/lib/log.ts';
import { openPostgresStore, type PostgresStore } from '../../src/store/postgres/index.ts';
import { budgetRules } from '../../src/wallet/budget/budget.ts';
import { openStoreGuard } from '../../src/wallet/budget/store-guard.ts';
import type { StoreGuard } from '../../src/wallet/session/ports.ts';
import { type CuttingProxy, cuttingProxy } from '../support/cutting-proxy.ts';
import { memoryMarker } from '../support/memory-marker.ts';
import { postgresPrograms, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { type PostgresCopies, postgresCopies } from '../support/postgres-copies.ts';
import { IS_LONG } from '../support/rounds.ts';
import { samplePayment } from '../support/sample-payment.ts';
import { stillClock } from '../support/still-clock.ts';
import { CLIENT, newSpend, setBudget, WALLET } from '../support/store-steps.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

const programs = postgresPrograms();
const secretsKey = new Uint8Array(32).fill(7);
const log = openLog({ level: 'silent', format: 'text', write: () => undefined });
/** The commits that a copy may lack. */
const MISSING = Array.from({ length: 20 }, (_, at) => at + 1);
const untrusted = expect.objectContaining({ kind: 'overBudget' });

/** One sidecar: a store, its guard, and the marker that stays when it ends. */
interface Running {
  readonly store: PostgresStore;
  readonly guard: StoreGuard;
}

describe.skipIf(programs === null)('a PostgreSQL database that goes back', () => {
  let server: TestPostgres;
  let proxy: CuttingProxy;
  let copies: PostgresCopies;
  let url: string;
  let marker: ReturnType<typeof memoryMarker>;
  let open: PostgresStore[];
  let still: Disposable;
  beforeAll(async () => {
    server = await startPostgres(programs ?? '');
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    const own = await server.createDatabase();
    proxy = cuttingProxy(Number(new URL(own).port));
    copies = postgresCopies(server, proxy, own);
    url = own.replace(/:\d+\//, `:${proxy.port}/`);
    marker = memoryMarker();
    open = [];
    // Whenever the database goes back, all connections are cut.
    still = stillClock();
  });
  afterEach(async () => {
    for (const store of open) await store.close();
    proxy.stop();
    still[Symbol.dispose]();
  });

  async function start(): Promise<Running> {
    const onLost = () => undefined;
    const store = await openPostgresStore({ url, secretsKey, onLost });
    open.push(store);
    return { store, guard: await openStoreGuard(store.identity, marker, log) };
  }
  async function end({ store }: Running): Promise<void> {
    open.splice(open.indexOf(store), 1);
    await store.close();
  }
  /** The copy takes the place when no sidecar runs. It holds the lease of the one that it was made of, which ends. */
  async function failOverUnused(standby: string): Promise<void> {
    await copies.failOverTo(standby);
    await server.run(url, "UPDATE wallet_sidecar.ownership_lease SET expires_at = '-infinity'");
  }
  /** A sidecar with a client whose budget is far from used up. */
  async function startWithBudget(): Promise<Running> {
    const running = await start();
    await setBudget(running.store, { amountMsat: 1000n, period: 'total', maxPaymentMsat: null });
    await running.guard.keepUp();
    return running;
  }
  /** What is done before a send with a budget. */
  async function spend({ store, guard }: Running, number: number): Promise<void> {
    guard.requireTrusted();
    const reservation = { clientPk: CLIENT, amountMsat: 1n, nowMs: 1 };
    const payment = samplePayment(number);
    await store.spends.begin(WALLET, newSpend(payment, { reservation }), budgetRules);
    await guard.requireKept();
  }
  async function spendAll(running: Running, numbers: readonly number[]): Promise<void> {
    for (const number of numbers) await spend(running, number);
  }
  for (const missing of IS_LONG ? MISSING : [1, 7, 20]) {
    test(`by ${missing} commits while a sidecar runs: no send with a budget is made, and health says so`, async () => {
      const running = await startWithBudget();
      await spend(running, 100);
      const standby = await copies.copy();
      await spendAll(running, MISSING.slice(0, missing));
      const before = marker.mark;
      await copies.failOverTo(standby);
      const error = await spend(running, 200).catch((it) => it);
      expect(error).toEqual(untrusted);
      expect(running.guard.problem()).toMatch(/restored from an older copy/);
      expect(marker.mark).toEqual(before);
    });

    test(`by ${missing} commits before a takeover: it is noticed, and again by who comes after`, async () => {
      const running = await startWithBudget();
      await spend(running, 100);
      const standby = await copies.copy();
      const fitting = marker.mark;
      await spendAll(running, MISSING.slice(0, missing));
      await end(running);
      await failOverUnused(standby);
      const next = await start();
      expect(next.guard.problem()).toMatch(/restored from an older copy/);
      expect(await spend(next, 200).catch((it) => it)).toEqual(untrusted);
      await end(next);
      // Another sidecar, whose marker has not come further than the copy.
      marker.mark = fitting;
      const third = await start();
      expect(third.guard.problem()).toMatch(/its budgets are not confirmed yet/);
      await third.guard.confirm();
      await spend(third, 201);
    });
  }

  test('is noticed without any send, by the connections that are opened again', async () => {
    const running = await startWithBudget();
    const standby = await copies.copy();
    await spend(running, 1);
    await copies.failOverTo(standby);
    await until(() => running.guard.problem() !== null, 'it is noticed');
    await until(
      async () => (await running.store.identity.standing(null)).isUnconfirmed,
      'the store keeps it',
    );
  });

  test('is noticed by its branch when it has come as far again, or further', async () => {
    for (const further of [0, 3]) {
      const running = await startWithBudget();
      const standby = await copies.copy();
      const fitting = marker.mark;
      await spendAll(running, [11, 12, 13, 14]);
      const trunk = marker.mark;
      await end(running);
      await failOverUnused(standby);
      // A sidecar with a marker that is as old as the copy goes on.
      marker.mark = fitting;
      const other = await start();
      expect(other.guard.problem()).toBeNull();
      for (let number = 21; (marker.mark?.count ?? 0) < (trunk?.count ?? 0) + further; number++) {
        await spend(other, number + further * 100);
      }
      expect(marker.mark?.count).toBe((trunk?.count ?? 0) + further);
      await end(other);
      marker.mark = trunk;
      const again = await start();
      expect(again.guard.problem()).toMatch(/used since, or two copies of it were used/);
      await again.guard.confirm();
      await spend(again, 31 + further * 100);
      await end(again);
    }
  });

  test('between the reservation of a send and the look at it stops that send', async () => {
    const running = await startWithBudget();
    const standby = await copies.copy();
    const reservation = { clientPk: CLIENT, amountMsat: 1n, nowMs: 1 };
    const spent = newSpend(samplePayment(1), { reservation });
    await running.store.spends.begin(WALLET, spent, budgetRules);
    await copies.failOverTo(standby);
    // The marker has not seen the reservation, so it fits the standby.
    expect(await running.guard.requireKept().catch((it) => it)).toEqual(untrusted);
  });

  test('is trusted again when the owner confirms it while the sidecar runs', async () => {
    const running = await startWithBudget();
    const standby = await copies.copy();
    await spendAll(running, [1, 2, 3]);
    await copies.failOverTo(standby);
    expect(await spend(running, 4).catch((it) => it)).toEqual(untrusted);
    await running.guard.confirm();
    await spendAll(running, [5, 6]);
    await end(running);
    const again = await start();
    expect(again.guard.problem()).toBeNull();
  });

  test('a database that was only away, or whose sessions were ended, is trusted', async () => {
    const running = await startWithBudget();
    for (const number of [1, 2, 3]) {
      await copies.whileAway();
      await spend(running, number);
      await server.endSessions();
      await Promise.all([spend(running, 10 + number), spend(running, 20 + number)]);
    }
    expect(running.guard.problem()).toBeNull();
  });
});
