import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { Glob } from 'bun';
import { sealer } from '../../src/lib/secrets/seal.ts';
import type { CacheQuery } from '../../src/store/ports.ts';
import { postgresCacheWriter } from '../../src/store/postgres/cache-writer.ts';
import { postgresObserved } from '../../src/store/postgres/observed-rows.ts';
import { postgresRows } from '../../src/store/postgres/rows.ts';
import { unsigned } from '../../src/store/row-signer.ts';
import { rowPorts } from '../../src/store/rows/ports.ts';
import type { RowDatabase, Rows } from '../../src/store/rows/rows.ts';
import type { Step, Steps } from '../../src/store/rows/steps.ts';
import { sampleDone } from '../support/sample-payment.ts';
import { rules, WALLET } from '../support/store-steps.ts';

/** Every statement that PostgreSQL gets: those that are prepared, and those that are made for a call. */
async function statements(): Promise<string[]> {
  const texts: string[] = [];
  const perform = (steps: Steps<unknown>): unknown => {
    const work = steps[Symbol.iterator]();
    let next = work.next();
    while (!next.done) next = work.next(resultOf(next.value));
    return next.value;
  };
  const resultOf = (step: Step): unknown => {
    if ('together' in step) return step.together.map((task) => task && perform(task));
    if ('send' in step) return perform(step.send);
    texts.push(step.text);
    // Nothing is stored but a watch of every payment.
    const found = step.text.endsWith('RETURNING kind') ? [{ kind: 'payment' }] : [];
    return Object.assign(found, { count: 1 });
  };
  const db: RowDatabase = {
    read: async (work) => perform(work()) as never,
    readWithSettings: async (work) => perform(work()) as never,
    write: async (_lock, work) => perform(work({ advanceCounter: () => undefined })) as never,
  };
  const rows = postgresRows(
    sealer(new Uint8Array(32)),
    unsigned(() => undefined),
  );
  const prepare: Rows['prepare'] = (sql) => {
    texts.push(sql);
    return rows.prepare(sql);
  };
  const { outbox, cache, observations } = rowPorts(
    db,
    { ...rows, prepare },
    { observed: postgresObserved, cacheWriter: postgresCacheWriter, owner: 'me' },
  );
  const [walletId, id, endpoint, limit] = [WALLET, 'a', 'b', 1];
  await outbox.list({ walletId, state: 'pending', endpoint, limit, before: { id, endpoint } });
  await outbox.attempts({ walletId, id, endpoint, after: 0, limit });
  for (const which of [{ id }, { sinceMs: 1 }]) {
    await outbox.redeliver({ walletId, nowMs: 1, endpoint, ...which });
  }
  await cache.apply(walletId, [sampleDone(1)], null);
  await cache.list(walletId, { ...ALL, limit });
  const observed = [{ payment: sampleDone(1), attempt: null }];
  const batch = { observations: observed, cursor: 'c', journaled: true, nowMs: 1 };
  expect((await observations.apply(walletId, batch, rules)).deliveries).toBe(1);
  return texts;
}

const ALL: CacheQuery = {
  filter: 'all',
  order: 'asc',
  limit: 1,
  after: null,
  direction: null,
  rail: null,
  sinceMs: null,
  untilMs: null,
  externalId: null,
};

test('every statement of PostgreSQL names the schema of each of its tables', async () => {
  const all = await statements();
  expect(all.length).toBeGreaterThan(80);
  const bare = all.flatMap((text) =>
    [...text.matchAll(/\b(?:FROM|JOIN|INTO|UPDATE)\s+([a-z_.]+)(\()?/g)]
      // `waiting` is a name within its statement.
      .filter(([, name = '', call]) => !call && name !== 'waiting')
      .filter(([, name = '']) => !name.startsWith('wallet_sidecar.'))
      .map(([found]) => `${found}: ${text}`),
  );
  expect(bare).toEqual([]);
});

/** Functions of rows, by what they are called on in other files, and statements. */
const CALLED_ON =
  /(?<![\w.])(?:(?:parts\.)?(?:spends|fetched|journal|watches|budgets|spending|keys|nameInvoices|invoices|endpoints|clients|attempts)\.(?!select|insert|upsert|update|flatMap)\w+|\w+\.(?:run|one|all))\(/g;

/** What stands before a call whose steps nobody does: the start of a statement, a name or a condition. */
const NOT_DONE = /(?:[;{})]\s+|[^=!<>]= |\bif \(!?|\bvoid |[^=]!)$/;

test('the steps of every function of rows that is called are done', async () => {
  const folder = join(import.meta.dir, '../../src/store');
  const paths = [...new Glob('{rows,sqlite,postgres}/*.ts').scanSync(folder)].filter((path) =>
    /^rows|observed-rows|cache-writer/.test(path),
  );
  expect(paths.length).toBeGreaterThan(20);
  const left: string[] = [];
  for (const path of paths) {
    const text = await Bun.file(join(folder, path)).text();
    const own = [...text.matchAll(/function\*? (\w+)\([^;{}]*(?:\{[^}]*\})?[^;{}]*\): Steps</g)];
    const calls = [
      ...text.matchAll(CALLED_ON),
      ...own.flatMap(([, name]) => [...text.matchAll(new RegExp(`(?<![\\w.*] ?)${name}\\(`, 'g'))]),
    ];
    for (const { 0: call, index } of calls) {
      if (NOT_DONE.test(text.slice(0, index))) left.push(`${path}: ${call}`);
    }
  }
  expect(left).toEqual([]);
});
