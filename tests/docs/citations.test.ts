import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { Glob } from 'bun';
import { ROOT } from '../support/pages.ts';

/** Comments and names of tests that speak of what stands on a page, such as `docs/decisions.md 17`. */
const CITATION = /docs\/([\w-]+\.md)(?: (\d+)|, ([A-Z][\w' ,()-]*?)(?=[.;:)`\n]|$))?/g;
/** What a reader of this repository does not have. */
const ELSEWHERE = /decisions,? sections? \d|\((?:the )?contract[,)]|\bcontract, [A-Za-z]/;

const files = await Array.fromAsync(
  new Glob('{src,tests,bench,fuzz,tools,packaging,examples,docs}/**/*.{ts,md}').scan({ cwd: ROOT }),
);
const texts = await Promise.all(
  files.map(async (path) => ({ path, text: await Bun.file(join(ROOT, path)).text() })),
);

/** The headings of a page; empty for a page that there is none of. */
async function headingsOf(page: string): Promise<readonly string[]> {
  const file = Bun.file(join(ROOT, 'docs', page));
  if (!(await file.exists())) return [];
  return [...(await file.text()).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => heading);
}

test('every citation names a page and a section that exist', async () => {
  const headings = new Map<string, readonly string[]>();
  const broken: string[] = [];
  for (const { path, text } of texts) {
    // A citation may go on in the next line of a comment.
    const joined = text.replace(/\n\s*(?:\*|\/\/) ?/g, ' ');
    for (const [citation, page = '', number, heading] of joined.matchAll(CITATION)) {
      if (!headings.has(page)) headings.set(page, await headingsOf(page));
      const known = headings.get(page) ?? [];
      const exists =
        number !== undefined
          ? known.some((one) => one.startsWith(`${number}. `))
          : heading !== undefined
            ? known.includes(heading.trim())
            : known.length > 0;
      if (!exists) broken.push(`${path}: ${citation}`);
    }
  }
  expect(broken).toEqual([]);
});

test('nothing cites what is not in the repository', () => {
  const citing = texts
    .filter(({ path }) => path !== 'tests/docs/citations.test.ts')
    .flatMap(({ path, text }) =>
      text.split('\n').flatMap((line, at) => (ELSEWHERE.test(line) ? [`${path}:${at + 1}`] : [])),
    );
  expect(citing).toEqual([]);
});
