import type { SQL } from 'bun';
import { StoreUnusable } from '../unusable.ts';

/**
 * What every transaction begins with. A pooler such as PgBouncer takes such settings neither when a connection is
 * opened nor for longer than a transaction, so they hold for one transaction each (docs/decisions.md 146).
 */
const SETTINGS: readonly (readonly [string, string])[] = [
  // Steps of the schema name no schema. Everything else does, since reads need no transaction.
  ['search_path', 'wallet_sidecar'],
  // A session that is idle within a transaction belongs to a process that was paused, and is ended by the server.
  ['idle_in_transaction_session_timeout', '5s'],
  // What was answered must be on disk, whatever the database's default is (docs/decisions.md 85).
  ['synchronous_commit', 'on'],
  // Every statement is short, and compiling one takes longer. The server compiles what joins tables of one row, which
  // it never counts and takes for thousands.
  ['jit', 'off'],
];

const NAMES = SETTINGS.map(([name]) => name);

const SET = SETTINGS.map(([name, value]) => `SET LOCAL ${name} = '${value}'`).join('; ');

/**
 * Begins a transaction with the settings and runs `statements`, all in one message: on its way it costs what a single
 * statement does, and a process that is paused after it holds its locks for no longer than the settings allow. Returns
 * the answers to `statements`, whose values are in them.
 */
export async function beginWithSettings(
  tx: SQL,
  statements: readonly string[],
): Promise<readonly { readonly count: number }[]> {
  const answers = await tx.unsafe<{ readonly count: number }[]>(
    ['BEGIN', SET, ...statements].join('; '),
  );
  return answers.slice(-statements.length);
}

/** Returns a name as a value within a statement. Throws where it has a sign that could end the value. */
export function quoted(name: string): string {
  if (!/^[\w:.-]*$/.test(name)) throw new Error(`${name} cannot stand in a statement.`);
  return `'${name}'`;
}

/** Runs work in a transaction with the settings, and commits it. */
export function withSettings<T>(sql: SQL, work: (tx: SQL) => Promise<T>): Promise<T> {
  return sql.begin(async (tx) => {
    await tx.unsafe(SET);
    return work(tx);
  }) as Promise<T>;
}

/**
 * Throws {@link StoreUnusable} where the settings do not hold, and where two connections that are open at once share a
 * session, as behind a pooler that gives each transaction another one. A busy pooler may happen to give them two.
 */
export async function requireOwnSessions(sql: SQL): Promise<void> {
  const shown = await withSettings(
    sql,
    (tx) => tx<{ name: string; value: string }[]>`
      SELECT name, current_setting(name) AS value
      FROM unnest(${tx.array(NAMES, 'text')}::text[]) AS setting (name)`,
  );
  const found = new Map(shown.map(({ name, value }) => [name, value]));
  const other = SETTINGS.find(([name, value]) => found.get(name) !== value);
  if (other !== undefined) {
    const [name, value] = other;
    throw new StoreUnusable(
      `The database does not keep the setting ${name} = ${value} for a transaction, and shows ${found.get(name)}: if a pooler is before it, use its session mode.`,
    );
  }
  const first = await sql.reserve();
  try {
    const second = await sql.reserve();
    try {
      if ((await sessionOf(first)) !== (await sessionOf(second))) return;
    } finally {
      second.release();
    }
  } finally {
    first.release();
  }
  throw new StoreUnusable(
    'Connections to the database share a session, as behind a pooler in transaction mode, where statements that one has prepared are missing: set pool_mode = session for this database in the pooler, or name PostgreSQL itself.',
  );
}

/** The simple protocol prepares no statement, which could fail in a session that is shared. */
async function sessionOf(sql: SQL): Promise<unknown> {
  const [row] = await sql<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`.simple();
  return row?.pid;
}
