import { Database } from 'bun:sqlite';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeCookie } from '../../src/lib/files/cookie-file.ts';
import { type OwnedDataDir, ownDataDir } from '../../src/lib/files/data-dir.ts';
import { encodeClientCredentials } from '../../src/model/credentials.ts';
import { startOnTerminal } from '../support/binary.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { type Recorder, startRecorder } from './recorder.ts';
import { runBinary } from './sidecar.ts';

setDefaultTimeout(SLOW_TEST_MS);

const CREDENTIALS = encodeClientCredentials({ client: 'a'.repeat(64), secret: 'b'.repeat(64) });
/** An address at which nobody listens. */
const NOBODY = 'http://127.0.0.1:1';

let recorder: Recorder;
beforeAll(async () => {
  recorder = await startRecorder();
});
afterAll(() => recorder.close());

let folder = '';
let dataDir = '';
let owned: OwnedDataDir;
let cookie = '';
beforeEach(() => {
  folder = temporaryFolder('address');
  dataDir = join(folder, 'data');
  owned = ownDataDir(dataDir);
  cookie = `Bearer ${writeCookie(dataDir, (bytes) => new Uint8Array(bytes).fill(7)).token}`;
  recorder.requests.length = 0;
});
afterEach(() => {
  owned.release();
  removeFolder(folder);
});

type Env = Readonly<Record<string, string>>;

const info = (args: readonly string[], env: Env = {}) =>
  runBinary(['info', ...args], { ...recorder.env, ...env }, '', folder);

/** The Authorization headers that reached the recorder, the address that the data directory notes. */
async function sent(args: readonly string[], env: Env = {}) {
  recorder.requests.length = 0;
  const { stderr } = await info(args, env);
  return recorder.requests.length === 0 ? stderr : recorder.requests[0]?.authorization;
}

test('the address is that which the sidecar of a named data directory has noted', async () => {
  owned.noteUrl(recorder.loopback);
  const calls: readonly (readonly [readonly string[], Env])[] = [
    [['--data-dir', dataDir], {}],
    // A flag goes before the environment.
    [['--data-dir', dataDir], { SERVICE_SIDECAR_URL: NOBODY, SERVICE_LISTEN_ADDR: '127.0.0.1:1' }],
    [[], { SERVICE_DATA_DIR: dataDir }],
    // The sidecar may have been started with another one as a flag.
    [[], { SERVICE_DATA_DIR: dataDir, SERVICE_LISTEN_ADDR: '127.0.0.1:1' }],
  ];
  for (const [args, env] of calls)
    expect([args, env, await sent(args, env)]).toEqual([args, env, cookie]);
  writeFileSync(join(folder, '.env'), `SERVICE_DATA_DIR=${dataDir}\n`, { mode: 0o600 });
  expect(await sent([])).toBe(cookie);
});

test('--url goes before every data directory, and an address before the default one', async () => {
  owned.noteUrl(recorder.loopback);
  const home = join(folder, 'home');
  mkdirSync(home);
  symlinkSync(dataDir, join(home, 'wallet-sidecar'));
  expect(await sent([], { XDG_DATA_HOME: home })).toBe(cookie);
  for (const [args, env] of [
    [['--url', NOBODY, '--data-dir', dataDir], {}],
    [[], { XDG_DATA_HOME: home, SERVICE_LISTEN_ADDR: '127.0.0.1:1' }],
    [[], { XDG_DATA_HOME: home, SERVICE_SIDECAR_URL: NOBODY }],
  ] as const) {
    expect(await sent(args, env)).toStartWith(`No sidecar answers at ${NOBODY}`);
  }
});

test('credentials do not follow a data directory that a .env names', async () => {
  owned.noteUrl(recorder.loopback);
  writeFileSync(join(folder, '.env'), `SERVICE_DATA_DIR=${dataDir}\n`, { mode: 0o600 });
  expect(await sent(['--client-credentials', CREDENTIALS])).toMatch(
    /^The address \S+ comes from SERVICE_DATA_DIR \(\/\S+\.env\), but .*give --url /,
  );
  expect(await sent(['--client-credentials', CREDENTIALS, '--data-dir', dataDir])).toBe(
    `Bearer ${CREDENTIALS}`,
  );
});

