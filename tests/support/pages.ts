import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Glob } from 'bun';

/** The root folder of the repository. */
export const ROOT = join(import.meta.dir, '..', '..');

/** The guides in `docs/guides`, as paths from the root of the repository. */
export const GUIDES: readonly string[] = [
  ...new Glob('docs/guides/*.md').scanSync(ROOT),
].toSorted();

/** The pages in `docs`, guides included, as paths from the root of the repository. */
export const DOCS_PAGES: readonly string[] = [
  ...[...new Glob('docs/*.md').scanSync(ROOT)].toSorted(),
  ...GUIDES,
];

/** All pages that are written for people. */
export const PAGES: readonly string[] = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  ...DOCS_PAGES,
  'examples/README.md',
  'src/client/README.md',
  'clients/python/README.md',
];

/** Returns the text of a page. */
export function pageText(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8');
}

/** Returns the text below a second-level heading of a page; empty when there is no such heading. */
export function sectionOf(page: string, heading: string): string {
  const parts = pageText(page).split(/^## /m);
  return parts.find((text) => text.startsWith(`${heading}\n`)) ?? '';
}

/** Returns the cells of the tables below a second-level heading of a page, without the head rows. */
export function rowsOf(page: string, heading: string): string[][] {
  const tables = sectionOf(page, heading)
    .split('\n\n')
    .filter((block) => block.startsWith('| '));
  return tables.flatMap((table) =>
    table
      .trimEnd()
      .split('\n')
      .slice(2)
      // A pipe inside a cell is escaped.
      .map((row) => row.slice(2, -2).split(/ (?<!\\)\| /)),
  );
}

/** Returns the parts of a cell that are written as code. */
export function codeIn(cell = ''): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
}

/** Returns the headings of a page, each with its anchor. */
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
