import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import packageJson from '../../package.json';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { isMissing, OWN_BINARY, ROOT, releaseFolder } from './folder.ts';
import { run } from './run.ts';

setDefaultTimeout(SLOW_TEST_MS);

const SCRIPT = join(ROOT, 'packaging', 'install.sh');
/** A program that replaces the binary, and whose checksum is in no list. */
const STRANGER = '#!/bin/sh\necho stranger\n';

const folder = temporaryFolder('install');
const target = join(folder, 'bin');
const installed = join(target, 'wallet-sidecar');
/** What the server answers instead of a file; null means that the file is missing. */
const instead = new Map<string, string | null>();
let release: string;
let server: ReturnType<typeof serveRelease>;
let base: string;

beforeAll(async () => {
  release = await releaseFolder();
  server = serveRelease();
  base = `http://127.0.0.1:${server.port}`;
});
beforeEach(() => {
  instead.clear();
  removeFolder(target);
});
afterAll(async () => {
  await server.stop(true);
  removeFolder(release);
  removeFolder(folder);
});

function serveRelease() {
  return Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      const name = new URL(request.url).pathname.slice(1);
      const other = instead.get(name);
      if (other === null) return new Response('no', { status: 404 });
      return new Response(other ?? Bun.file(join(release, name)));
    },
  });
}

const install = (...args: string[]) => run(['sh', SCRIPT, ...args]);

const INSTALLED = new RegExp(
  `^installed ${installed} ${packageJson.version} \\(commit \\S+\\)\\n$`,
);

function expectInstalled(outcome: { exitCode: number; output: string }): void {
  expect(outcome).toEqual({
    exitCode: 0,
    output: expect.stringMatching(INSTALLED),
  });
  expect(readdirSync(target)).toEqual(['wallet-sidecar']);
  const binary = readFileSync(join(release, OWN_BINARY));
  expect(readFileSync(installed).equals(binary)).toBe(true);
}

describe('the binary that fits its checksum is installed', () => {
  test('from the folder that the script lies in', async () => {
    expectInstalled(await run(['sh', join(release, 'install.sh'), target]));
  });

  test('from another folder', async () => {
    expectInstalled(await install('--from', release, target));
  });

  test.skipIf(isMissing('curl'))('from a server', async () => {
    expectInstalled(await install('--from', `${base}/`, target));
  });

  test.skipIf(isMissing('curl'))('by a script that comes from the server too', async () => {
    const line = `curl -fsS ${base}/install.sh | sh -s -- --from ${base} ${target}`;
    expectInstalled(await run(['sh', '-c', line]));
  });

  test('in the place of an older one', async () => {
    await Bun.write(installed, 'old');
    expectInstalled(await install('--from', release, target));
  });
});

describe.skipIf(isMissing('curl'))('nothing is installed, and an older binary stays', () => {
  const refusals: readonly (readonly [string, () => void, RegExp])[] = [
    [
      'when the binary is another one',
      () => instead.set(OWN_BINARY, STRANGER),
      /does not match SHA256SUMS: do not use it/,
    ],
    [
      'when the checksum is another one',
      () => instead.set('SHA256SUMS', `${'0'.repeat(64)}  ${OWN_BINARY}\n`),
      /does not match SHA256SUMS/,
    ],
    [
      'when SHA256SUMS does not name the binary',
      () => instead.set('SHA256SUMS', `${'0'.repeat(64)}  ${OWN_BINARY}.exe\n`),
      /does not match SHA256SUMS/,
    ],
    [
      'when there is no SHA256SUMS',
      () => instead.set('SHA256SUMS', null),
      /SHA256SUMS cannot be read: check the address/,
    ],
    [
      'when there is no binary',
      () => instead.set(OWN_BINARY, null),
      /cannot be read: check the address/,
    ],
    [
      'when the binary does not start here, whatever its checksum',
      () => {
        const broken = '#!/bin/sh\nexit 1\n';
        const sum = new Bun.CryptoHasher('sha256').update(broken).digest('hex');
        instead.set(OWN_BINARY, broken).set('SHA256SUMS', `${sum}  ${OWN_BINARY}\n`);
      },
      /does not start on this machine/,
    ],
  ];
  for (const [rule, arrange, sentence] of refusals) {
    test(rule, async () => {
      arrange();
      const fresh = await install('--from', base, target);
      expect(fresh.exitCode).toBe(1);
      expect(fresh.output).toMatch(sentence);
      expect(existsSync(installed)).toBe(false);
      await Bun.write(installed, 'old');
      expect((await install('--from', base, target)).exitCode).toBe(1);
      expect(readdirSync(target)).toEqual(['wallet-sidecar']);
      expect(readFileSync(installed, 'utf8')).toBe('old');
    });
  }

  test('when the release is not fetched over https', async () => {
    const { exitCode, output } = await install('--from', 'http://releases.example', target);
    expect([exitCode, output]).toEqual([
      1,
      'http://releases.example is not https: download the release over https.\n',
    ]);
    expect(existsSync(target)).toBe(false);
  });

  test('when the script is run away from a release', async () => {
    const { exitCode, output } = await install(target);
    expect(exitCode).toBe(1);
    expect(output).toMatch(/SHA256SUMS cannot be read: name the folder or URL/);
    expect(existsSync(target)).toBe(false);
  });

  test('when the binary in the folder was changed', async () => {
    const file = join(release, OWN_BINARY);
    const good = readFileSync(file);
    writeFileSync(file, STRANGER);
    const { exitCode, output } = await install('--from', release, target);
    writeFileSync(file, good);
    expect(exitCode).toBe(1);
    expect(output).toMatch(/does not match SHA256SUMS/);
    expect(existsSync(target)).toBe(false);
  });
});
