import { expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeIn, headingsOf, ROOT, rowsOf } from '../support/pages.ts';

const PAGE = 'docs/stumbles.md';
const TEST_FILE = /^(?:tests\/.*\.test\.ts|clients\/python\/tests\/test_.*\.py)$/;

const rows = headingsOf(PAGE).flatMap(({ title }) => rowsOf(PAGE, title));

test('every stumble names tests that exist, each in its file', () => {
  const missing = rows.flatMap(([stumble = '', cell = '']) => {
    const held = cell.split(/; (?=`(?:tests|clients)\/)/).map((text) => codeIn(text));
    const wellFormed = held.every(
      ([file = '', ...names]) => TEST_FILE.test(file) && names.length > 0,
    );
    return wellFormed
      ? held.flatMap(([file = '', ...names]) => withoutTest(file, names))
      : [`${stumble}: name a file and a test in it`];
  });
  expect(missing).toEqual([]);
  expect(rows.length).toBeGreaterThan(40);
});

/** Returns those of the names that are not in the file as the name of a test, or of a row of a table of tests. */
function withoutTest(file: string, names: readonly string[]): string[] {
  if (!existsSync(join(ROOT, file))) return [`${file} is missing`];
  const text = readFileSync(join(ROOT, file), 'utf8');
  return names
    .filter((name) => !forms(file, name).some((form) => text.includes(form)))
    .map((name) => `${file}: ${name}`);
}

function forms(file: string, name: string): string[] {
  if (file.endsWith('.py')) return [`def ${name}(`];
  return [`'${name}'`, `"${name}"`, `\`${name}\``];
}
