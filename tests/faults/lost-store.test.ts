import { afterAll, afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { copyFileSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { runBinary, type SidecarProcess, startBinary } from '../support/binary.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { send } from '../support/requests.ts';
import { SLOW_TEST_MS } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

const folder = temporaryFolder('lost');
afterAll(() => removeFolder(folder));
const cleanups: (() => unknown)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});
const TEST_LIMIT_MS = 120_000;
const LOST = 'The database is not the one that was used here before';
const OLDER = 'The database was restored from an older copy';

interface Loss {
  readonly what: string;
  /** Ends the sidecar and damages the files. */
  readonly lose: (process: SidecarProcess, database: string) => Promise<void>;
  readonly words: string;
  /** Whether the next start finds a database that still has the clients. */
  readonly knowsClients: boolean;
}

const LOSSES: readonly Loss[] = [
  {
    what: 'is removed',
    async lose(process, database) {
      await process.stop();
      removeFiles(database);
    },
    words: LOST,
    knowsClients: false,
  },
  {
    what: 'is emptied',
    async lose(process, database) {
      await process.stop();
      truncateSync(database, 0);
    },
    words: LOST,
    knowsClients: false,
  },
  {
    what: 'is emptied after a kill',
    async lose(process, database) {
      process.signal('SIGKILL');
      await process.exit();
      truncateSync(database, 0);
    },
    words: LOST,
    knowsClients: false,
  },
  {
    what: 'is replaced by one of another install',
    async lose(process, database) {
      await process.stop();
      const other = dev('other-install');
      await other.ready();
      await other.stop();
      removeFiles(database);
      copyFileSync(join(folder, 'other-install', 'sidecar.sqlite'), database);
    },
    words: LOST,
    knowsClients: false,
  },
  {
    what: 'is replaced by an older copy',
    async lose(process, database) {
      await process.stop();
      copyFileSync(database, `${database}.copy`);
      const next = dev(nameOf(database));
      const baseUrl = await next.ready();
      await newClient(baseUrl);
      await next.stop();
      removeFiles(database);
      copyFileSync(`${database}.copy`, database);
    },
    words: OLDER,
    knowsClients: true,
  },
  {
    what: 'has lost its write-ahead log after a kill',
    async lose(process, database) {
      await process.stop();
      const next = dev(nameOf(database));
      const baseUrl = await next.ready();
      await newClient(baseUrl);
      next.signal('SIGKILL');
      await next.exit();
      rmSync(`${database}-wal`);
      rmSync(`${database}-shm`, { force: true });
    },
    words: OLDER,
    knowsClients: true,
  },
  {
    what: 'has lost its first write-ahead log after a kill',
    async lose(process, database) {
      process.signal('SIGKILL');
      await process.exit();
      rmSync(`${database}-wal`);
      rmSync(`${database}-shm`, { force: true });
    },
    words: 'The database',
    knowsClients: false,
  },
];

describe('a database that', () => {
  for (const { what, lose, words, knowsClients } of LOSSES) {
    test(
      `${what}: log and health say so, and budgets are closed until the owner confirms`,
      async () => {
        const name = what.replaceAll(' ', '-');
        const first = dev(name);
        const before = await newClient(await first.ready());
        await lose(first, join(folder, name, 'sidecar.sqlite'));

        const second = dev(name);
        const baseUrl = await second.ready();
        expect(second.log()).toMatch(new RegExp(`WARN +${words}`));
        expect(await healthOf(baseUrl)).toContain(words);
        expect(await pay(baseUrl, before)).toEqual(
          knowsClients ? { status: 403, code: 109 } : { status: 401, code: 104 },
        );
        const budgeted = knowsClients ? before : await newClient(baseUrl);
        expect(await pay(baseUrl, budgeted)).toEqual({ status: 403, code: 109 });
        expect(await pay(baseUrl, null)).toEqual({ status: 200, code: null });
        await second.stop();

        const third = dev(name);
        const again = await third.ready();
        expect(await healthOf(again)).toContain(words);
        const confirmed = await runBinary(['clients', 'confirm', '--url', again]);
        expect(confirmed).toMatchObject({ exitCode: 0 });
        expect(await healthOf(again)).not.toContain(words);
        expect(await pay(again, budgeted)).toEqual({ status: 200, code: null });
        await third.stop();

        const fourth = dev(name);
        expect(await healthOf(await fourth.ready())).not.toContain(words);
        await fourth.stop();
      },
      TEST_LIMIT_MS,
    );
  }
});

function dev(name: string): SidecarProcess {
  const process = startBinary([
    ...['dev', '--data-dir', join(folder, name), '--listen-addr', '127.0.0.1:0'],
  ]);
  cleanups.push(() => process.signal('SIGKILL'));
  return process;
}

function nameOf(database: string): string {
  return database.split('/').at(-2) ?? '';
}

function removeFiles(database: string): void {
  for (const end of ['', '-wal', '-shm']) rmSync(`${database}${end}`, { force: true });
}

/** Creates a client with a budget of 100 sats. Returns its credentials. */
async function newClient(baseUrl: string): Promise<string> {
  const { status, body } = await send(baseUrl, 'POST', '/v2/node/create_client', {
    body: { scopes: ['full'], budget: { amount: '100', period: 'total' } },
  });
  expect(status).toBe(200);
  return String(body.client_credentials);
}

/** Pays 5 sats to the outside world. Null credentials are the owner's. */
async function pay(baseUrl: string, credentials: string | null) {
  const made = await send(baseUrl, 'POST', '/sandbox/invoice', { body: { amount: '5' } });
  const { status, body } = await send(baseUrl, 'POST', '/v2/node/pay_invoice', {
    body: { invoice: made.body.invoice },
    ...(credentials === null ? {} : { credentials }),
  });
  return { status, code: body.code ?? null };
}

async function healthOf(baseUrl: string): Promise<string> {
  return String((await send(baseUrl, 'GET', '/v2/health')).body.status);
}
