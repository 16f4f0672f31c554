import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readOwner } from '../../src/lib/files/data-dir.ts';
import { encodeNodeCredentials } from '../../src/model/credentials.ts';
import { type SidecarProcess, startBinary } from '../support/binary.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { SLOW_TEST_MS } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

const SEED = 'a1'.repeat(32);

let folder = '';
let dataDir = '';
const children: SidecarProcess[] = [];
beforeEach(() => {
  folder = temporaryFolder('start');
  dataDir = join(folder, 'data');
});
afterEach(async () => {
  for (const child of children.splice(0)) {
    await child.kill();
  }
  removeFolder(folder);
});

function spawn(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = startBinary(args, {
    cwd: folder,
    env: { SERVICE_DATA_DIR: dataDir, SERVICE_LISTEN_ADDR: '127.0.0.1:0', ...env },
  });
  children.push(child);
  return child;
}

/** Runs a program that does not start; returns its exit code and what it prints. */
async function refusal(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = spawn(args, env);
  const exitCode = await child.exit();
  const stderr = child.stderr();
  expect(stderr.trim()).not.toContain('\n');
  return { exitCode, stderr: stderr.trim() };
}

/** Starts a sidecar; returns its address and the log that it wrote before it was ready. */
async function started(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = spawn(args, env);
  const url = await child.ready();
  return { child, url, log: child.log() };
}

const statusOf = async (url: string) =>
  ((await (await fetch(`${url}/v2/health`)).json()) as { status: string }).status;

test('a start that would let others use the default wallet without a header ends with 2, in dev too', async () => {
  const open = { SERVICE_LISTEN_ADDR: '0.0.0.0:0' };
  for (const [args, env, flag] of [
    [['serve'], { SERVICE_ROOT_SEED: SEED, ...open }, '--listen-addr'],
    [['dev'], open, '--listen-addr'],
    [['dev', '--allow-host', 'wallet.example'], {}, '--allow-host'],
    [['dev', '--sidecar-url', 'https://wallet.example'], {}, '--sidecar-url'],
  ] as const) {
    const { exitCode, stderr } = await refusal(args, env);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(new RegExp(`^${flag} names .*--require-auth`));
  }
  await started(['dev', '--require-auth'], open);
});

test('dev does not run with a real node', async () => {
  const credentials = encodeNodeCredentials({
    kind: 'lnd',
    url: 'https://127.0.0.1:1',
    cert: null,
    nodePk: `02${SEED}`,
    network: 'bitcoin',
    token: 'ab',
  });
  for (const env of [
    { SERVICE_CLIENT_CREDENTIALS: credentials },
    { SERVICE_NODE_URL: 'https://127.0.0.1:1', SERVICE_ROOT_SEED: SEED },
    {
      SERVICE_NODE: 'ldk',
      SERVICE_ROOT_SEED: SEED,
      SERVICE_NETWORK: 'regtest',
      SERVICE_ESPLORA_URL: 'http://127.0.0.1:1',
    },
  ]) {
    const { exitCode, stderr } = await refusal(['dev'], env);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^dev runs on the sandbox: leave out .*, or use serve\.$/);
  }
  expect(existsSync(dataDir)).toBe(false);
});

test('the log names the .env and the warnings, health shows all of these, and none holds a secret', async () => {
  const path = join(folder, '.env');
  writeFileSync(path, 'SERVICE_SANDBOX_BLOCK_SECS=0\nSERVICE_MAXFEE=1\n', { mode: 0o600 });
  const { url, log } = await started(['serve', '--root-seed', SEED]);
  const status = await statusOf(url);
  for (const text of [/--root-seed shows its secret.*--root-seed-path/, /SERVICE_MAXFEE/]) {
    expect(log).toMatch(text);
    expect(status).toMatch(text);
  }
  expect(log).toContain(`Settings are read from ${path}.`);
  expect(`${log}${status}`).not.toContain(SEED);
});

test('a second sidecar on a data directory is refused with one sentence; the first one noted its address', async () => {
  const { child, url } = await started(['dev']);
  expect(readOwner(dataDir)).toMatchObject({ pid: child.pid, url });
  const { exitCode, stderr } = await refusal(['dev']);
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(new RegExp(`^${dataDir} is in use by .* process id ${child.pid},`));
  expect(await child.stop()).toBe(0);
  expect(existsSync(join(dataDir, 'lock'))).toBe(false);
});

test('a data directory that is a file is refused with one sentence and left as it is', async () => {
  writeFileSync(dataDir, 'mine');
  for (const mode of ['serve', 'dev']) {
    const { exitCode, stderr } = await refusal([mode]);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^\S+ is a file, or lies below one, .*another --data-dir\.$/);
  }
  expect(readFileSync(dataDir, 'utf8')).toBe('mine');
});

test('told to stop while it starts, it ends in good order', async () => {
  for (let round = 0; round < 5; round++) {
    const { child } = await started(['dev']);
    expect(await child.stop()).toBe(0);
    removeFolder(dataDir);
    rmSync(`${dataDir}.marker`, { force: true });
  }
});
