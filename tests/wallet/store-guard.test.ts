import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Mark } from '../../src/lib/files/marker-file.ts';
import { openLog } from '../../src/lib/log.ts';
import { ApiError } from '../../src/model/errors.ts';
import type { Store, StoreIdentity, StoreStanding } from '../../src/store/ports.ts';
import { openSqliteStore } from '../../src/store/sqlite/index.ts';
import { budgetRules } from '../../src/wallet/budget/budget.ts';
import { openStoreGuard } from '../../src/wallet/budget/store-guard.ts';
import type { StoreGuard } from '../../src/wallet/session/ports.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { memoryMarker } from '../support/memory-marker.ts';
import { samplePayment } from '../support/sample-payment.ts';
import {
  CLIENT,
  clientRecord,
  countOf,
  newSpend,
  setBudget,
  WALLET,
} from '../support/store-steps.ts';
import { until } from '../support/until.ts';

let directory: string;
let path: string;
let marker: ReturnType<typeof memoryMarker>;
let running: { store: Store; guard: StoreGuard } | null;
let logged: string[];
beforeEach(() => {
  directory = temporaryFolder('guard');
  path = join(directory, 'store.db');
  marker = memoryMarker();
  running = null;
  logged = [];
});
afterEach(async () => {
  await running?.store.close();
  removeFolder(directory);
});

/** Opens the store and its guard again, as a new start does. */
async function start() {
  await running?.store.close();
  const store = openSqliteStore(path);
  const log = openLog({ level: 'warn', format: 'text', write: (line) => logged.push(line) });
  running = { store, guard: await openStoreGuard(store.identity, marker, log) };
  return running;
}

const FILES = ['', '-wal', '-shm'];
function backUp(name: string): void {
  for (const end of FILES.slice(0, 2)) {
    if (existsSync(path + end)) cpSync(path + end, join(directory, name + end));
  }
}

/** Replaces the database by the copy while no process has it open. */
async function restore(name: string): Promise<void> {
  await running?.store.close();
  running = null;
  for (const end of FILES) rmSync(path + end, { force: true });
  for (const end of FILES) {
    if (existsSync(join(directory, name + end))) cpSync(join(directory, name + end), path + end);
  }
}

/** Reserves an amount in a client's budget, and updates the marker as is done before sending. */
async function spend({ store, guard }: { store: Store; guard: StoreGuard }, number: number) {
  const payment = samplePayment(number);
  const reservation = { clientPk: CLIENT, amountMsat: 1n, nowMs: 1 };
  await store.spends.begin(WALLET, newSpend(payment, { reservation }), budgetRules);
  await guard.requireKept();
}

/** A store with a client that has a budget. Its marker is up to date. */
async function startWithBudget() {
  const started = await start();
  await setBudget(started.store, { amountMsat: 1000n, period: 'total', maxPaymentMsat: null });
  await started.guard.keepUp();
  return started;
}

/** The mark of the store as it is. */
async function markOf({ identity }: Store) {
  return { storeId: identity.id, ...(await identity.standing(null)).newest };
}

const untrusted = expect.objectContaining({ kind: 'overBudget', data: { remaining: '0' } });
function spending({ guard }: { guard: StoreGuard }): unknown {
  try {
    guard.requireTrusted();
    return 'allowed';
  } catch (error) {
    return error;
  }
}

describe('all is well', () => {
  test('the first start writes the marker: which store it is, and its count', async () => {
    const { store, guard } = await start();
    expect(marker.mark).toEqual(await markOf(store));
    expect([guard.problem(), spending({ guard })]).toEqual([null, 'allowed']);
  });

  test('every start counts in the store and in the marker', async () => {
    await start();
    const first = marker.mark?.count ?? 0;
    const { guard } = await start();
    expect(marker.mark?.count).toBeGreaterThan(first);
    expect([guard.problem(), logged]).toEqual([null, []]);
  });

  test('a store whose marker was not written before a kill is ahead of it, and trusted', async () => {
    const { store } = await start();
    await setBudget(store, { amountMsat: 1000n, period: 'total', maxPaymentMsat: null });
    const { guard } = await start();
    expect(guard.problem()).toBeNull();
  });
});

