import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Glob } from 'bun';
import { text } from '../../src/console/texts/index.ts';
import { ROOT } from '../support/pages.ts';

function contentOf(...patterns: readonly string[]): string {
  const paths = patterns.flatMap((pattern) => [...new Glob(pattern).scanSync(ROOT)]);
  return paths.map((path) => readFileSync(join(ROOT, path), 'utf8')).join('\n');
}

const PAGES = contentOf(
  'src/console/*.{tsx,html}',
  'src/console/{api,pages,parts,values}/**/*.{ts,tsx}',
  'packaging/console-*.ts',
);

/** The path of every text in a table, such as `receive.paid`. */
function pathsOf(table: object, above = ''): readonly string[] {
  return Object.entries(table).flatMap(([key, value]) =>
    typeof value === 'object' ? pathsOf(value, `${above}${key}.`) : [above + key],
  );
}

test('the console uses every text that it has', () => {
  const used = new Set(
    [...PAGES.matchAll(/\btext((?:\s*\.\s*\w+)+)/g)].map(([, path = '']) =>
      path.replaceAll(/\s/g, '').slice(1),
    ),
  );
  // A text is used by itself, with a method of its own, or with the table that it stands in.
  const isUsed = (path: string) =>
    [...used].some((one) => `${path}.`.startsWith(`${one}.`) || one.startsWith(`${path}.`));
  expect(pathsOf(text).filter((path) => !isUsed(path))).toEqual([]);
});

/** The words that parts take. A table that is given to a part as a whole counts as used, so it may hold no others. */
const WORDS_OF_PARTS = new Set('label help title words question confirm stay done'.split(' '));

test('a text that is given to a part as a whole holds nothing that parts do not show', () => {
  const given = [...PAGES.matchAll(/\{\.\.\.text((?:\.\w+)+)/g)].map(([, path = '']) =>
    path.slice(1),
  );
  expect(given.length).toBeGreaterThan(0);
  const tableAt = (path: string): object => {
    const found = path.split('.').reduce<unknown>((at, key) => (at as never)[key], text);
    return (typeof found === 'function' ? found('1', '2') : found) as object;
  };
  const unshown = given.flatMap((path) =>
    Object.keys(tableAt(path))
      .filter((name) => !WORDS_OF_PARTS.has(name))
      .map((name) => `${path}.${name}`),
  );
  expect(unshown).toEqual([]);
});

test('the console uses every class that its style names', () => {
  const style = contentOf('src/console/style/*.css').replaceAll(/\/\*[\s\S]*?\*\/|@import.*/g, '');
  const selectors = [...style.matchAll(/([^{}]*)\{/g)].map(([, selector = '']) => selector);
  const classes = new Set(
    selectors.flatMap((one) => [...one.matchAll(/\.([a-z][\w-]*)/g)].map(([, name = '']) => name)),
  );
  const words = new Set(PAGES.match(/[\w-]+/g));
  expect(classes.size).toBeGreaterThan(0);
  expect([...classes].filter((name) => !words.has(name))).toEqual([]);
});
