import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  BARE_ENV,
  BINARY,
  type SidecarProcess,
  type StartOptions,
  startBinary,
} from '../support/binary.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { pageText } from '../support/pages.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { isMissing, ROOT } from './folder.ts';
import { run } from './run.ts';

setDefaultTimeout(SLOW_TEST_MS);

/**
 * The largest exposure, of 10, that systemd's own review may find. Most of it is the network. Versions of systemd
 * differ slightly.
 */
const MOST_EXPOSURE = 1.3;

const folder = temporaryFolder('unit');
afterAll(() => removeFolder(folder));

const unit = readFileSync(join(ROOT, 'packaging', 'wallet-sidecar.service'), 'utf8');
const userUnit = readFileSync(join(ROOT, 'packaging', 'wallet-sidecar-user.service'), 'utf8');
const file = installedUnit('wallet-sidecar.service', unit);
const userFile = installedUnit('wallet-sidecar-user.service', userUnit);

/** Writes a unit as it is installed, but with a program that exists here; returns its path. */
function installedUnit(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text.replace('/usr/local/bin/wallet-sidecar', BINARY));
  return path;
}

const withoutSystemd = isMissing('systemd-analyze');

test.skipIf(withoutSystemd)('systemd finds nothing wrong with the units', async () => {
  const nothing = { exitCode: 0, output: '' };
  expect(await run(['systemd-analyze', 'verify', '--man=no', file])).toEqual(nothing);
  const env = { ...process.env, XDG_RUNTIME_DIR: folder };
  const verify = ['systemd-analyze', '--user', 'verify', '--man=no', userFile];
  expect(await run(verify, ROOT, env)).toEqual(nothing);
});

test.skipIf(withoutSystemd)('the exposure that systemd finds stays low', async () => {
  const { output } = await run([
    'systemd-analyze',
    'security',
    '--offline=true',
    '--no-pager',
    file,
  ]);
  const found = /Overall exposure level for \S+: (\d+\.\d+)/.exec(output)?.[1];
  console.log(`systemd-analyze security: exposure ${found}, at most ${MOST_EXPOSURE}`);
  expect(found).toMatch(/^\d/);
  expect(Number(found)).toBeLessThanOrEqual(MOST_EXPOSURE);
});

test('operations.md shows what the unit runs', () => {
  const command = /^ExecStart=(.*)$/m.exec(unit)?.[1];
  expect(pageText('docs/operations.md')).toContain(`\`${command}\``);
});

test('no secret stands on the command line, in the unit or in a dump of the memory', () => {
  const command = /^ExecStart=(.*)$/m.exec(unit)?.[1] ?? '';
  expect(command).not.toMatch(/--(?:root-seed|client-credentials|webhook-secret)[ =]/);
  for (const name of ['client-credentials', 'root-seed'])
    expect(unit).toContain(`\nLoadCredential=${name}:/etc/wallet-sidecar/${name}\n`);
  expect(unit).toContain('LimitCORE=0');
  expect(unit.match(/^Environment=.*$/gm)).toEqual(['Environment=SERVICE_REQUIRE_AUTH=true']);
  // What stands in the unit is for everybody to read: blank lines in the place of missing files.
  expect(unit.match(/^SetCredential=.*$/gm)).toEqual([
    'SetCredential=client-credentials:\\n',
    'SetCredential=root-seed:\\n',
  ]);
});

test('the engine may compile, and nothing but the state directories can be written', () => {
  expect(unit).not.toMatch(/^MemoryDenyWriteExecute=/m);
  expect(unit).toMatch(/^ProtectSystem=strict$/m);
  expect(unit).toMatch(/^StateDirectory=wallet-sidecar wallet-sidecar-marker$/m);
  expect(unit).not.toMatch(/^(?:ReadWritePaths|BindPaths|CacheDirectory|LogsDirectory)=/m);
});

test('every caller needs credentials, whose check the environment file may turn off', () => {
  expect(userUnit).toContain('\nEnvironment=SERVICE_REQUIRE_AUTH=true\n');
  const required = unit.indexOf('\nEnvironment=SERVICE_REQUIRE_AUTH=true\n');
  expect(required).toBeGreaterThan(0);
  // In systemd a file wins over lines of the unit. The line comes first, so that the unit reads in the same order.
  expect(unit.indexOf('\nEnvironmentFile=')).toBeGreaterThan(required);
});

test('data and marker are in state directories of their own, so that a restored backup has no marker', () => {
  const command = /^ExecStart=(.*)$/m.exec(unit)?.[1] ?? '';
  // With two directories ${STATE_DIRECTORY} is a list, and a list is not a path.
  expect(command).not.toContain('STATE_DIRECTORY');
  expect(command).toContain(' --data-dir %S/wallet-sidecar ');
  expect(command).toEndWith(' --marker-path %S/wallet-sidecar-marker/marker');
});

