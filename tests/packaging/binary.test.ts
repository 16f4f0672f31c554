import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { cpSync, mkdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import packageJson from '../../package.json';
import packageLock from '../../package-lock.json';
import { NOTICES } from '../../packaging/notices.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { commitAll, initialized } from './clone.ts';
import { ROOT } from './folder.ts';
import { run } from './run.ts';

setDefaultTimeout(SLOW_TEST_MS);

const SOURCES = [
  'src',
  'packaging',
  'tools',
  'build.ts',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.client.json',
  'tsconfig.console.json',
  'LICENSE',
  '.gitignore',
];
const PACKAGES = realpathSync(join(ROOT, 'node_modules'));
const locked: Readonly<Record<string, { readonly version?: string }>> = packageLock.packages;

let folder: string;
beforeAll(() => {
  folder = temporaryFolder('binary');
});
afterAll(() => removeFolder(folder));

/** A binary and the commit of the clone that it was built from. */
interface Built {
  readonly binary: Buffer;
  readonly commit: string;
}

/** Builds a binary from a clone with a copy of the sources, in this folder. */
async function builtIn(path: string): Promise<Built> {
  const copy = join(folder, path);
  mkdirSync(copy, { recursive: true });
  for (const source of SOURCES) cpSync(join(ROOT, source), join(copy, source), { recursive: true });
  await initialized(copy);
  const commit = await commitAll(copy);
  symlinkSync(PACKAGES, join(copy, 'node_modules'));
  const built = await run([process.execPath, 'run', 'build.ts', '--force'], copy);
  expect(built).toMatchObject({ exitCode: 0 });
  const file = join(copy, 'dist', 'wallet-sidecar');
  const version = await run([file, '--version']);
  expect(version.output).toBe(`${packageJson.version} (commit ${commit.slice(0, 12)})\n`);
  return { binary: readFileSync(file), commit };
}

describe('the binary', () => {
  test('says its commit, has the same bytes whatever folder it is built in, and names none', async () => {
    const one = await builtIn('one');
    const other = await builtIn('two/deeper/by/far');
    expect(one.commit).toBe(other.commit);
    expect(one.binary.equals(other.binary)).toBe(true);
    for (const path of [folder, PACKAGES])
      expect([path, one.binary.includes(path)]).toEqual([path, false]);
  }, 300_000);
});

describe('the notices', () => {
  const notices = readFileSync(join(ROOT, 'dist', NOTICES), 'utf8');
  const headings = notices.split(/\n={80}\n\n/).map((entry) => entry.split('\n', 1)[0] ?? '');

  test('have an entry with the version of every package that is compiled in', async () => {
    const { metafile } = await Bun.build({
      entrypoints: [join(ROOT, 'src', 'main.ts')],
      target: 'bun',
      metafile: true,
      define: { WALLET_SIDECAR_VERSION: '""' },
    });
    const compiled = new Set(
      Object.keys(metafile?.inputs ?? {}).flatMap(
        (path) => /node_modules\/(?:.*node_modules\/)?(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? [],
      ),
    );
    expect(compiled.size).toBeGreaterThan(10);
    for (const path of compiled) {
      const name = path.replace(/.*node_modules\//, '');
      expect(headings).toContain(`${name} ${locked[path]?.version}`);
    }
  });

  test('say what runtime is in it, and how to exchange its part under the LGPL', () => {
    expect(headings).toContain(`bun ${process.versions.bun}`);
    expect(notices).toContain('JavaScriptCore');
    expect(notices).toContain(String(Reflect.get(process.versions, 'webkit')));
    expect(notices).toContain('LGPL-2');
  });

  test('have a text for every entry', () => {
    for (const entry of notices.split(/\n={80}\n\n/).slice(1)) {
      expect(entry).toMatch(/Permission|Redistribution|public domain/i);
    }
  });
});
