import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { SQL } from 'bun';
import type { Store } from '../../src/store/ports.ts';
import { openPostgresStore } from '../../src/store/postgres/index.ts';
import type { UnfitRow } from '../../src/store/row-signer.ts';
import { openSqliteStore } from '../../src/store/sqlite/index.ts';
import {
  drawTable,
  drawTampering,
  factsOf,
  failSpend,
  leftToSpend,
  type Tampering,
} from '../support/database-writer.ts';
import { fill } from '../support/filled-store.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { postgresPrograms, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { rounds } from '../support/rounds.ts';
import { CLIENT } from '../support/store-steps.ts';
import { SLOW_TEST_MS } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS * 20);

/** Trials on a file; on PostgreSQL, which takes longer, half of that. */
const RUNS = rounds(24, 80);
/**
 * How often it draws for each trial at most. The database itself does not take about a quarter of what is drawn, and
 * only every third trial has a row that does not fit, of which one must be reported.
 */
const DRAWS = 10;
const programs = postgresPrograms();
const secretsKey = new Uint8Array(32).fill(7);
const folder = temporaryFolder('database-writer');
afterAll(() => removeFolder(folder));

/** What a store says that nobody tampered with. */
interface Truth {
  readonly facts: ReadonlySet<string>;
  readonly leftMsat: bigint;
  readonly leftAfterFailureMsat: bigint;
}

async function truthOf(open: () => Promise<Store>): Promise<Truth> {
  const store = await open();
  const leftMsat = (await leftToSpend(store)) ?? 0n;
  const facts = new Set(await factsOf(store));
  await failSpend(store);
  const leftAfterFailureMsat = (await leftToSpend(store)) ?? 0n;
  await store.close();
  return { facts, leftMsat, leftAfterFailureMsat };
}

/** Throws, with what was done, where the store says anything that is not true, or lets more be spent. */
async function requireTrue(store: Store, truth: Truth, done: Tampering): Promise<void> {
  const left = await leftToSpend(store);
  const facts = await factsOf(store);
  await failSpend(store);
  const leftAfter = await leftToSpend(store);
  const untrue = facts.filter((fact) => !truth.facts.has(fact));
  const isClientGone = !facts.some((fact) => fact.startsWith('client') && fact.includes(CLIENT));
  const found = {
    untrue,
    // A client without its row cannot call, so nothing bounds it.
    tooMuch: left === null ? !isClientGone : left > truth.leftMsat,
    tooMuchBack: leftAfter === null ? !isClientGone : leftAfter > truth.leftAfterFailureMsat,
  };
  expect({ done, ...found }).toEqual({ done, untrue: [], tooMuch: false, tooMuchBack: false });
}

describe('a writer of the database, with one row of any table changed, added or taken away,', () => {
  test(`has nothing authorized, sent, signed or shown by a file that the true rows do not, in ${RUNS} trials`, async () => {
    const whole = join(folder, 'whole.sqlite');
    const path = join(folder, 'changed.sqlite');
    const unfit: UnfitRow[] = [];
    const open = async () => openSqliteStore(path, signing(unfit));
    const restore = () => {
      for (const rest of ['', '-wal', '-shm']) rmSync(`${path}${rest}`, { force: true });
      copyFileSync(whole, path);
    };
    const first = openSqliteStore(whole, { secretsKey });
    await fill(first);
    await first.close();
    flatten(whole);
    restore();
    const truth = await truthOf(open);
    expect(unfit).toEqual([]);
    let made = 0;
    for (let drawn = 0; drawn < RUNS * DRAWS && (made < RUNS || unfit.length === 0); drawn++) {
      restore();
      const done = tamperFile(path);
      if (done === null) continue;
      made++;
      const store = await open().catch(() => null);
      if (store === null) continue;
      try {
        await requireTrue(store, truth, done);
      } finally {
        await store.close();
      }
    }
    expect(made).toBeGreaterThanOrEqual(RUNS);
    expect(unfit).not.toEqual([]);
  });

  describe.skipIf(programs === null)('in PostgreSQL', () => {
    let server: TestPostgres;
    beforeAll(async () => {
      server = await startPostgres(programs ?? '');
    });
    afterAll(() => server.stop());

    const runs = Math.ceil(RUNS / 2);
    test(`has nothing authorized, sent, signed or shown that the true rows do not, in ${runs} trials`, async () => {
      const whole = await server.createDatabase();
      const unfit: UnfitRow[] = [];
      const open = (url: string) =>
        openPostgresStore({ url, onLost: () => undefined, ...signing(unfit) });
      const first = await open(whole);
      await fill(first);
      await first.close();
      const truth = await truthOf(async () => open(await server.createDatabase(whole)));
      expect(unfit).toEqual([]);
      let made = 0;
      for (let drawn = 0; drawn < runs * DRAWS && (made < runs || unfit.length === 0); drawn++) {
        const url = await server.createDatabase(whole);
        const done = await tamperDatabase(url);
        if (done === null) continue;
        made++;
        const store = await open(url).catch(() => null);
        if (store === null) continue;
        try {
          await requireTrue(store, truth, done);
        } finally {
          await store.close();
        }
      }
      expect(made).toBeGreaterThanOrEqual(runs);
      expect(unfit).not.toEqual([]);
    });
  });
});

