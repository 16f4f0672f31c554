import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import packageJson from '../../package.json';
import { publicKeyText, signingKeyFrom, verified } from '../../packaging/minisign.ts';
import { archivesOf, BINARIES } from '../../packaging/platforms.ts';
import { notesOf } from '../../packaging/release-notes.ts';
import { removeFolder } from '../support/folder.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { isMissing, ROOT, releaseFolder, TEST_COMMIT } from './folder.ts';
import { run } from './run.ts';

setDefaultTimeout(SLOW_TEST_MS);

const key = signingKeyFrom(new Uint8Array(40).fill(7));
let folder: string;
beforeAll(async () => {
  folder = await releaseFolder({ key });
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
const archives = Object.keys(BINARIES).flatMap(archivesOf);
const sha256 = (file: string) =>
  new Bun.CryptoHasher('sha256').update(readFileSync(file)).digest('hex');

describe('a release', () => {
  test('holds archives, formula, install scripts, container files, board, alerts, clients, notes and the signed checksums', () => {
    expect(readdirSync(folder).toSorted()).toEqual(
      [
        ...archives,
        'Containerfile',
        'RELEASE_NOTES.md',
        'SHA256SUMS',
        'SHA256SUMS.minisig',
        'alerts.yaml',
        'compose.yaml',
        'grafana-dashboard.json',
        'install.ps1',
        'install.sh',
        `wallet-sidecar-${packageJson.version}.tgz`,
        'wallet-sidecar.rb',
        `wallet_sidecar-${packageJson.version}-py3-none-any.whl`,
        `wallet_sidecar-${packageJson.version}.tar.gz`,
      ].toSorted(),
    );
    expect(archives).toHaveLength(9);
  });

  test('names every other file in SHA256SUMS, with the checksum that the file has', () => {
    const files = readdirSync(folder).filter((name) => !name.startsWith('SHA256SUMS'));
    expect(files.toSorted()).toEqual([...sums().keys()]);
    for (const file of files) {
      expect([file, sha256(join(folder, file))]).toEqual([file, sums().get(file) ?? '']);
    }
  });

  test('says in the signature what version and commit it is of', () => {
    const comment = `wallet-sidecar ${packageJson.version} (commit ${TEST_COMMIT})`;
    const list = readFileSync(join(folder, 'SHA256SUMS'));
    expect(verified(list, read('SHA256SUMS.minisig'), key.public)).toBe(comment);
  });

  test('has the same bytes when it is made in another folder at another time', async () => {
    const other = await releaseFolder({ key, time: new Date('2001-02-03T04:05:06Z') });
    const hashes = (path: string) =>
      readdirSync(path)
        .toSorted()
        .map((name) => [name, sha256(join(path, name))]);
    expect(hashes(other)).toEqual(hashes(folder));
    removeFolder(other);
  });

  test('without a key has no signature, and says so in nothing but what installs it', async () => {
    const unsigned = await releaseFolder();
    expect(readdirSync(unsigned)).not.toContain('SHA256SUMS.minisig');
    const text = (name: string) => readFileSync(join(unsigned, name), 'utf8');
    expect(text('install.sh')).toContain("public_key=''");
    expect(text('install.ps1')).toContain("$publicKey = ''");
    expect(text('Containerfile')).toContain("key=''");
    removeFolder(unsigned);
  });

  test('has in its notes what the change log says of its version, and is not made where that is nothing', () => {
    const notes = read('RELEASE_NOTES.md');
    expect(notes).toStartWith('### ');
    expect(notes).not.toMatch(/^## /m);
    const log = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8');
    expect(log).toMatch(new RegExp(`^## \\[${packageJson.version}\\] .*\\n\\n### `, 'm'));
    expect(log).toContain(notes);
    expect(() => notesOf(log, '99.0.0')).toThrow('CHANGELOG.md says nothing of 99.0.0');
    expect(() => notesOf('## [1.0.0] - 2026-01-01\n', '1.0.0')).toThrow('says nothing of 1.0.0');
  });

  test('has the public key and the version in everything that installs it', () => {
    for (const name of ['install.sh', 'install.ps1', 'Containerfile']) {
      expect([name, read(name)]).toEqual([
        name,
        expect.stringContaining(`'${publicKeyText(key.public)}'`),
      ]);
      expect(read(name)).not.toContain('{{');
    }
    expect(read('Containerfile')).toContain(`/releases/v${packageJson.version}\n`);
  });

  test.skipIf(isMissing('sha256sum'))('is checked by sha256sum --check as it stands', async () => {
    expect(await run(['sha256sum', '--check', '--quiet', 'SHA256SUMS'], folder)).toEqual({
      exitCode: 0,
      output: '',
    });
  });
});

describe('the formula', () => {
  test('names the version and the checksums of this release, and has no blanks left', () => {
    const formula = read('wallet-sidecar.rb');
    expect(formula).toContain(`version "${packageJson.version}"`);
    for (const file of archives.filter((name) => name.endsWith('.tar.xz'))) {
      expect(formula).toMatch(new RegExp(`/${file}"\\n\\s+sha256 "${sums().get(file)}"`));
    }
    expect(formula).not.toContain('{{');
    expect(formula).not.toContain('sha256 ""');
  });

  test('runs a service that asks for credentials, has its own from a file, and says where its log is', () => {
    const formula = read('wallet-sidecar.rb');
    expect(formula).toContain('"--require-auth"');
    const credentials = 'wallet-sidecar/client-credentials';
    expect(formula).toContain(`"--client-credentials-path", etc/"${credentials}"`);
    expect(formula).toContain(`#{etc}/${credentials}`);
    expect(formula).toContain('error_log_path var/"log/wallet-sidecar.log"');
    expect(formula).toContain('#{var}/log/wallet-sidecar.log');
  });

  test.skipIf(isMissing('ruby'))('is Ruby', async () => {
    expect(await run(['ruby', '-c', join(folder, 'wallet-sidecar.rb')])).toEqual({
      exitCode: 0,
      output: 'Syntax OK\n',
    });
  });
});
