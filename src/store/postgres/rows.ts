import type { SQL } from 'bun';
import type { Sealer } from '../../lib/secrets/seal.ts';
import type { RowSigner } from '../row-signer.ts';
import type { Query, RowDatabase, Rows } from '../rows/rows.ts';
import type { Statement, Step, Steps } from '../rows/steps.ts';
import { columnForms } from './column-forms.ts';
import type { Database } from './database.ts';
import { sending, together } from './together.ts';

/** The texts of a JSON array. */
const TEXTS = 'jsonb_array_elements_text(CAST(? AS TEXT)::jsonb) AS one (value)';

const among = (column: string) => `${column} = ANY(ARRAY(SELECT value::bigint FROM ${TEXTS}))`;

/** Returns how functions of rows use PostgreSQL. */
export function postgresRows(sealer: Sealer, signer: RowSigner): Rows {
  return {
    prepare: queryOf,
    query: queryOf,
    prepareMany(sql) {
      const query = queryOf(among(sql));
      return { run: (numbers, ...values) => query.run(...values, JSON.stringify(numbers)) };
    },
    indexedBy: () => '',
    lockingFree: 'FOR UPDATE SKIP LOCKED',
    eachText: `(SELECT value COLLATE "C" AS value FROM ${TEXTS}) AS each_text`,
    forEach: (table, _index, condition) =>
      `CROSS JOIN LATERAL (SELECT * FROM ${table} WHERE ${condition} OFFSET 0) AS each_row WHERE true`,
    among,
    forms: columnForms(sealer),
    signer,
  };
}

function queryOf<Row>(sql: string): Query<Row> {
  let most = 0;
  const text = sql.replace(/\?(\d*)/g, (_, number) => {
    const place = Number(number || most + 1);
    most = Math.max(most, place);
    return `$${place}`;
  });
  const answer = (values: Statement['values']) => answerOf<Row>(text, values);
  return {
    *one(...values) {
      return (yield* answer(values))[0] ?? null;
    },
    all: (...values) => answer(values),
    *run(...values) {
      return (yield* answer(values)).count;
    },
    read: (of) => ({
      *one(...values) {
        const [row] = yield* answer(values);
        return row === undefined ? null : of(row);
      },
      *all(...values) {
        return (yield* answer(values)).flatMap((row) => of(row) ?? []);
      },
    }),
  };
}

/** Sends a statement and returns its answer. */
export function* answerOf<Row>(
  text: string,
  values: Statement['values'],
): Steps<Row[] & { readonly count: number }> {
  return (yield { text, values }) as Row[] & { readonly count: number };
}

/** Does work on rows, and waits for all that it has sent. */
export async function perform<T>(sql: SQL, work: Steps<T>): Promise<T> {
  const { send, answered } = sending();

  async function run<R>(steps: Steps<R>): Promise<R> {
    const iterator = steps[Symbol.iterator]();
    let next = iterator.next();
    while (!next.done) next = iterator.next(await resultOf(next.value));
    return next.value;
  }

  function resultOf(step: Step): Promise<unknown> | undefined {
    if ('text' in step) return ask(sql, step);
    if ('together' in step) return together(step.together.map((task) => task && run(task)));
    send(run(step.send));
    return undefined;
  }

  try {
    const result = await run(work);
    await answered();
    return result;
  } catch (error) {
    // What was sent is waited for first. It may say why this failed.
    await answered(Promise.reject(error));
    throw error;
  }
}

/** Sends a statement. All numbers in the database fit a double. */
async function ask(sql: SQL, { text, values }: Statement): Promise<unknown> {
  const rows = await sql.unsafe<Record<string, unknown>[]>(
    text,
    values.map((value) => {
      if (Array.isArray(value)) return sql.array(value, 'text');
      return Number.isInteger(value) ? BigInt(value as number) : value;
    }),
  );
  for (const row of rows) {
    for (const name in row) if (typeof row[name] === 'bigint') row[name] = Number(row[name]);
  }
  return rows;
}

/** Returns the reads and transactions of the process that owns the database. */
export function postgresDatabase(db: Database): RowDatabase {
  return {
    read: (work) => db.read((sql) => perform(sql, work())),
    readWithSettings: (work) => db.readWithSettings((tx) => perform(tx, work())),
    write: (lock, work) => db.write(lock, (tx, joint) => perform(tx, work(joint))),
  };
}
