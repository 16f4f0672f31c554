import { expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Glob } from 'bun';
import { ALONE, MAY_IMPORT, ROOMS } from '../import-table.ts';
import { codeIn, pageText, ROOT, rowsOf } from '../support/pages.ts';

const PAGE = 'docs/architecture.md';
const rows = rowsOf(PAGE, 'Folders');

test('the import table of the architecture page is the one that the imports are checked by', () => {
  const shown = rows
    .filter(([folder = '']) => Object.hasOwn(MAY_IMPORT, codeIn(folder)[0] ?? ''))
    .map(([folder, may]) => line(codeIn(folder)[0] ?? '', may === 'nothing' ? [] : codeIn(may)));
  const checked = Object.entries(MAY_IMPORT).map(([folder, may]) =>
    line(folder, folder === 'lib' || ALONE.has(folder) ? may : ['lib', ...may]),
  );
  expect(shown).toEqual(checked);
});

test('the table of rooms of the architecture page is the one that the imports are checked by', () => {
  const shown = rows
    .map(([room = '', , may]) => [codeIn(room)[0] ?? '', may] as const)
    .filter(([room]) => /^(wallet|nodes)\/.+/.test(room))
    .map(([room, may = '']) => line(room, may === 'nothing' ? [] : codeIn(may)));
  const checked = Object.entries(ROOMS).flatMap(([house, rooms]) =>
    Object.entries(rooms).map(([room, may]) =>
      line(`${house.replace(/^nodes\/(lnd|cln)$/, 'nodes/<kind>')}/${room}`, may),
    ),
  );
  expect(shown.toSorted()).toEqual([...new Set(checked)].toSorted());
});

test('the architecture page says of everything in src what it holds', () => {
  const named = rows.flatMap(([first]) => codeIn(first)).filter((code) => code.startsWith('src/'));
  const there = readdirSync(join(ROOT, 'src')).map((name) => `src/${name}`);
  expect(named.toSorted()).toEqual(there.toSorted());
});

test('no folder is a thousand lines larger or smaller than the architecture page says', () => {
  const wrong = rowsOf(PAGE, 'How large, and why').flatMap(([folders, about = '']) =>
    codeIn(folders)
      .map((folder) => ({ folder, lines: linesIn(join('src', folder)) }))
      .filter(({ lines }) => Math.abs(lines / 1000 - Number(/\d+/.exec(about)?.[0])) >= 1)
      .map(({ folder, lines }) => `${folder} has ${lines} lines`),
  );
  expect(wrong).toEqual([]);
});

test('every file of the code that the architecture page or CONTRIBUTING names exists', () => {
  const there = [...new Glob('{src,tests,bench,fuzz}/**/*.{ts,tsx}').scanSync(ROOT)];
  const named = [PAGE, 'CONTRIBUTING.md'].flatMap((page) => [
    ...pageText(page).matchAll(/`((?:(?:src|tests)\/)?[\w./-]+\.tsx?)`/g),
  ]);
  const missing = named.flatMap(([, path = '']) =>
    there.some((file) => file === path || file.endsWith(`/${path}`)) ? [] : [path],
  );
  expect(missing).toEqual([]);
  expect(named.map(([, path]) => path)).toContain('src/wallet/pay/send.ts');
});

test('the architecture page names every table of the database, and no others', async () => {
  const steps = 'src/store/sqlite/migrations';
  const texts = await Promise.all(
    readdirSync(join(ROOT, steps), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .toSorted((a, b) => basename(a).localeCompare(basename(b)))
      .map((file) => Bun.file(join(ROOT, steps, file)).text()),
  );
  // A step may make a table anew.
  const made = new Set<string>();
  for (const [, act, name = ''] of texts.join('').matchAll(/(CREATE|DROP) TABLE (\w+)/g)) {
    if (act === 'CREATE') made.add(name);
    else made.delete(name);
  }
  const [, tables = ''] = pageText(PAGE).split('| table of `sidecar.sqlite` |');
  const named = tables
    .split('\n\n')[0]
    ?.split('\n')
    .flatMap((row) => codeIn(row.split(' | ')[0]));
  expect(named?.toSorted()).toEqual([...made].toSorted());
});

function line(folder: string, may: readonly string[]): string {
  return `${folder} may import ${may.join(', ')}`;
}

/** The lines in a folder, without what the build makes in it. */
function linesIn(folder: string): number {
  const files = [...new Glob(`${folder}/**/*`).scanSync(ROOT)].filter(
    (file) => !file.includes('/generated/'),
  );
  return files.reduce((sum, file) => sum + pageText(file).split('\n').length - 1, 0);
}
