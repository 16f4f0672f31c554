import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Crate, cratesOfHelper, linkedCrates } from '../../packaging/helper/crates.ts';
import { permissiveChoices } from '../../packaging/helper/licences.ts';
import { helperNotices } from '../../packaging/helper/notices.ts';
import { HELPER_PLATFORMS, platformOf } from '../../packaging/helper/targets.ts';
import { BINARIES } from '../../packaging/platforms.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { throwing } from '../support/rejection.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { ROOT } from './folder.ts';
import { run } from './run.ts';

setDefaultTimeout(SLOW_TEST_MS);

const APACHE = 'Apache License\nVersion 2.0, January 2004\n';

describe('the licence of a crate', () => {
  test('is one that the program may be given on with, of those that the crate offers', () => {
    const first = (expression: string) => permissiveChoices(expression)[0] ?? null;
    expect(first('MIT')).toEqual(['MIT']);
    expect(first('Apache-2.0 OR MIT')).toEqual(['MIT']);
    expect(first('MIT/Apache-2.0')).toEqual(['MIT']);
    expect(first('GPL-3.0-only OR ISC')).toEqual(['ISC']);
    expect(first('Apache-2.0 AND ISC')).toEqual(['Apache-2.0', 'ISC']);
    expect(first('(MIT OR GPL-2.0) AND Unicode-3.0')).toEqual(['MIT', 'Unicode-3.0']);
  });

  test('is none where every way binds the program, or where it cannot be read', () => {
    const bound = ['GPL-3.0-only', 'MIT AND AGPL-3.0', 'LGPL-2.1', 'MPL-2.0', 'MIT WITH X', ''];
    for (const expression of [...bound, 'MIT OR', '(MIT', 'MIT)', 'MIT Apache-2.0', 'Custom'])
      expect([expression, permissiveChoices(expression)]).toEqual([expression, []]);
  });
});

describe('the notices of the LDK node', () => {
  const folder = temporaryFolder('crates');
  afterAll(() => removeFolder(folder));

  function crateOf(
    name: string,
    license: string | null,
    files: Readonly<Record<string, string>> = {},
  ): Crate {
    const path = join(folder, name);
    mkdirSync(join(path, 'depend'), { recursive: true });
    for (const [file, text] of Object.entries(files)) writeFileSync(join(path, file), text);
    const manifest_path = join(path, 'Cargo.toml');
    return {
      id: name,
      name,
      version: '1.0.0',
      license,
      authors: ['Ann'],
      manifest_path,
      targets: [],
    };
  }
  const apache = crateOf('apache', 'Apache-2.0', { LICENSE: APACHE });

  test.each(['GPL-3.0-only', 'MIT AND MPL-2.0', 'LicenseRef-Own'])(
    'are not made with a crate under %s',
    async (license) => {
      const crate = crateOf('bound', license, { LICENSE: 'All that you make is free.' });
      expect(await throwing(helperNotices([apache, crate]))).toThrow(
        `bound 1.0.0 has the licence ${license}, which is not permissive`,
      );
    },
  );

  test('hold the text of the licence that was taken, and of the sources that a crate brings along', async () => {
    const crate = crateOf('both', 'Apache-2.0 OR MIT', {
      'LICENSE-MIT': 'MIT of both',
      'LICENSE-APACHE': APACHE,
      'depend/COPYING': 'of what it brings',
    });
    const notices = await helperNotices([apache, crate]);
    expect(notices).toContain(
      'both 1.0.0 (Apache-2.0 OR MIT)\n\nMIT of both\n\nof what it brings\n',
    );
    expect(notices).toContain(`apache 1.0.0 (Apache-2.0)\nthe Rust standard library\n\n${APACHE}`);
  });

  test('have a text for a crate that has no file, and are not made where there is none', async () => {
    const notices = await helperNotices([
      apache,
      crateOf('bare', 'MIT OR Apache-2.0'),
      crateOf('named', 'MITNFA'),
    ]);
    expect(notices).toContain('apache 1.0.0 (Apache-2.0)\nbare 1.0.0 (MIT OR Apache-2.0)\n');
    expect(notices).toMatch(/named 1\.0\.0 \(MITNFA\)\n\nMIT License.*\n\nCopyright \(c\) Ann\n/);
    expect(await throwing(helperNotices([apache, crateOf('lost', 'ISC')]))).toThrow(
      'no licence text',
    );
  });

  test('are of what is linked: not of what builds it, tests it or runs in the compiler', () => {
    const library = crateOf('library', 'MIT');
    const all = ['root', 'library', 'deeper', 'build', 'test'].map((name) => ({
      ...library,
      id: name,
      name,
    }));
    const macro = { ...library, id: 'macro', targets: [{ kind: ['proc-macro'] }] };
    const dep = (pkg: string, kind: string | null) => ({ pkg, dep_kinds: [{ kind }] });
    const found = linkedCrates({
      packages: [...all, macro],
      resolve: {
        root: 'root',
        nodes: [
          {
            id: 'root',
            deps: [
              dep('library', null),
              dep('build', 'build'),
              dep('test', 'dev'),
              dep('macro', null),
            ],
          },
          { id: 'library', deps: [dep('deeper', null)] },
          { id: 'build', deps: [dep('test', null)] },
        ],
      },
    });
    expect(found.map(({ id }) => id)).toEqual(['library', 'deeper']);
  });

  describe.skipIf(Bun.which('cargo') === null)('as cargo knows it', () => {
    let crates: readonly Crate[] | null = null;
    beforeAll(async () => {
      // Without its registry, cargo knows nothing of the crates.
      crates = await cratesOfHelper(join(ROOT, 'helper')).catch(() => null);
    });

    test('are made of every crate that is linked, each with a text', async () => {
      if (crates === null) return console.warn('SKIPPED: cargo reaches no crates.');
      expect(crates.map(({ name }) => name)).toEqual(
        expect.arrayContaining([
          'ldk-node',
          'lightning',
          'secp256k1-sys',
          'libsqlite3-sys',
          'ring',
        ]),
      );
      const notices = await helperNotices(crates);
      for (const { name, version } of crates) expect(notices).toContain(`${name} ${version} (`);
      for (const entry of notices.split(/\n={80}\n\n/))
        expect(entry).toMatch(/Permission|Redistribution|public domain/i);
    });
  });
});

describe('the LDK node of a release', () => {
  test('is built for every platform but Windows, by the workflow', async () => {
    const platforms = Object.keys(BINARIES).map(platformOf);
    expect(platforms.filter((name) => !HELPER_PLATFORMS.has(name))).toEqual(['windows-x64']);
    const workflow = await Bun.file(join(ROOT, '.github/workflows/release.yml')).text();
    for (const [platform, rust] of HELPER_PLATFORMS)
      expect(workflow).toContain(`{ platform: ${platform}, rust: ${rust}, os: `);
  });

  test('is not built for a platform that has none', async () => {
    const build = [process.execPath, 'run', 'tools/build-helper.ts', '--platform', 'windows-x64'];
    expect(await run(build, ROOT)).toMatchObject({
      exitCode: 1,
      output: expect.stringContaining(
        'There is no LDK node for windows-x64: name one of linux-x64',
      ),
    });
  });
});
