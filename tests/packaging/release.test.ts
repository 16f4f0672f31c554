import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import packageJson from '../../package.json';
import { BINARIES } from '../../packaging/release.ts';
import { removeFolder } from '../support/folder.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { isMissing, OWN_BINARY, ROOT, releaseFolder } from './folder.ts';
import { run } from './run.ts';

setDefaultTimeout(SLOW_TEST_MS);

let folder: string;
beforeAll(async () => {
  folder = await releaseFolder();
});
afterAll(() => removeFolder(folder));

const read = (file: string) => readFileSync(join(folder, file), 'utf8');
const sums = () =>
  new Map(
    read('SHA256SUMS')
      .trimEnd()
      .split('\n')
      .map((line) => [line.slice(66), line.slice(0, 64)]),
  );

describe('a release', () => {
  test('holds five binaries, unit, formula, install script, completions, the client and notices', () => {
    const files = readdirSync(folder, { recursive: true }).map(String).toSorted();
    expect(files).toEqual(
      [
        ...Object.keys(BINARIES),
        'SHA256SUMS',
        'THIRD_PARTY_NOTICES.txt',
        'completions',
        'completions/_wallet-sidecar',
        'completions/wallet-sidecar.bash',
        'completions/wallet-sidecar.fish',
        'install.sh',
        `wallet-sidecar-${packageJson.version}.tgz`,
        'wallet-sidecar.rb',
        'wallet-sidecar.service',
      ].toSorted(),
    );
    expect(Object.keys(BINARIES)).toHaveLength(5);
  });

  test('names every file beside SHA256SUMS in it, with the checksum that the file has', () => {
    const listed = sums();
    const files = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name !== 'SHA256SUMS')
      .map((entry) => join(entry.parentPath, entry.name));
    expect(files.map((file) => file.slice(folder.length + 1)).toSorted()).toEqual([
      ...listed.keys(),
    ]);
    for (const file of files) {
      const hash = new Bun.CryptoHasher('sha256').update(readFileSync(file)).digest('hex');
      expect([file, hash]).toEqual([file, listed.get(file.slice(folder.length + 1)) ?? '']);
    }
  });

  test.skipIf(isMissing('sha256sum'))('is checked by sha256sum --check as it stands', async () => {
    expect(await run(['sha256sum', '--check', '--quiet', 'SHA256SUMS'], folder)).toEqual({
      exitCode: 0,
      output: '',
    });
  });

  test('completes the commands of the very binary beside it', async () => {
    for (const [shell, file] of [
      ['bash', 'wallet-sidecar.bash'],
      ['zsh', '_wallet-sidecar'],
      ['fish', 'wallet-sidecar.fish'],
    ] as const) {
      const { output } = await run([join(folder, OWN_BINARY), 'completions', shell]);
      expect(read(join('completions', file))).toBe(output);
      expect(output).toContain('payments');
    }
  });
});

describe('the formula', () => {
  test('names the version and the checksums of this release, and has no blanks left', () => {
    const formula = read('wallet-sidecar.rb');
    expect(formula).toContain(`version "${packageJson.version}"`);
    for (const file of Object.keys(BINARIES).filter((name) => !name.includes('windows'))) {
      expect(formula).toMatch(new RegExp(`/${file}"\\n\\s+sha256 "${sums().get(file)}"`));
    }
    expect(formula).not.toContain('{{');
    expect(formula).not.toContain('sha256 ""');
  });

  test.skipIf(isMissing('ruby'))('is Ruby', async () => {
    expect(await run(['ruby', '-c', join(folder, 'wallet-sidecar.rb')])).toEqual({
      exitCode: 0,
      output: 'Syntax OK\n',
    });
  });
});

describe('every shell script', () => {
  const scripts = ['.ci', 'packaging', 'examples', 'tests']
    .flatMap((part) =>
      readdirSync(join(ROOT, part), { recursive: true }).map((name) => `${part}/${name}`),
    )
    .filter(isShell);

  test('can be read by its shell', async () => {
    expect(scripts).toContain('packaging/install.sh');
    expect(scripts).toContain('.ci/run');
    for (const file of [...scripts, join(folder, 'completions', 'wallet-sidecar.bash')]) {
      expect([file, await run(['bash', '-n', file])]).toEqual([file, { exitCode: 0, output: '' }]);
    }
    const posix = Bun.which('dash') ?? 'sh';
    expect(await run([posix, '-n', 'packaging/install.sh'])).toEqual({ exitCode: 0, output: '' });
  });

  test.skipIf(isMissing('shellcheck'))('has nothing that shellcheck warns of', async () => {
    for (const file of scripts) {
      const shell = firstLine(file) === '#!/bin/sh' ? 'sh' : 'bash';
      const flags = ['-x', '-P', 'SCRIPTDIR', '-S', 'warning', '-s', shell];
      expect(await run(['shellcheck', ...flags, file])).toEqual({ exitCode: 0, output: '' });
    }
  });

  for (const [shell, flag, file] of [
    ['zsh', '-n', '_wallet-sidecar'],
    ['fish', '--no-execute', 'wallet-sidecar.fish'],
  ] as const) {
    test.skipIf(isMissing(shell))(`for ${shell} can be read by it`, async () => {
      const script = join(folder, 'completions', file);
      expect(await run([shell, flag, script])).toEqual({ exitCode: 0, output: '' });
    });
  }
});

function isShell(file: string): boolean {
  if (!statSync(join(ROOT, file)).isFile()) return false;
  return file.endsWith('.sh') || /^#!.*\b(?:ba)?sh\b/.test(firstLine(file));
}

function firstLine(file: string): string {
  return readFileSync(join(ROOT, file), 'latin1').split('\n', 1)[0] ?? '';
}
