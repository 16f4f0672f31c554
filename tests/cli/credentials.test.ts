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
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeCookie } from '../../src/lib/files/cookie-file.ts';
import { type OwnedDataDir, ownDataDir } from '../../src/lib/files/data-dir.ts';
import { encodeClientCredentials } from '../../src/model/credentials.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { type Recorder, startRecorder } from './recorder.ts';
import { type Ran, runBinary } from './sidecar.ts';

setDefaultTimeout(SLOW_TEST_MS);

const CREDENTIALS = encodeClientCredentials({
  client: 'a'.repeat(64),
  secret: 'b'.repeat(64),
});

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
  folder = temporaryFolder('credentials');
  dataDir = join(folder, 'data');
  owned = ownDataDir(dataDir);
  cookie = writeCookie(dataDir, (bytes) => new Uint8Array(bytes).fill(7)).token;
  recorder.requests.length = 0;
  recorder.answer(() => Response.json({}));
});
afterEach(() => {
  owned.release();
  removeFolder(folder);
});

type Env = Readonly<Record<string, string>>;

/** Runs `info` in the folder. Resolves to the Authorization header that was sent, or to the error sentence. */
async function sent(args: readonly string[], env: Env = {}): Promise<string | null> {
  const ran = await run(args, env);
  if (ran.exitCode === 2) {
    expect(recorder.requests).toEqual([]);
    expect(ran.stderr).not.toContain(CREDENTIALS);
    return ran.stderr;
  }
  expect(recorder.requests).toHaveLength(1);
  return recorder.requests[0]?.authorization ?? null;
}

const run = (args: readonly string[], env: Env = {}): Promise<Ran> =>
  runBinary(['info', ...args], { ...recorder.env, SERVICE_DATA_DIR: dataDir, ...env }, '', folder);

function writeEnv(lines: Env): void {
  const text = Object.entries(lines).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(join(folder, '.env'), text.join(''), { mode: 0o600 });
  chmodSync(join(folder, '.env'), 0o600);
}

function credentialsFile(): string {
  const path = join(folder, 'credentials');
  writeFileSync(path, `${CREDENTIALS}\n`, { mode: 0o600 });
  return path;
}

const SENT = `Bearer ${CREDENTIALS}`;
const PLAIN = /^Credentials are sent only to this machine or over https, and .*--url\.$/;
const NAMED_BY_ENV = /^The address \S+ comes from SERVICE_\w+ \(\/\S+\.env\), but .*give --url /;

/** The addresses that a call may have. */
const TARGETS = {
  'loopback http': () => recorder.loopback,
  'loopback https': () => recorder.loopbackTls,
  'another host by http': () => 'http://other.example',
  'another host by https': () => 'https://other.example',
} as const;
type Target = keyof typeof TARGETS;
const SAFE: readonly Target[] = ['loopback http', 'loopback https', 'another host by https'];

/** The ways in which credentials may be given. */
const SOURCES: Readonly<Record<string, () => { args?: string[]; env?: Env; dotEnv?: Env }>> = {
  'a flag': () => ({ args: ['--client-credentials', CREDENTIALS] }),
  'a file that a flag names': () => ({ args: ['--client-credentials-path', credentialsFile()] }),
  'the environment': () => ({ env: { SERVICE_CLIENT_CREDENTIALS: CREDENTIALS } }),
  'a file that the environment names': () => ({
    env: { SERVICE_CLIENT_CREDENTIALS_PATH: credentialsFile() },
  }),
  'a .env': () => ({ dotEnv: { SERVICE_CLIENT_CREDENTIALS: CREDENTIALS } }),
  'a file that a .env names': () => ({
    dotEnv: { SERVICE_CLIENT_CREDENTIALS_PATH: credentialsFile() },
  }),
};

for (const [source, given] of Object.entries(SOURCES)) {
  describe(`credentials from ${source}`, () => {
    for (const target of Object.keys(TARGETS) as Target[]) {
      test(`are ${SAFE.includes(target) ? 'sent' : 'not sent'} to ${target} that a flag or the environment names`, async () => {
        const { args = [], env = {}, dotEnv = {} } = given();
        writeEnv(dotEnv);
        const url = TARGETS[target]();
        const expected = SAFE.includes(target) ? SENT : expect.stringMatching(PLAIN);
        expect(await sent([...args, '--url', url], env)).toEqual(expected);
        recorder.requests.length = 0;
        expect(await sent(args, { ...env, SERVICE_SIDECAR_URL: url })).toEqual(expected);
      });

      const together = source === 'a .env' ? SAFE : SAFE.filter((one) => one.startsWith('loop'));
      const isSent = source.includes('.env') && together.includes(target);
      test(`are ${isSent ? 'sent' : 'not sent'} to ${target} that a .env names`, async () => {
        const { args = [], env = {}, dotEnv = {} } = given();
        writeEnv({ ...dotEnv, SERVICE_SIDECAR_URL: TARGETS[target]() });
        const refused = SAFE.includes(target) ? NAMED_BY_ENV : PLAIN;
        expect(await sent(args, env)).toEqual(isSent ? SENT : expect.stringMatching(refused));
      });
    }

    test('follow a listen address by the same rules, and one that stands for all is loopback', async () => {
      const { args = [], env = {}, dotEnv = {} } = given();
      const port = new URL(recorder.loopback).port;
      writeEnv(dotEnv);
      const listen = { SERVICE_LISTEN_ADDR: `0.0.0.0:${port}` };
      expect(await sent(args, { ...env, ...listen })).toBe(SENT);
      recorder.requests.length = 0;
      writeEnv({ ...dotEnv, ...listen });
      expect(await sent(args, env)).toEqual(
        source.includes('.env') ? SENT : expect.stringMatching(NAMED_BY_ENV),
      );
      recorder.requests.length = 0;
      const other = { SERVICE_LISTEN_ADDR: '192.0.2.1:5393' };
      expect(await sent(args, { ...env, ...other })).toMatch(PLAIN);
    });
  });
}

