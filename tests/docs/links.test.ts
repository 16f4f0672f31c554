import { expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { DOCS_PAGES, headingsOf, PAGES, pageText, ROOT } from '../support/pages.ts';

interface Link {
  readonly page: string;
  /** The page or file that the link leads to, as a path from the root of the repository. */
  readonly target: string;
  /** The heading's anchor; empty for the whole page. */
  readonly anchor: string;
}

const links = PAGES.flatMap(linksOf);

test('every link leads to a file of the repository, and to a heading that it has', () => {
  const broken = links.filter(({ target, anchor }) => !leads(target, anchor));
  expect(broken).toEqual([]);
  expect(links.length).toBeGreaterThan(50);
});

test('the README leads to every page of the documentation', () => {
  const linked = new Set(links.filter(({ page }) => page === 'README.md').map((it) => it.target));
  expect(DOCS_PAGES.filter((page) => !linked.has(page))).toEqual([]);
});

test('no two headings of a page have the same anchor', () => {
  for (const page of DOCS_PAGES) {
    const anchors = headingsOf(page).map(({ anchor }) => anchor);
    expect([page, anchors]).toEqual([page, [...new Set(anchors)]]);
  }
});

function linksOf(page: string): Link[] {
  const text = pageText(page).replace(/^```[\s\S]*?^```$/gm, '');
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, to = '']) => to)
    .filter((to) => !/^https?:/.test(to))
    .map((to) => {
      const [path = '', anchor = ''] = to.split('#');
      const target = path === '' ? page : normalize(join(dirname(page), path));
      return { page, target, anchor };
    });
}

function leads(target: string, anchor: string): boolean {
  if (!existsSync(join(ROOT, target))) return false;
  return anchor === '' || headingsOf(target).some((heading) => heading.anchor === anchor);
}