test('a start is over when the sidecar answers', () => {
  for (const text of [unit, userUnit]) {
    expect(text).toContain('\nType=notify\nNotifyAccess=all\n');
  }
  // The socket of systemd is a local one.
  expect(unit).toMatch(/^RestrictAddressFamilies=.*\bAF_UNIX\b/m);
});

describe('what the unit starts', () => {
  const state = join(folder, 'state');
  const credentials = join(folder, 'credentials');

  /** Runs ExecStart with these credentials as systemd does, with another port. */
  function startUnit(
    passed: Readonly<Record<string, string>>,
    options: Pick<StartOptions, 'env' | 'before'> = {},
  ): SidecarProcess {
    for (const name of ['wallet-sidecar', 'wallet-sidecar-marker'])
      mkdirSync(join(state, name), { recursive: true, mode: 0o700 });
    mkdirSync(credentials, { recursive: true, mode: 0o700 });
    const blank = [...unit.matchAll(/^SetCredential=([\w-]+):(.*)$/gm)].map(
      ([, name = '', text = '']) => [name, text.replace('\\n', '\n')] as const,
    );
    for (const [name, text] of [...blank, ...Object.entries(passed)])
      writeFileSync(join(credentials, name), text, { mode: 0o600 });
    const [, ...args] = (/^ExecStart=(.*)$/m.exec(unit)?.[1] ?? '').split(' ');
    const environment = [...unit.matchAll(/^Environment=(\w+)=(.*)$/gm)].map(
      ([, name = '', value = '']) => [name, value] as const,
    );
    return startBinary(
      args.map((arg) => arg.replaceAll('%S', state)),
      {
        ...options,
        cwd: join(state, 'wallet-sidecar'),
        env: {
          ...BARE_ENV,
          ...Object.fromEntries(environment),
          CREDENTIALS_DIRECTORY: credentials,
          SERVICE_LISTEN_ADDR: '127.0.0.1:0',
          ...options.env,
        },
      },
    );
  }

  test('ends with 2 where there are no credentials, and says what to put where', async () => {
    const sidecar = startUnit({});
    expect([await sidecar.exit(), sidecar.log()]).toEqual([
      2,
      expect.stringContaining('put client credentials into /etc/wallet-sidecar/client-credentials'),
    ]);
    expect(unit).toContain('\nRestartPreventExitStatus=2\n');
  });

  describe('tells systemd that it answers', () => {
    const seed = { 'root-seed': `${'a1'.repeat(32)}\n` };
    const told = join(folder, 'told');
    const programs = join(folder, 'programs');
    mkdirSync(programs);
    const notify = `#!/bin/sh\necho "$* at $NOTIFY_SOCKET" >> '${told}'\n`;
    writeFileSync(join(programs, 'systemd-notify'), notify, { mode: 0o755 });
    const env = { PATH: `${programs}:${BARE_ENV.PATH}`, NOTIFY_SOCKET: '/run/socket' };

    test('once', async () => {
      const before = ['sh', '-c', 'SYSTEMD_EXEC_PID=$$ exec "$0" "$@"'];
      const sidecar = startUnit(seed, { env, before });
      // The shell makes the file before it writes.
      const isTold = () => existsSync(told) && readFileSync(told, 'utf8').endsWith('\n');
      await until(() => isTold() || !sidecar.running(), 'systemd was told');
      expect(readFileSync(told, 'utf8')).toBe('--ready at /run/socket\n');
      expect(await sidecar.stop()).toBe(0);
    });

    test('and not for another service, whose process started it', async () => {
      rmSync(told, { force: true });
      const sidecar = startUnit(seed, { env: { ...env, SYSTEMD_EXEC_PID: '1' } });
      await until(() => sidecar.log().includes('is ready') || !sidecar.running(), 'it was ready');
      expect(await sidecar.stop()).toBe(0);
      expect(existsSync(told)).toBe(false);
    });
  });

  test('serves the wallet of a root seed, to callers with credentials alone', async () => {
    const sidecar = startUnit({ 'root-seed': `${'a1'.repeat(32)}\n` });
    await until(() => sidecar.log().includes('is ready') || !sidecar.running(), 'it was ready');
    const url = /"url":"([^"]+)"/.exec(sidecar.log())?.[1] ?? '';
    const ask = (headers: Readonly<Record<string, string>>) =>
      fetch(`${url}/v2/node/node_info`, { headers });
    expect((await ask({})).status).toBe(401);
    const owner = readFileSync(join(state, 'wallet-sidecar', 'cookie'), 'utf8').trim();
    const answer = await ask({ authorization: `Bearer ${owner}` });
    expect(await answer.json()).toMatchObject({
      code: 106,
      msg: expect.stringContaining('is not signed up yet'),
    });
    expect(await sidecar.stop()).toBe(0);
  });
});
