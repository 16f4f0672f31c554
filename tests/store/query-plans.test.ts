import { Database } from 'bun:sqlite';
import { expect, spyOn, test } from 'bun:test';
import type { Rows } from '../../src/store/rows/rows.ts';
import { openSqliteStore, sqlitePorts } from '../../src/store/sqlite/index.ts';
import { openDatabase } from '../../src/store/sqlite/open.ts';
import { sqliteRows, textOf } from '../../src/store/sqlite/rows.ts';
import { sqliteSigner } from '../../src/store/sqlite/signing.ts';

/** Every statement that the store may prepare, as SQLite is given it. */
function statements(): string[] {
  const prepare = spyOn(Database.prototype, 'prepare');
  const db = openDatabase(':memory:');
  const rows = sqliteRows(db, sqliteSigner(db, { secretsKey: null }));
  // Statements of rows are prepared when they are first used, so they are noted where they are made.
  const made: string[] = [];
  const noting: Rows = {
    ...rows,
    prepare(sql) {
      made.push(textOf(sql));
      return rows.prepare(sql);
    },
    prepareMany(sql) {
      made.push(`${textOf(sql)} = ?`);
      return rows.prepareMany(sql);
    },
  };
  sqlitePorts(db, noting, false);
  const prepared = prepare.mock.calls.map(([sql]) => sql);
  prepare.mockRestore();
  db.close();
  return [...made, ...prepared].map((sql) => sql.replace(/\s+/g, ' '));
}

/** Every such statement, as rows write it, with the steps of SQLite's plan for it. */
function plans(): Map<string, string[]> {
  const db = openDatabase(':memory:');
  const planned = new Map(
    statements()
      .filter((sql) => /^(SELECT|UPDATE|DELETE|INSERT|WITH)/.test(sql))
      .map((sql) => [
        sql.replaceAll('+?', '?'),
        db
          .query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`)
          .all()
          .map(({ detail }) => detail),
      ]),
  );
  db.close();
  return planned;
}

/** Statements that may read a whole table, each with the reason why that is no harm. */
const READS_ALL: readonly (readonly [RegExp, string])[] = [
  [/^SELECT DISTINCT wallet FROM (watch|spend)$/, 'asked once, at the start'],
  [/ FROM meta$|^UPDATE meta /, 'has one row'],
  [/^DELETE FROM idempotency WHERE created_at/, 'keeps the newest keys; asked once in a while'],
  [/^DELETE FROM delivery_attempt WHERE number <=/, 'keeps the newest; asked once an hour'],
  [/^SELECT \(SELECT count/, 'counts partial indexes'],
];

test('no statement reads a whole table', async () => {
  const found = [...plans()]
    .filter(([sql]) => !READS_ALL.some(([known]) => known.test(sql)))
    .flatMap(([sql, steps]) =>
      steps
        .filter(
          (step) =>
            /^SCAN (?!CONSTANT|\d+-ROW VALUES|json_each |waiting$)/.test(step) &&
            !step.includes('USING INDEX delivery_'),
        )
        .map((step) => `${step}: ${sql}`),
    );
  expect(found).toEqual([]);
});

test('no statement is excused that reads what it looks for by an index', async () => {
  const all = [...plans().keys()];
  expect(READS_ALL.filter(([known]) => !all.some((sql) => known.test(sql)))).toEqual([]);
});

for (const [what, statement, step] of [
  [
    'a budget is read with its sums as one row',
    /^SELECT .*FROM budget WHERE wallet = \? AND client_pk = \?/,
    /budget USING PRIMARY KEY \(wallet=\? AND client_pk=\?\)/,
  ],
  [
    'unfinished sends are found by wallet, in order',
    /FROM spend WHERE wallet = \? ORDER/,
    /spend USING INDEX sqlite_autoindex_spend_1 \(wallet=\?\)/,
  ],
  [
    'the rows of an id are matched by their index',
    /FROM journal INDEXED BY journal_by_id/,
    /journal_by_id \(wallet=\? AND <expr>=\?\)/,
  ],
  [
    'what is reserved and settled for a payment is found by its name',
    /FROM spending WHERE wallet = \? AND idx = \?/,
    /spending_by_name \(wallet=\? AND idx=\?\)/,
  ],
  [
    'an active client with a budget is found without looking at the others',
    /AS found/,
    /client_with_budget/,
  ],
  [
    "an ended client's credentials are found by their subject",
    /FROM idempotency INDEXED BY idempotency_by_subject/,
    /idempotency_by_subject/,
  ],
  [
    'payments are read in the order of their completion without being sorted',
    /ORDER BY completed_at, idx/,
    /cache_by_completion \(wallet=\? AND \(completed_at,idx\)>\(\?,\?\)\)/,
  ],
] as const) {
  test(what, async () => {
    const found = [...plans()].filter(([sql]) => statement.test(sql));
    expect(found).toHaveLength(1);
    const steps = found[0]?.[1] ?? [];
    expect(steps.join('; ')).toMatch(step);
    expect(steps.join('; ')).not.toContain('TEMP B-TREE');
  });
}

/** Indexes that only lists with filters and searches read, whose statements are made when they are asked for. */
const OF_LISTS =
  /^(cache_by_(status|direction|rail|external_id)|word_bundle_by_since|delivery_attempt_by_endpoint)$/;

test('every index is read by a statement', async () => {
  const steps = [...plans().values()].flat().join('\n');
  const db = openDatabase(':memory:');
  const indexes = db
    .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'index'")
    .all()
    .map(({ name }) => name);
  db.close();
  const isRead = (index: string) => new RegExp(`\\b${index}\\b`).test(steps);
  expect(indexes.filter((index) => !isRead(index) && !OF_LISTS.test(index))).toEqual([]);
});

test('a filtered list finds its payments in an index that has the columns of all filters', async () => {
  const store = openSqliteStore(':memory:');
  const db = openDatabase(':memory:');
  const query = spyOn(Database.prototype, 'query');
  const unfiltered = {
    order: 'desc',
    after: null,
    untilMs: null,
    externalId: null,
    limit: 10,
  } as const;
  for (const [filter, direction, rail] of [
    ['all', 'outbound', null],
    ['all', null, 'onchain'],
    ['all', 'outbound', 'onchain'],
    ['pending', null, null],
    ['completed', 'outbound', null],
    ['failed', null, 'onchain'],
    ['completed', 'outbound', 'onchain'],
  ] as const) {
    for (const sinceMs of [null, 5]) {
      await store.cache.list('ab', { ...unfiltered, filter, direction, rail, sinceMs });
      const [sql] = query.mock.calls.at(-1) ?? [];
      const steps = db.prepare<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`).all();
      expect(steps.map(({ detail }) => detail)).toEqual([
        expect.stringMatching(
          /^SEARCH cache USING INDEX cache_by_(status|direction|rail) \(wallet=\? AND \w+=\?( AND idx>\?)?\)$/,
        ),
      ]);
    }
  }
  query.mockRestore();
  db.close();
  await store.close();
});