/** Tampers with a row of the database; null where the database itself does not take it. */
async function tamperDatabase(url: string): Promise<Tampering | null> {
  const sql = new SQL(url, { max: 1 });
  try {
    const columns = await sql<{ table: string; name: string; type: string }[]>`
      SELECT table_name AS table, column_name AS name, data_type AS type FROM information_schema.columns
      WHERE table_schema = 'wallet_sidecar' ORDER BY ordinal_position`;
    const tables = [...new Set(columns.map(({ table }) => table))];
    const table = drawTable(tables);
    const own = columns.filter((column) => column.table === table);
    const numbers = own.filter(({ type }) => !['text', 'boolean'].includes(type));
    const names = own.map(({ name }) => name);
    // As text, every value is taken as it is.
    const rows = await sql.unsafe<Record<string, string | null>[]>(
      `SELECT ${names.map((name) => `${name}::text AS ${name}`).join(', ')} FROM wallet_sidecar.${table}`,
    );
    const done = drawTampering(table, [...rows], new Set(numbers.map(({ name }) => name)));
    if (done === null) return null;
    const literal = (row: Tampering['before'], name: string) => {
      const value = row[name] ?? null;
      return value === null ? 'NULL' : `'${`${value}`.replaceAll("'", "''")}'`;
    };
    const same = names
      .map((name) => `${name}::text IS NOT DISTINCT FROM ${literal(done.before, name)}`)
      .join(' AND ');
    const { after } = done;
    const statement =
      after === null
        ? `DELETE FROM wallet_sidecar.${table} WHERE ${same}`
        : done.kind === 'insert'
          ? `INSERT INTO wallet_sidecar.${table} (${names.join(', ')}) OVERRIDING SYSTEM VALUE VALUES (${names.map((name) => literal(after, name)).join(', ')})`
          : `UPDATE wallet_sidecar.${table} SET ${done.columns.map((name) => `${name} = ${literal(after, name)}`).join(', ')} WHERE ${same}`;
    await sql.unsafe(statement);
    return done;
  } catch {
    return null;
  } finally {
    await sql.close();
  }
}

const signing = (unfit: UnfitRow[]) => ({
  secretsKey,
  isMarkedSigned: true,
  onUnfit: (row: UnfitRow) => void unfit.push(row),
});

function flatten(path: string): void {
  const db = new Database(path);
  db.run('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
}

/** Tampers with a row of the file; null where the database itself does not take it. */
function tamperFile(path: string): Tampering | null {
  const db = new Database(path, { readwrite: true, safeIntegers: true });
  try {
    const tables = db
      .query<{ name: string }, []>(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'",
      )
      .all();
    const table = drawTable(tables.map(({ name }) => name));
    const columns = db
      .query<{ name: string; type: string }, []>(`PRAGMA table_info(${table})`)
      .all();
    const numbers = new Set(
      columns.filter(({ type }) => type === 'INTEGER').map(({ name }) => name),
    );
    const rows = db
      .query<Record<string, string | bigint | null>, []>(`SELECT * FROM ${table}`)
      .all();
    const done = drawTampering(table, rows, numbers);
    if (done === null) return null;
    const names = Object.keys(done.before);
    const same = names.map((name) => `${name} IS ?`).join(' AND ');
    const before = Object.values(done.before) as (string | bigint | null)[];
    const after = Object.values(done.after ?? {}) as (string | bigint | null)[];
    if (done.kind === 'delete') db.query(`DELETE FROM ${table} WHERE ${same}`).run(...before);
    else if (done.kind === 'insert') {
      db.query(
        `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
      ).run(...after);
    } else {
      db.query(
        `UPDATE ${table} SET ${names.map((name) => `${name} = ?`).join(', ')} WHERE ${same}`,
      ).run(...after, ...before);
    }
    return done;
  } catch {
    return null;
  } finally {
    db.close();
  }
}
