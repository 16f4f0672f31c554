import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RemoteKind } from '../../src/model/node-kind.ts';
import { pageText, ROOT } from '../support/pages.ts';

/** How the tests of one file ended on one release. */
export interface SuiteRun {
  /** The day of the run, UTC. */
  readonly date: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** What was run on one release of a node: of each file of `tests/interop`, by its name, the newest run. */
export interface TestedRelease {
  readonly kind: RemoteKind;
  readonly release: string;
  readonly suites: Readonly<Record<string, SuiteRun>>;
}

/** The kinds of node, and the pages that tell of their releases. */
export const TESTED_PAGES: Readonly<Record<RemoteKind, string>> = {
  lnd: 'docs/lnd.md',
  cln: 'docs/core-lightning.md',
};

/** The file of all runs, of which lines in the documentation are made. */
export const TESTED_NODES = 'docs/tested-nodes.json';

/** One test in a report, with the names of the groups that it is in. */
export interface Outcome {
  readonly name: string;
  readonly end: 'passed' | 'failed' | 'skipped';
}

const CASE = /<testcase name="([^"]*)" classname="([^"]*)"[^>]*?(?:\/>|>([\s\S]*?)<\/testcase>)/g;
const MADE = /(<!-- made by npm run test:nodes -->\n)[\s\S]*?(?=<!-- end -->)/;

/** Returns the tests of a JUnit report of `bun test`. Hooks that failed are tests that failed. */
export function outcomesIn(junit: string): Outcome[] {
  return [...junit.matchAll(CASE)].map(([, name, groups, body = '']) => ({
    name: `${groups} ${name}`,
    end: /<(?:failure|error)\b/.test(body) ? 'failed' : body === '' ? 'passed' : 'skipped',
  }));
}

/**
 * Returns how a file ended on a release, by the tests that name it; null where none does. A run that failed is never
 * told as passed: a failure that names no release counts for each, and where no test says why, there is one.
 */
export function suiteRun(
  outcomes: readonly Outcome[],
  run: {
    readonly release: string;
    /** All releases of the run. */
    readonly releases: readonly string[];
    readonly date: string;
    readonly succeeded: boolean;
    /** Whether the file has tests for this kind of node. */
    readonly concerns: boolean;
  },
): SuiteRun | null {
  const named = outcomes.filter(({ name }) => names(name, run.release));
  const count = (of: readonly Outcome[], end: Outcome['end']) =>
    of.filter((one) => one.end === end).length;
  const ofNone = outcomes.filter(({ name }) => !run.releases.some((one) => names(name, one)));
  const failed = count(named, 'failed') + (run.concerns ? count(ofNone, 'failed') : 0);
  const isUnexplained =
    !run.succeeded && run.concerns && (named.length === 0 || count(outcomes, 'failed') === 0);
  if (named.length === 0 && !isUnexplained) return null;
  return {
    date: run.date,
    passed: count(named, 'passed'),
    failed: isUnexplained ? Math.max(failed, 1) : failed,
    skipped: count(named, 'skipped'),
  };
}

function names(test: string, release: string): boolean {
  return test.split(/[\s(),]+/).includes(release);
}

/** Returns the rows with one more run, in order. Runs of files that are no longer there are left out of its row. */
export function withRun(
  rows: readonly TestedRelease[],
  { kind, release }: Pick<TestedRelease, 'kind' | 'release'>,
  suite: string,
  run: SuiteRun,
): TestedRelease[] {
  const isIt = (row: TestedRelease) => row.kind === kind && row.release === release;
  const suites = Object.entries({ ...rows.find(isIt)?.suites, [suite]: run })
    .filter(([name]) => existsSync(join(ROOT, 'tests', 'interop', name)) || name === suite)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  const row = { kind, release, suites: Object.fromEntries(suites) };
  const order = (a: TestedRelease, b: TestedRelease) =>
    a.kind.localeCompare(b.kind) || a.release.localeCompare(b.release, 'en', { numeric: true });
  return [...rows.filter((one) => !isIt(one)), row].toSorted(order);
}

/** Reads the file of all runs. */
export function readTested(): TestedRelease[] {
  return JSON.parse(readFileSync(join(ROOT, TESTED_NODES), 'utf8')) as TestedRelease[];
}

/** Returns what the repository holds of these rows, by path from its root. */
export function testedFiles(rows: readonly TestedRelease[]): Map<string, string> {
  const kinds = Object.entries(TESTED_PAGES) as [RemoteKind, string][];
  const pages = kinds.map(([kind, page]): [string, string] => {
    const text = pageText(page);
    if (!MADE.test(text)) throw new Error(`${page} has no place for the releases: put it back.`);
    return [page, text.replace(MADE, (_, begin) => `${begin}\n${tableOf(rows, kind)}\n`)];
  });
  let readme = pageText('README.md');
  for (const [kind, page] of kinds) {
    const cell = new RegExp(`^(\\| \\[[^\\]]+\\]\\(${page}\\) \\| )[^|]*(?= \\|)`, 'm');
    readme = readme.replace(cell, (_, begin) => `${begin}${goodReleases(rows, kind)}`);
  }
  return new Map([
    [TESTED_NODES, `${JSON.stringify(rows, null, 2)}\n`],
    ...pages,
    ['README.md', readme],
  ]);
}

/** The releases on which something was run and nothing failed, without what stands after the number. */
function goodReleases(rows: readonly TestedRelease[], kind: RemoteKind): string {
  const good = rows
    .filter((row) => row.kind === kind)
    .filter((row) => sumOf(row, 'failed') === 0 && sumOf(row, 'passed') > 0)
    .map(({ release }) => release.replace(/-.*/, ''));
  return good.join(', ') || 'none without a failure';
}

function tableOf(rows: readonly TestedRelease[], kind: RemoteKind): string {
  const lines = rows
    .filter((row) => row.kind === kind)
    .map((row) => {
      const dates = [...new Set(Object.values(row.suites).map(({ date }) => date))].toSorted();
      const when = dates.length > 1 ? `${dates[0]} to ${dates.at(-1)}` : dates[0];
      const sums = (['passed', 'failed', 'skipped'] as const).map((end) => sumOf(row, end));
      return `| ${[row.release, when, Object.keys(row.suites).length, ...sums].join(' | ')} |\n`;
    });
  const head = '| release | run | files | passed | failed | skipped |\n|---|---|---|---|---|---|\n';
  return `${head}${lines.join('')}`;
}

function sumOf({ suites }: TestedRelease, end: 'passed' | 'failed' | 'skipped'): number {
  return Object.values(suites).reduce((sum, run) => sum + run[end], 0);
}