describe('a marker that is missing beside a database that had one', () => {
  test('keeps budgets from being spent until the owner confirms: the database may be an older copy', async () => {
    await start();
    marker = memoryMarker();
    const { store, guard } = await start();
    expect(guard.problem()).toContain('marker file of the database is missing');
    expect(() => guard.requireTrusted()).toThrow(/cannot spend/);
    await guard.confirm();
    expect(guard.problem()).toBeNull();
    expect(marker.mark).toEqual(await markOf(store));
  });
});

describe('a restored older copy', () => {
  test('from before a start is noticed: health and the log say so, and budgets are not spent', async () => {
    await start();
    await restoreCopyFrom('old', () => start());
    const { guard } = await start();
    expect(guard.problem()).toContain('restored from an older copy');
    expect(guard.problem()).toContain('wallet-sidecar clients confirm');
    expect(logged.join()).toContain('restored from an older copy');
    expect(spending({ guard })).toEqual(untrusted);
  });

  test('of the same run is noticed when something was spent of a budget since', async () => {
    const started = await startWithBudget();
    await restoreCopyFrom('same-run', () => spend(started, 1));
    const again = await start();
    expect(again.guard.problem()).toContain('restored from an older copy');
    expect(spending(again)).toEqual(untrusted);
  });

  test('of the same run is noticed when a client was narrowed or revoked since', async () => {
    const started = await startWithBudget();
    await restoreCopyFrom('same-run', async () => {
      await started.store.clients.change(WALLET, () => ({
        records: [clientRecord({ revokedAtMs: 5 })],
        budgets: [],
      }));
      await started.guard.keepUp();
    });
    expect((await start()).guard.problem()).not.toBeNull();
  });

  test('stays noticed over any number of starts and changes, until the owner confirms', async () => {
    await startWithBudget();
    await restoreCopyFrom('old', () => start());
    for (let round = 0; round < 5; round++) {
      const { store, guard } = await start();
      expect(guard.problem()).not.toBeNull();
      for (const label of ['a', 'b', 'c']) {
        await store.clients.change(WALLET, () => ({
          records: [clientRecord({ budgetState: 'set', label })],
          budgets: [],
        }));
        await guard.keepUp();
      }
    }
  });

  test('is trusted once the owner confirms it, also after the next start; another restore is noticed again', async () => {
    await startWithBudget();
    await restoreCopyFrom('old', () => start());
    const restored = await start();
    await restored.guard.confirm();
    expect([restored.guard.problem(), spending(restored)]).toEqual([null, 'allowed']);
    await spend(restored, 1);
    expect((await start()).guard.problem()).toBeNull();
    await restore('old');
    expect((await start()).guard.problem()).not.toBeNull();
  });
});

describe("another store's marker", () => {
  async function replaced() {
    await start();
    const before = marker.mark;
    await restore('there is no such copy');
    return { before, ...(await start()) };
  }

  test('is noticed, since the store that it belongs to was lost or replaced', async () => {
    const started = await replaced();
    expect(started.guard.problem()).toContain('not the one that was used here before');
    expect(spending(started)).toEqual(untrusted);
    expect((await start()).guard.problem()).not.toBeNull();
  });

  test('is kept until the owner confirms, and then is this store’s, no lower than it was', async () => {
    const { before, store, guard } = await replaced();
    await guard.keepUp();
    expect(marker.mark).toEqual(before);
    await guard.confirm();
    expect(marker.mark).toEqual(await markOf(store));
    expect(marker.mark?.count).toBeGreaterThan(before?.count ?? 0);
    expect((await start()).guard.problem()).toBeNull();
  });
});

