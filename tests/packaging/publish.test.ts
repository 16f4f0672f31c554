import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import packageJson from '../../package.json';
import { publicKeyFile, signingKeyFrom } from '../../packaging/minisign.ts';
import { PLACES, problemOf } from '../../packaging/publishing.ts';
import { PUBLIC_KEY } from '../../packaging/release-key.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { pageText } from '../support/pages.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { ROOT, releaseFolder } from './folder.ts';
import { run } from './run.ts';

setDefaultTimeout(SLOW_TEST_MS);

const { version } = packageJson;
const key = signingKeyFrom(new Uint8Array(40).fill(7));
const folder = temporaryFolder('publish');
const clone = join(folder, 'clone');
const programs = join(folder, 'programs');
const calls = join(folder, 'calls');
/** Where the tool makes its own folders. */
const temporary = join(folder, 'temporary');
const TAP = 'https://taps.example/homebrew-tap.git';
const IMAGE = 'images.example/wallet-sidecar';
const to: Readonly<Record<string, string>> = { homebrew: TAP, container: IMAGE };
let release: string;

beforeAll(async () => {
  release = await releaseFolder({ key });
  mkdirSync(clone);
  mkdirSync(temporary);
  for (const name of ['packaging', 'tools', 'package.json'])
    cpSync(join(ROOT, name), join(clone, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
  writeFileSync(join(clone, PUBLIC_KEY), publicKeyFile(key.public));
  // Nothing is published by a test: these programs only note what they were asked for.
  mkdirSync(programs);
  for (const name of ['gh', 'npm', 'python3', 'git', 'docker', 'mkdir', 'cp'])
    writeFileSync(join(programs, name), `#!/bin/sh\necho "${name} $*" >> '${calls}'\n`, {
      mode: 0o755,
    });
});
afterAll(() => {
  removeFolder(release);
  removeFolder(folder);
});

const publish = (place: string, ...flags: string[]) => {
  const address = to[place] === undefined ? [] : ['--to', to[place]];
  const script = join(clone, 'tools', 'publish.ts');
  const command = [process.execPath, 'run', script, place, ...address, '--release', release];
  const env = { ...process.env, PATH: `${programs}:${process.env.PATH}`, TMPDIR: temporary };
  return run([...command, ...flags], clone, env);
};
const called = () => {
  const text = existsSync(calls) ? readFileSync(calls, 'utf8') : '';
  removeFolder(calls);
  return text;
};

/** What stands in the commands for each place. */
const EXPECTED: Readonly<Record<string, readonly string[]>> = {
  github: [
    `gh release create v${version} --verify-tag --title v${version} --notes-file `,
    '/RELEASE_NOTES.md ',
    '/SHA256SUMS.minisig',
    '/install.ps1',
  ],
  npm: ['npm publish ', `/wallet-sidecar-${version}.tgz --access public --tag latest`],
  pypi: ['python3 -m twine upload ', `-py3-none-any.whl`, `/wallet_sidecar-${version}.tar.gz`],
  homebrew: [
    `git clone --depth 1 ${TAP} `,
    '/wallet-sidecar.rb ',
    `commit --message `,
    `wallet-sidecar ${version}`,
    ' push\n',
  ],
  container: [
    'docker buildx build --platform linux/amd64,linux/arm64 --file ',
    ` --tag ${IMAGE}:${version} --tag ${IMAGE}:latest --push ${''}`,
  ],
};

describe('a release is published', () => {
  test('to every place by one command that the guide names', () => {
    const guide = pageText('docs/operations.md');
    expect(Object.keys(EXPECTED)).toEqual(Object.keys(PLACES));
    for (const place of Object.keys(PLACES))
      expect(guide).toContain(`\nnpx bun run tools/publish.ts ${place}`);
  });

  for (const [place, parts] of Object.entries(EXPECTED)) {
    test(`to ${place} with --publish alone; without it the commands are shown`, async () => {
      const shown = await publish(place);
      expect(shown.exitCode).toBe(0);
      for (const part of parts) expect(shown.output).toContain(part);
      expect(called()).toBe('');
      const done = await publish(place, '--publish');
      expect(done.exitCode).toBe(0);
      const ran = called();
      for (const part of parts) expect(ran).toContain(part);
      expect(ran.split('\n')).toHaveLength(shown.output.split('\n').length);
      expect(readdirSync(temporary)).toEqual([]);
    });
  }

  test('before its time under a tag of its own, so that nobody gets it unasked', () => {
    const early = { release, files: [], version: '9.0.0-beta.1', to: IMAGE, work: folder };
    expect(PLACES.github(early).flat()).toContain('--prerelease');
    expect(PLACES.npm(early).flat().slice(-2)).toEqual(['--tag', 'next']);
    expect(PLACES.container(early).flat()).not.toContain(`${IMAGE}:latest`);
  });

  test('only where its address is given, and to a place that is known', async () => {
    const script = join(clone, 'tools', 'publish.ts');
    const wrong = (...words: string[]) => run([process.execPath, 'run', script, ...words], clone);
    expect(await wrong('zork')).toEqual({
      exitCode: 1,
      output: 'Name one of github, npm, pypi, homebrew, container.\n',
    });
    expect((await wrong('homebrew', '--publish')).output).toBe(
      'Name the address of the tap with --to.\n',
    );
  });
});

describe('nothing is published', () => {
  const problem = (at = release, of = version) => problemOf(at, of, clone);

  test('that is unsigned, signed with another key, of another version or changed since', async () => {
    expect(await problem()).toBeNull();
    expect(await problem(release, '9.9.9')).toContain('and the version here is 9.9.9');
    expect(await problem(folder)).toContain('holds no release');
    const unsigned = await releaseFolder();
    expect(await problem(unsigned)).toBe('The release is not signed.');
    const strange = await releaseFolder({ key: signingKeyFrom(new Uint8Array(40).fill(8)) });
    expect(await problem(strange)).toContain('does not fit packaging/release-key.pub');
    for (const made of [unsigned, strange]) removeFolder(made);
    const extra = join(release, 'extra');
    writeFileSync(extra, 'not signed');
    expect(await problem()).toContain('are not those that SHA256SUMS lists');
    const refused = await publish('github', '--publish');
    expect([refused.exitCode, refused.output]).toEqual([
      1,
      expect.stringMatching(/lists\. Nothing was published\.\n$/),
    ]);
    expect(called()).toBe('');
    removeFolder(extra);
    expect(await problem()).toBeNull();
  });
});
