import type { Database } from 'bun:sqlite';
import { plannedOnce } from '../../lib/databases/planned-once.ts';
import { once } from '../../lib/once.ts';
import type { RowSigner } from '../row-signer.ts';
import type { Joint, Query, RowDatabase, Rows } from '../rows/rows.ts';
import type { Step, Steps, Value } from '../rows/steps.ts';
import type { WriteQueue } from './write-queue.ts';

/** Work that is done when it is iterated and stops for nothing. */
export class AtOnce<T> implements Steps<T> {
  constructor(readonly run: () => T) {}

  [Symbol.iterator]() {
    return this;
  }

  next() {
    return { done: true as const, value: this.run() };
  }
}

/** Returns a statement of rows as SQLite is given it. */
export const textOf = (sql: string) => plannedOnce(sql.replaceAll('wallet_sidecar.', ''));

/** Returns how functions of rows use SQLite. */
export function sqliteRows(db: Database, signer: RowSigner): Rows {
  return {
    prepare: (sql) => queryOf(once(() => db.prepare(textOf(sql)))),
    query: (sql) => queryOf(once(() => db.query(textOf(sql)))),
    prepareMany(sql) {
      const statement = once(() => db.prepare(`${textOf(sql)} = ?`));
      return {
        run: (numbers, ...values) =>
          new AtOnce(() => {
            for (const number of numbers) statement().run(...values, number);
          }),
      };
    },
    indexedBy: (index) => `INDEXED BY ${index}`,
    lockingFree: '',
    eachText: '(SELECT value FROM json_each(?)) AS each_text',
    forEach: (table, index, condition) =>
      `CROSS JOIN ${table} INDEXED BY ${index} WHERE ${condition}`,
    among: (column) => `${column} IN (SELECT value FROM json_each(?))`,
    forms: {
      hasMac: () => true,
      nameOf: (_table, column) => column,
      write: (_table, columns, row, mac = null) =>
        columns.map((name) => (name === 'mac' ? mac : (row[name] ?? null))),
      read: (_table, raw) => raw,
      other: (_table, raw, column) => raw[column],
    },
    signer,
  };
}

/** A statement is prepared when it is first used: a start uses few of them. */
function queryOf<Row>(statement: () => ReturnType<Database['prepare']>): Query<Row> {
  const get = (values: readonly Value[]) => statement().get(values as never) as Row | null;
  const getAll = (values: readonly Value[]) => statement().all(values as never) as Row[];
  return {
    one: (...values) => new AtOnce(() => get(values)),
    all: (...values) => new AtOnce(() => getAll(values)),
    run: (...values) => new AtOnce(() => statement().run(values as never).changes),
    read: (of) => ({
      one: (...values) =>
        new AtOnce(() => {
          const row = get(values);
          return row && of(row);
        }),
      all: (...values) => new AtOnce(() => getAll(values).flatMap((row) => of(row) ?? [])),
    }),
  };
}

/** Does work on rows, all of it at once. */
export function perform<T>(steps: Steps<T>): T {
  if (steps instanceof AtOnce) return steps.run();
  const work = steps[Symbol.iterator]();
  let next = work.next();
  while (!next.done) next = work.next(resultOf(next.value));
  return next.value;
}

function resultOf(step: Step): unknown {
  if ('together' in step) return step.together.map((task) => task && perform(task));
  if ('send' in step) return void perform(step.send);
  throw new Error('A statement of another engine.');
}

/** Returns the reads and transactions of a file, all of whose writes are one after another. */
export function sqliteDatabase(queue: WriteQueue, advanceCounter: () => unknown): RowDatabase {
  return {
    read: async (work) => perform(work()),
    readWithSettings: async (work) => perform(work()),
    write: (_lock, work) =>
      queue.write(() => {
        let advances = false;
        const joint: Joint = {
          advanceCounter() {
            advances = true;
          },
        };
        const result = perform(work(joint));
        if (advances) advanceCounter();
        return result;
      }),
  };
}