describe('another branch of the history', () => {
  for (const further of [0, 1, 20]) {
    test(`that has come as far and ${further} advances further is noticed`, async () => {
      const started = await startWithBudget();
      backUp('old');
      for (let number = 1; number <= 5; number++) await spend(started, number);
      const trunk = marker.mark;
      // Another sidecar goes on from the copy, with a marker that is as old.
      await restore('old');
      const own = marker;
      marker = memoryMarker();
      const other = await start();
      await other.guard.confirm();
      for (let number = 1; (await countOf(other.store)) < (trunk?.count ?? 0) + further; number++) {
        await spend(other, number);
      }
      expect(await countOf(other.store)).toBe((trunk?.count ?? 0) + further);
      marker = own;
      const again = await start();
      expect(again.guard.problem()).toContain('used since, or two copies of it were used');
      expect(spending(again)).toEqual(untrusted);
      expect(marker.mark).toEqual(trunk);
      await again.guard.confirm();
      expect([again.guard.problem(), (await start()).guard.problem()]).toEqual([null, null]);
    });
  }

  test('that the owner confirmed beyond a marker fits that marker: the budgets were looked at since', async () => {
    const started = await startWithBudget();
    await restoreCopyFrom('old', () => spend(started, 1));
    const mine = marker.mark;
    const { guard } = await start();
    await guard.confirm();
    marker.mark = mine;
    expect((await start()).guard.problem()).toBeNull();
  });
});

describe('a restored store that is not confirmed', () => {
  /** A store that was found restored, and a marker of another sidecar, which is as old as the copy and fits it. */
  async function found() {
    const started = await startWithBudget();
    const fitting = marker.mark;
    await restoreCopyFrom('old', async () => {
      for (let number = 1; number <= 3; number++) await spend(started, number);
    });
    const { guard } = await start();
    expect(guard.problem()).toContain('restored from an older copy');
    const ahead = marker.mark;
    return { fitting, ahead };
  }

  test('stays so for a sidecar whose marker fits, and for each start of it', async () => {
    const { fitting } = await found();
    marker.mark = fitting;
    for (let round = 0; round < 3; round++) {
      const next = await start();
      expect(next.guard.problem()).toContain('its budgets are not confirmed yet');
      expect(spending(next)).toEqual(untrusted);
      expect(marker.mark).toEqual(fitting);
    }
  });

  test('is confirmed by one of them for all, those with a marker further ahead too', async () => {
    const { fitting, ahead } = await found();
    marker.mark = fitting;
    const next = await start();
    await next.guard.confirm();
    for (const mark of [ahead, fitting]) {
      marker.mark = mark;
      expect((await start()).guard.problem()).toBeNull();
    }
  });

  test('is found by the sends of a sidecar that has trusted it', async () => {
    const running = await startWithBudget();
    await running.store.identity.distrust(0);
    const error = await spend(running, 1).catch((it) => it);
    expect(error).toEqual(untrusted);
    expect(running.guard.problem()).toContain('its budgets are not confirmed yet');
  });
});

describe('a marker of an earlier version, without a word', () => {
  const old = ({ storeId, count }: Mark): Mark => ({ storeId, count, word: null });

  test('fits its store, and gets a word', async () => {
    await startWithBudget();
    if (marker.mark) marker.mark = old(marker.mark);
    const { store, guard } = await start();
    expect([guard.problem(), logged]).toEqual([null, []]);
    expect(marker.mark).toEqual(await markOf(store));
  });

  test('fits a store that had no words either', async () => {
    const { store } = await startWithBudget();
    await store.close();
    const db = new Database(path);
    db.run('DELETE FROM advance');
    db.close();
    if (marker.mark) marker.mark = old(marker.mark);
    expect((await start()).guard.problem()).toBeNull();
    expect((await start()).guard.problem()).toBeNull();
  });

  test('that was set ahead of a store which is not confirmed keeps it so', async () => {
    await startWithBudget();
    const { storeId, count } = marker.mark ?? { storeId: '', count: 0 };
    marker.mark = { storeId, count: count + 2 ** 32, word: null };
    for (let round = 0; round < 2; round++) {
      expect((await start()).guard.problem()).toContain('restored from an older copy');
    }
    const again = await start();
    await again.guard.confirm();
    expect((await start()).guard.problem()).toBeNull();
    expect(marker.mark?.count).toBeGreaterThan(count + 2 ** 32);
  });

  test('of a store that was restored is noticed by its count', async () => {
    const started = await startWithBudget();
    await restoreCopyFrom('old', () => spend(started, 1));
    if (marker.mark) marker.mark = old(marker.mark);
    expect((await start()).guard.problem()).toContain('restored from an older copy');
  });

  test('a copy of a store from before it drew words does not fit a marker with a word', async () => {
    const started = await startWithBudget();
    await started.store.close();
    const db = new Database(path);
    db.run('DELETE FROM advance WHERE count >= ?', [marker.mark?.count ?? 0]);
    db.close();
    expect((await start()).guard.problem()).toContain('used since, or two copies of it were used');
  });
});

