import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Glob } from 'bun';

/** The checkout. */
export const ROOT = join(import.meta.dir, '..', '..');

/** The pages below docs, as paths from the checkout. */
export const DOCS_PAGES: readonly string[] = [...new Glob('docs/*.md').scanSync(ROOT)].toSorted();

/** Every page that people read. */
export const PAGES: readonly string[] = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  ...DOCS_PAGES,
  'examples/README.md',
];

/** The text of a page. */
export function pageText(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8');
}

/** The text below a second-level heading of a page; empty where there is none. */
export function sectionOf(page: string, heading: string): string {
  const parts = pageText(page).split(/^## /m);
  return parts.find((text) => text.startsWith(`${heading}\n`)) ?? '';
}

/** The cells of the tables below a second-level heading of a page, without heads. */
export function rowsOf(page: string, heading: string): string[][] {
  const tables = sectionOf(page, heading)
    .split('\n\n')
    .filter((block) => block.startsWith('| '));
  return tables.flatMap((table) =>
    table
      .trimEnd()
      .split('\n')
      .slice(2)
      // Pipes inside of code are escaped.
      .map((row) => row.slice(2, -2).split(/ (?<!\\)\| /)),
  );
}

/** What stands in code in a cell. */
export function codeIn(cell = ''): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
}

/** The headings of a page, each with the anchor that it is reached by. */
export function headingsOf(page: string): { readonly title: string; readonly anchor: string }[] {
  const withoutCode = pageText(page).replace(/^```[\s\S]*?^```$/gm, '');
  return [...withoutCode.matchAll(/^#{1,4} (.+)$/gm)].map(([, title = '']) => ({
    title,
    anchor: title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  }));
}
