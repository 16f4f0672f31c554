import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { Glob } from 'bun';
import { ROOT } from '../support/pages.ts';

/** Words that make a stranger stumble, each with what to write instead (CONTRIBUTING, Words). */
const AVOIDED: readonly (readonly [RegExp, string])[] = [
  [/\bwhoever\b/i, 'name who it is'],
  [/\b(some|no)body's business\b/i, 'say what is shown, and to whom'],
  [/^\s*(\/\*)?\*+ .*[.;,] (and )?answers (it|its|the|a|an|how|what|how many|null)\b/i, 'returns'],
  [/\bwhat (that|it) answers is\b/i, 'say what is returned'],
  [/\/\*\* What (every|all|each) [\w ]+ (shares?|has|have|is)\.? \*\//, 'say what it is'],
];

/** Words avoided in the product alone; tests have servers of their own, which answer. */
const AVOIDED_IN_PRODUCT: typeof AVOIDED = [
  ...AVOIDED,
  [/\/\*\* Answers\b/, 'functions return; only servers answer'],
];
/** The columns of a comment. What is generated from the API's descriptions has their length. */
const COLUMNS = 120;

const SELF = 'tests/docs/words.test.ts';
const sources = await linesOf('src/**/*.{ts,tsx}');
const others = await linesOf('{tests,bench,fuzz,examples,docs,packaging}/**/*.{ts,md}');
const python = await linesOf('clients/python/**/*.py');
const pages = await linesOf('*.md');

interface Line {
  readonly place: string;
  readonly text: string;
}

test('comments, messages, tests and pages avoid the worst words', () => {
  expect([
    ...avoided(sources, AVOIDED_IN_PRODUCT),
    ...avoided([...others, ...python, ...pages], AVOIDED),
  ]).toEqual([]);
});

test(`no comment of the product is wider than ${COLUMNS} columns`, () => {
  const wide = [...sources, ...python]
    .filter(({ place }) => !place.startsWith('src/client/generated/'))
    .filter(({ text }) => /^\s*(\/\*|\*|\/\/|#)/.test(text) && text.length > COLUMNS);
  expect(wide.map(({ place, text }) => `${place}: ${text.length} columns`)).toEqual([]);
});

function avoided(lines: readonly Line[], words: typeof AVOIDED): string[] {
  return lines.flatMap(({ place, text }) =>
    words
      .filter(([pattern]) => pattern.test(text))
      .map(([, advice]) => `${place}: ${advice}: ${text.trim()}`),
  );
}

async function linesOf(glob: string): Promise<Line[]> {
  const paths = (await Array.fromAsync(new Glob(glob).scan({ cwd: ROOT }))).toSorted();
  const files = await Promise.all(
    paths
      .filter((path) => path !== SELF)
      .map(async (path) => ({ path, text: await Bun.file(join(ROOT, path)).text() })),
  );
  return files.flatMap(({ path, text }) =>
    text.split('\n').map((line, at) => ({ place: `${path}:${at + 1}`, text: line })),
  );
}