describe('a store that goes back while the process runs', () => {
  /** An identity whose standing the test decides, and its doubts. */
  function fakeIdentity() {
    const looks: (() => void)[] = [];
    const calls: string[] = [];
    const standing: { -readonly [Key in keyof StoreStanding]: StoreStanding[Key] } = {
      newest: { count: 5, word: 'aa'.repeat(8) },
      lineage: 'same',
      isUnconfirmed: false,
    };
    let failing = false;
    const write = async (call: string) => {
      if (failing) throw new ApiError('overCapacity', 'away');
      calls.push(call);
      standing.newest = { ...standing.newest, count: standing.newest.count + 1 };
      return standing.newest;
    };
    const identity: StoreIdentity = {
      id: 'aa'.repeat(16),
      secret: new Uint8Array(32),
      isSigned: false,
      standing: async () => ({ ...standing }),
      advance: () => write('advance'),
      distrust: async (count) => void (await write(`distrust ${count}`)),
      confirm: (count) => write(`confirm ${count}`),
      onDoubt: (look) => void looks.push(look),
    };
    const doubt = () => {
      for (const look of looks) look();
    };
    const fail = (on: boolean) => {
      failing = on;
    };
    return { identity, standing, calls, doubt, fail };
  }
  async function running() {
    const fake = fakeIdentity();
    const log = openLog({ level: 'warn', format: 'text', write: (line) => logged.push(line) });
    marker.mark = { storeId: fake.identity.id, ...fake.standing.newest };
    const guard = await openStoreGuard(fake.identity, marker, log);
    return { ...fake, guard };
  }

  for (const lineage of ['behind', 'branched'] as const) {
    test(`and is ${lineage} is found by the next send, which is not made, and the marker stays`, async () => {
      const { guard, standing, calls } = await running();
      const before = marker.mark;
      standing.lineage = lineage;
      guard.requireTrusted();
      expect(await guard.requireKept().catch((it) => it)).toEqual(untrusted);
      expect(calls).toEqual(['advance', 'distrust 6']);
      expect(marker.mark).toEqual(before);
      expect(logged).toHaveLength(1);
    });
  }

  test('is found when a connection is new, without any send', async () => {
    const { guard, standing, doubt } = await running();
    doubt();
    await until(() => guard.problem() === null);
    standing.lineage = 'behind';
    doubt();
    doubt();
    await until(() => guard.problem() !== null);
    expect(spending({ guard })).toEqual(untrusted);
    expect(logged).toHaveLength(1);
  });

  test('and cannot keep that is not trusted, and keeps it at the next look', async () => {
    const { guard, standing, calls, fail, doubt } = await running();
    standing.lineage = 'behind';
    fail(true);
    await guard.keepUp().catch(() => undefined);
    expect(spending({ guard })).toEqual(untrusted);
    fail(false);
    expect(calls).toEqual(['advance']);
    doubt();
    await until(() => calls.includes('distrust 6'));
  });

  test('is trusted when it is confirmed, and noticed again when it goes back again', async () => {
    const { guard, standing } = await running();
    standing.lineage = 'behind';
    await guard.keepUp();
    standing.lineage = 'same';
    await guard.confirm();
    await guard.requireKept();
    standing.lineage = 'behind';
    expect(await guard.requireKept().catch((it) => it)).toEqual(untrusted);
  });
});

test('whatever happens, the marker of a store is never lowered', async () => {
  const counts: number[] = [];
  const look = () => counts.push(marker.mark?.count ?? 0);
  await startWithBudget();
  look();
  await restoreCopyFrom('old', async () => {
    await start();
    look();
  });
  const { guard } = await start();
  look();
  await guard.keepUp();
  look();
  await guard.confirm();
  look();
  await start();
  look();
  expect(counts).toEqual(counts.toSorted((a, b) => a - b));
});

/** Copies the database, runs `goOn`, and then puts the copy back. */
async function restoreCopyFrom(name: string, goOn: () => Promise<unknown>): Promise<void> {
  backUp(name);
  await goOn();
  await restore(name);
}
