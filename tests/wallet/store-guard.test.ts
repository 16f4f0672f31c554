import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openLog } from '../../src/lib/log.ts';
import type { Store } from '../../src/store/ports.ts';
import { openSqliteStore } from '../../src/store/sqlite/index.ts';
import { budgetRules } from '../../src/wallet/budget.ts';
import { openStoreGuard, type StoreGuard } from '../../src/wallet/store-guard.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { memoryMarker } from '../support/memory-marker.ts';
import { samplePayment } from '../support/sample-payment.ts';
import { CLIENT, clientRecord, newSpend, setBudget, WALLET } from '../support/store-steps.ts';

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
  await guard.keepUp();
}

/** A store with a client that has a budget. Its marker is up to date. */
async function startWithBudget() {
  const started = await start();
  await setBudget(started.store, { amountMsat: 1000n, period: 'total', maxPaymentMsat: null });
  await started.guard.keepUp();
  return started;
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
    expect(marker.mark).toEqual({
      storeId: store.identity.id,
      count: await store.identity.count(),
    });
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
    expect(marker.mark).toEqual({
      storeId: store.identity.id,
      count: await store.identity.count(),
    });
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
    expect(marker.mark).toEqual({
      storeId: store.identity.id,
      count: await store.identity.count(),
    });
    expect(marker.mark?.count).toBeGreaterThan(before?.count ?? 0);
    expect((await start()).guard.problem()).toBeNull();
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
