import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { SQL } from 'bun';
import { removeFolder, temporaryFolder } from './folder.ts';
import { freePort } from './ports.ts';

/** Where Debian's packages and others put the server's programs. */
const PLACES = [
  ...versionsIn('/usr/lib/postgresql'),
  '/usr/local/pgsql/bin',
  '/opt/homebrew/opt/postgresql/bin',
];

/** A PostgreSQL of its own for a test file, in a temporary folder and on a free port. */
export interface TestPostgres {
  /** Creates an empty database, or a copy of one that nobody uses, and returns its URL. */
  createDatabase(copyOf?: string): Promise<string>;
  /** Deletes every row in a database of a store, which is faster than another database. An open one `keepsIdentity`. */
  empty(url: string, keepsIdentity?: boolean): Promise<void>;
  /** Ends the server as a crash would; {@link TestPostgres.start} recovers it. */
  crash(): Promise<void>;
  start(): Promise<void>;
  /** Ends every session of the sidecar with `pg_terminate_backend`. Returns how many there were. */
  endSessions(): Promise<number>;
  /** Opens a session that stays, for what other sessions wait for. */
  session(url: string): Promise<{ run(text: string): Promise<void>; close(): Promise<void> }>;
  /** Runs SQL in a database, as an administrator would. */
  run(url: string, text: string): Promise<Record<string, unknown>[]>;
  stop(): Promise<void>;
}

/** The folder with the server's programs; null where no PostgreSQL is installed. Says so loudly then. */
export function postgresPrograms(): string | null {
  const found = PLACES.find((folder) => existsSync(join(folder, 'initdb'))) ?? null;
  if (found === null) {
    console.warn('SKIPPED: PostgreSQL is not installed, so the store over it is not tested here.');
  }
  return found;
}

/**
 * Starts a server. Its commits survive crashes of the server, which is all that is tested; `fsync` is off unless it is
 * to be `durable`, as a server is that keeps money.
 */
export async function startPostgres(
  programs: string,
  { durable = false }: { readonly durable?: boolean } = {},
): Promise<TestPostgres> {
  const folder = temporaryFolder('postgres');
  const data = join(folder, 'data');
  const port = freePort();
  const run = (program: string, ...rest: string[]) =>
    runProgram([...asUser(), join(programs, program), '-D', data, ...rest], join(folder, 'log'));
  if (process.geteuid?.() === 0 && !canMapUsers()) await giveAway(folder);
  await run('initdb', '-A', 'trust', '-U', 'sidecar', '-E', 'UTF8', '--locale=C', '--no-sync');
  const options = `-c port=${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=${durable ? 'on' : 'off'} -c max_connections=200`;
  const start = () => run('pg_ctl', '-w', '-o', options, '-l', join(folder, 'server.log'), 'start');
  await start();
  const urlOf = (name: string) => `postgres://sidecar@127.0.0.1:${port}/${name}`;
  const once = async (url: string, text: string) => {
    const sql = new SQL(url, { max: 1 });
    try {
      return (await sql.unsafe(text)) as Record<string, unknown>[];
    } finally {
      await sql.close();
    }
  };
  let databases = 0;
  return {
    async createDatabase(copyOf) {
      databases += 1;
      const name = `test_${databases}`;
      const template = copyOf === undefined ? '' : ` TEMPLATE ${new URL(copyOf).pathname.slice(1)}`;
      await once(urlOf('postgres'), `CREATE DATABASE ${name}${template}`);
      return urlOf(name);
    },
    async empty(url, keepsIdentity = false) {
      await once(url, emptying([...KEPT, ...(keepsIdentity ? IDENTITY : [])]));
    },
    crash: () => run('pg_ctl', '-w', '-m', 'immediate', 'stop'),
    start,
    async endSessions() {
      const ended = await once(
        urlOf('postgres'),
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE application_name = 'wallet-sidecar'`,
      );
      return ended.length;
    },
    async session(url) {
      const sql = new SQL(url, { max: 1 });
      const one = await sql.reserve();
      return {
        run: async (text) => void (await one.unsafe(text)),
        async close() {
          one.release();
          await sql.close();
        },
      };
    },
    run: once,
    async stop() {
      await run('pg_ctl', '-w', '-m', 'immediate', 'stop').catch(() => undefined);
      removeFolder(folder);
    },
  };
}

/** The tables that say which version the schema has and who owns it. */
const KEPT = ['schema_version', 'ownership', 'ownership_lease', 'commit_mark'];
/** The tables that say which store it is and how far it has come. */
const IDENTITY = ['meta', 'advance'];

const emptying = (kept: readonly string[]) => `DO $$ DECLARE name text; BEGIN
  FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'wallet_sidecar'
    AND tablename NOT IN (${kept.map((table) => `'${table}'`).join(', ')})
  LOOP EXECUTE 'DELETE FROM wallet_sidecar.' || name; END LOOP; END $$`;

function versionsIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const versions = readdirSync(folder).toSorted((a, b) => Number(b) - Number(a));
  return versions.map((version) => join(folder, version, 'bin'));
}

/**
 * PostgreSQL does not run as root. In a user namespace the same user has another number; where there are none, the
 * user `postgres` runs it.
 */
function asUser(): string[] {
  if (process.geteuid?.() !== 0) return [];
  return canMapUsers()
    ? MAPPED
    : ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups'];
}

const MAPPED = ['unshare', '--user', '--map-user=1000', '--map-group=1000'];

function canMapUsers(): boolean {
  return Bun.spawnSync([...MAPPED, 'true']).success;
}

async function giveAway(folder: string): Promise<void> {
  await runProgram(['chown', 'postgres', folder], null);
}

async function runProgram(command: readonly string[], log: string | null): Promise<void> {
  // The server keeps what it inherits open, so its output goes to a file.
  const output = log === null ? 'ignore' : Bun.file(log);
  const child = Bun.spawn([...command], { stdin: 'ignore', stdout: output, stderr: output });
  if ((await child.exited) === 0) return;
  const words = log === null ? '' : await Bun.file(log).text();
  throw new Error(`${command.join(' ')} failed: ${words}`);
}