test('where no sidecar runs on the named data directory none is called, since another one may be at the default address', async () => {
  const away = `No sidecar runs on ${dataDir}: start it with --data-dir ${dataDir}, or name the address of another with --url.`;
  expect(await info(['--data-dir', dataDir])).toEqual({ exitCode: 1, stdout: '', stderr: away });
  expect((await info([], { SERVICE_DATA_DIR: dataDir })).stderr).toBe(away);
  // Settings name another sidecar, whose wallet is not the one that was meant.
  const calls = ({ loopback }: Recorder): Env[] => [
    { SERVICE_SIDECAR_URL: loopback },
    { SERVICE_LISTEN_ADDR: loopback.replace('http://', '') },
  ];
  for (const env of calls(recorder)) {
    expect([env, await sent(['--data-dir', dataDir], env)]).toEqual([env, away]);
  }
  writeFileSync(join(folder, '.env'), `SERVICE_SIDECAR_URL=${recorder.loopback}\n`, {
    mode: 0o600,
  });
  expect(await sent(['--data-dir', dataDir])).toBe(away);
  expect(recorder.requests).toEqual([]);
  // A flag for the address is as close as the one for the directory.
  expect(await sent(['--data-dir', dataDir, '--url', recorder.loopback])).toBeNull();
});

describe('a sidecar that was killed', () => {
  beforeEach(async () => {
    owned.release();
    const program = join(import.meta.dir, '..', 'lib', 'owner-process.ts');
    const stdio = ['ignore', 'pipe', 'inherit'] as const;
    const command = [process.execPath, program, dataDir, recorder.loopback];
    const killed = Bun.spawn(command, { stdio: [...stdio] });
    await killed.stdout.getReader().read();
    // Its cookie is there, as that of a sidecar is.
    cookie = `Bearer ${writeCookie(dataDir, (bytes) => new Uint8Array(bytes).fill(7)).token}`;
    expect(await sent(['--data-dir', dataDir])).toBe(cookie);
    killed.kill('SIGKILL');
    await killed.exited;
  });

  test("is not called: another user's program may listen there by now (docs/decisions.md 191)", async () => {
    expect(await sent(['--data-dir', dataDir])).toBe(
      `No sidecar runs on ${dataDir}: start it with --data-dir ${dataDir}, or name the address of another with --url.`,
    );
    expect(await sent(['--data-dir', dataDir, '--url', recorder.loopback])).toBeNull();
  });

  test('is called where its lock cannot be tried, and once another one runs', async () => {
    const lock = join(dataDir, 'lock.sqlite');
    rmSync(lock);
    expect(await sent(['--data-dir', dataDir])).toBe(cookie);
    // No other file is opened as a database: SQLite would roll back what others have left beside it.
    const other = new Database(lock);
    other.run('CREATE TABLE other (id)');
    other.close();
    expect(await sent(['--data-dir', dataDir])).toBe(cookie);
    rmSync(lock);
    owned = ownDataDir(dataDir);
    owned.noteUrl(recorder.loopback);
    expect(await sent(['--data-dir', dataDir])).toBe(cookie);
  });
});

test('a sidecar that has not noted its address yet is waited for', async () => {
  recorder.answer(() => Response.json({ status: 'ok' }));
  const waiting = startOnTerminal(['health', '--wait', '--data-dir', dataDir], { columns: 100 });
  await waiting.shows('Waiting until the sidecar is ready... 1 s');
  expect(recorder.requests).toEqual([]);
  owned.noteUrl(recorder.loopback);
  expect(await waiting.exit()).toBe(0);
  recorder.answer(() => Response.json({}));
});

test('a command that must not use the cookie calls with given credentials alone', async () => {
  owned.noteUrl(recorder.loopback);
  const told = (source: string) =>
    `${source} keeps this command from the owner's cookie, and it has no credentials: give --client-credentials-path.`;
  const named = ['--data-dir', dataDir];
  expect(await info([...named, '--no-cookie'])).toMatchObject({
    exitCode: 2,
    stderr: told('--no-cookie'),
  });
  for (const on of ['1', 'true', 'on']) {
    expect(await sent(named, { SERVICE_NO_COOKIE: on })).toBe(told('SERVICE_NO_COOKIE'));
  }
  expect(await sent(named, { SERVICE_NO_COOKIE: 'maybe' })).toMatch(
    /SERVICE_NO_COOKIE .*must be one of/,
  );
  expect(recorder.requests).toEqual([]);
  expect(await sent(named, { SERVICE_NO_COOKIE: '0' })).toBe(cookie);
  expect(await sent([...named, '--no-cookie', '--client-credentials', CREDENTIALS])).toBe(
    `Bearer ${CREDENTIALS}`,
  );
});

test('a cookie that is not accepted is told with the data directory that it is from', async () => {
  owned.noteUrl(recorder.loopback);
  recorder.answer(() => Response.json({ code: 104, msg: 'Not known.' }, { status: 401 }));
  expect((await info(['--data-dir', dataDir])).stderr).toBe(
    `Not known (error 104). The cookie in ${dataDir} was sent; --data-dir names another one.`,
  );
  // The recorder plays this host too. The cookie is not sent there in the clear, whatever is named.
  owned.noteUrl('http://other.example');
  expect((await info(['--data-dir', dataDir])).stderr).toMatch(
    /^Not known \(error 104\)\. The cookie of this sidecar is sent .* have it listen on 0\.0\.0\.0/,
  );
  recorder.answer(() => Response.json({}));
});
