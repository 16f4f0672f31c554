import { afterEach, beforeEach, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readOwner } from '../../src/lib/data-dir.ts';

/** The time limit of tests that start processes, on a busy machine. */
const SLOW_MS = 60_000;
const BINARY = join(import.meta.dir, '..', '..', 'dist', 'wallet-sidecar');
const SEED = 'a1'.repeat(32);

let folder = '';
let dataDir = '';
const children: Bun.Subprocess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'wallet-sidecar-start-'));
  dataDir = join(folder, 'data');
});
afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill('SIGKILL');
    await child.exited;
  }
  rmSync(folder, { recursive: true, force: true });
});

function spawn(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = Bun.spawn([BINARY, ...args], {
    cwd: folder,
    env: { SERVICE_DATA_DIR: dataDir, SERVICE_LISTEN_ADDR: '127.0.0.1:0', ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  children.push(child);
  return child;
}

/** Runs a program that does not start; returns its exit code and what it prints. */
async function refusal(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = spawn(args, env);
  const [stderr, exitCode] = await Promise.all([child.stderr.text(), child.exited]);
  expect(stderr.trim()).not.toContain('\n');
  return { exitCode, stderr: stderr.trim() };
}

/** Starts a sidecar; returns its address and the log that it wrote before it was ready. */
async function started(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = spawn(args, env);
  let log = '';
  for await (const chunk of child.stdout) {
    log += new TextDecoder().decode(chunk);
    const url = /is ready\. .*url=(\S+|"[^"]+")/.exec(log)?.[1]?.replaceAll('"', '');
    if (url !== undefined) return { child, url, log };
  }
  throw new Error(`the sidecar did not start: ${log}${await child.stderr.text()}`);
}

const statusOf = async (url: string) =>
  ((await (await fetch(`${url}/v2/health`)).json()) as { status: string }).status;

test(
  'a start that would let others use the default wallet without a header ends with 2, in dev too',
  async () => {
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
  },
  SLOW_MS,
);

test(
  'the log names the .env and the warnings, health shows all of these, and none holds a secret',
  async () => {
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
  },
  SLOW_MS,
);

test(
  'a second sidecar on a data directory is refused with one sentence; the first one noted its address',
  async () => {
    const { child, url } = await started(['dev']);
    expect(readOwner(dataDir)).toMatchObject({ pid: child.pid, url });
    const { exitCode, stderr } = await refusal(['dev']);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(new RegExp(`^${dataDir} is in use by .* process id ${child.pid},`));
    child.kill('SIGTERM');
    expect(await child.exited).toBe(0);
    expect(existsSync(join(dataDir, 'lock'))).toBe(false);
  },
  SLOW_MS,
);

test(
  'a data directory that is a file is refused with one sentence and left as it is',
  async () => {
    writeFileSync(dataDir, 'mine');
    for (const mode of ['serve', 'dev']) {
      const { exitCode, stderr } = await refusal([mode]);
      expect(exitCode).toBe(1);
      expect(stderr).toMatch(/^\S+ is a file, or lies below one, .*another --data-dir\.$/);
    }
    expect(readFileSync(dataDir, 'utf8')).toBe('mine');
  },
  SLOW_MS,
);

test(
  'told to stop while it starts, it ends in good order',
  async () => {
    for (let round = 0; round < 5; round++) {
      const { child } = await started(['dev']);
      child.kill('SIGTERM');
      expect(await child.exited).toBe(0);
      rmSync(dataDir, { recursive: true, force: true });
      rmSync(`${dataDir}.marker`, { force: true });
    }
  },
  SLOW_MS,
);
