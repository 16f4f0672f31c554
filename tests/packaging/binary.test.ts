import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import packageJson from '../../package.json';
import packageLock from '../../package-lock.json';
import { NOTICES } from '../../packaging/notices.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { pageText } from '../support/pages.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { commitAll, initialized } from './clone.ts';
import { OWN_BINARY, ROOT } from './folder.ts';
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
const locked: Readonly<Record<string, { readonly version?: string }>> = packageLock.packages;

let folder: string;
beforeAll(() => {
  folder = temporaryFolder('binary');
});
afterAll(() => removeFolder(folder));

/** Makes a clone with a copy of the sources and of the packages. Returns its commit. */
async function clonedIn(copy: string): Promise<string> {
  mkdirSync(copy, { recursive: true });
  for (const source of SOURCES) cpSync(join(ROOT, source), join(copy, source), { recursive: true });
  await initialized(copy);
  const commit = await commitAll(copy);
  const packages = realpathSync(join(ROOT, 'node_modules'));
  // The names of parts of the binary follow from where packages are, seen from the clone.
  cpSync(packages, join(copy, 'node_modules'), { recursive: true, verbatimSymlinks: true });
  return commit;
}

/** Builds the binary of a clone. */
async function builtIn(copy: string, commit: string): Promise<Buffer> {
  const built = await run([process.execPath, 'run', 'build.ts', '--force'], copy);
  expect(built).toMatchObject({ exitCode: 0 });
  const file = join(copy, 'dist', 'wallet-sidecar');
  const version = await run([file, '--version']);
  expect(version.output).toBe(`${packageJson.version} (commit ${commit.slice(0, 12)})\n`);
  return readFileSync(file);
}

describe('the binary', () => {
  test('says its commit, has the same bytes whatever folder it is built in, and names none', async () => {
    const first = join(folder, 'one');
    const second = join(folder, 'two', 'deeper', 'by', 'far');
    const commit = await clonedIn(first);
    const one = await builtIn(first, commit);
    mkdirSync(dirname(second), { recursive: true });
    renameSync(first, second);
    const other = await builtIn(second, commit);
    expect(one.equals(other)).toBe(true);
    expect(one.includes(folder)).toBe(false);
  }, 300_000);
});

test.skipIf(OWN_BINARY !== 'wallet-sidecar-linux-x64')(
  'the README says how large the program and its runtime are',
  () => {
    const [, program, runtime, own] =
      /program of (\d+) MB: (\d+) MB are the Bun runtime, and (\d+) MB the sidecar/.exec(
        pageText('README.md'),
      ) ?? [];
    const sizes = [join(ROOT, 'dist', 'wallet-sidecar'), process.execPath].map(
      (file) => statSync(file).size / 1e6,
    );
    const helper = join(ROOT, 'dist', 'ldk-helper.bin');
    const [built = 0, bun = 0] = sizes;
    const all = built - (existsSync(helper) ? statSync(helper).size / 1e6 : 0);
    for (const [said, size] of [
      [program, all],
      [runtime, bun],
      [own, all - bun],
    ] as const)
      expect(Math.abs(Number(said) - size)).toBeLessThan(1);
  },
);

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
    const entries = notices.split(/\n={80}\n\n/).slice(1);
    expect(entries.length).toBeGreaterThan(10);
    for (const entry of entries) {
      expect(entry).toMatch(/Permission|Redistribution|public domain/i);
    }
  });
});