describe("the owner's cookie", () => {
  const bearer = () => `Bearer ${cookie}`;

  test('is sent to the address that the running sidecar noted, however that is named', async () => {
    owned.noteUrl(recorder.loopback);
    const calls: readonly [readonly string[], Env][] = [
      [['--url', recorder.loopback], {}],
      [[], { SERVICE_SIDECAR_URL: recorder.loopback }],
      [[], { SERVICE_LISTEN_ADDR: new URL(recorder.loopback).host }],
      [['--data-dir', dataDir, '--url', recorder.loopback], { SERVICE_DATA_DIR: '/none' }],
    ];
    for (const [args, env] of calls) {
      recorder.requests.length = 0;
      expect(await sent(args, env)).toBe(bearer());
    }
    recorder.requests.length = 0;
    writeEnv({ SERVICE_DATA_DIR: dataDir, SERVICE_SIDECAR_URL: recorder.loopback });
    expect(await sent([], { SERVICE_DATA_DIR: '' })).toBe(bearer());
    recorder.requests.length = 0;
    const home = join(folder, 'home');
    mkdirSync(home);
    symlinkSync(dataDir, join(home, 'wallet-sidecar'));
    const env = { SERVICE_DATA_DIR: '', XDG_DATA_HOME: home };
    rmSync(join(folder, '.env'));
    expect(await sent(['--url', recorder.loopback], env)).toBe(bearer());
  });

  for (const name of ['localhost', '127.0.0.2', '[::1]']) {
    test(`goes to the noted address when ${name} with its port is asked for, where another program may listen`, async () => {
      owned.noteUrl(recorder.loopback);
      const { port, host } = new URL(recorder.loopback);
      expect(await sent(['--url', `http://${name}:${port}`])).toBe(bearer());
      expect(recorder.requests[0]?.url).toStartWith(`http://${host}/`);
    });
  }

  for (const target of Object.keys(TARGETS) as Target[]) {
    test(`is not sent to ${target} that is not the noted address, wherever that is named`, async () => {
      owned.noteUrl('http://127.0.0.1:1');
      const url = TARGETS[target]();
      expect(await sent(['--url', url])).toBeNull();
      recorder.requests.length = 0;
      expect(await sent([], { SERVICE_SIDECAR_URL: url })).toBeNull();
      recorder.requests.length = 0;
      writeEnv({ SERVICE_SIDECAR_URL: url });
      expect(await sent([])).toBeNull();
    });
  }

  test('is not sent in the clear to another host, even if that is the noted address', async () => {
    owned.noteUrl('http://other.example');
    expect(await sent(['--url', 'http://other.example'])).toBeNull();
    expect(recorder.requests[0]?.url).toStartWith('http://other.example');
  });

  test('gives way to credentials that are given', async () => {
    owned.noteUrl(recorder.loopback);
    expect(await sent(['--url', recorder.loopback, '--client-credentials', CREDENTIALS])).toBe(
      SENT,
    );
  });

  test('is left out when it cannot be read, and a 401 then says so', async () => {
    owned.noteUrl(recorder.loopback);
    rmSync(join(dataDir, 'cookie'));
    symlinkSync(credentialsFile(), join(dataDir, 'cookie'));
    expect(await sent(['--url', recorder.loopback])).toBeNull();
    recorder.answer(() => Response.json({ code: 104, msg: 'No credentials.' }, { status: 401 }));
    const { exitCode, stderr } = await run(['--url', recorder.loopback]);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: expect.stringMatching(
        /^No credentials \(error 104\)\. The sidecar of \S+data has no cookie that this user can read/,
      ),
    });
    const given = ['--client-credentials', CREDENTIALS];
    expect((await run(['--url', recorder.loopback, ...given])).stderr).toBe(
      'No credentials (error 104).',
    );
  });
});

test('a call to this machine goes through no proxy, which would read the credentials', async () => {
  const proxy = { http_proxy: 'http://127.0.0.1:1', HTTP_PROXY: 'http://127.0.0.1:1' };
  expect(await sent(['--url', recorder.loopback, '--client-credentials', CREDENTIALS], proxy)).toBe(
    SENT,
  );
});

test('commands do not read a .env that another user can write', async () => {
  writeEnv({ SERVICE_SIDECAR_URL: recorder.loopback });
  chmodSync(join(folder, '.env'), 0o666);
  expect(await sent([])).toMatch(/\.env can be written by other users/);
});
