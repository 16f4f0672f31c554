import { expect, test } from 'bun:test';
import {
  outcomesIn,
  readTested,
  suiteRun,
  TESTED_PAGES,
  testedFiles,
  withRun,
} from '../interop/tested-nodes.ts';
import { pageText } from '../support/pages.ts';

const LND = '0.21.2-beta';
const REPORT = `<testsuites><testsuite name="a.test.ts">
  <testcase name="pays &amp; waits" classname="x (LND ${LND})" time="0" file="a" assertions="1" />
  <testcase name="s" classname="in &gt; x (LND ${LND}, sqlite)" time="0"><skipped /></testcase>
  <testcase name="both" classname="x (LND ${LND} and Core Lightning 26.06.6)" time="0" />
  <testcase name="rule (0.20.3-beta)" classname="" time="0"><failure type="Error">no</failure></testcase>
  <testcase name="(unnamed)" classname="x (LND 0.18.5-beta)"><failure message="a hook" /></testcase>
  <testcase name="of no release" classname="" time="0" />
</testsuite></testsuites>`;
const run = {
  release: LND,
  releases: [LND, '0.20.3-beta', '0.18.5-beta', '26.06.6'],
  date: '2026-11-23',
  succeeded: true,
  concerns: true,
};
const good = { date: '2026-11-23', passed: 2, failed: 0, skipped: 0 };

test('the documentation tells of releases what was recorded when the interop tests ran on them', () => {
  // `npm run test:nodes` records a run, and makes these lines again.
  for (const [path, text] of testedFiles(readTested())) {
    expect([path, pageText(path)]).toEqual([path, text]);
  }
  for (const kind of Object.keys(TESTED_PAGES)) {
    expect(readTested().map((row) => `${row.kind}`)).toContain(kind);
  }
});

test('a run counts for each release that its tests name', () => {
  const outcomes = outcomesIn(REPORT);
  const of = (release: string) => suiteRun(outcomes, { ...run, release, succeeded: false });
  expect(of(LND)).toEqual({ ...good, skipped: 1 });
  expect(of('26.06.6')).toEqual({ ...good, passed: 1 });
  expect(of('0.20.3-beta')).toEqual({ ...good, passed: 0, failed: 1 });
  expect(of('0.18.5-beta')).toEqual({ ...good, passed: 0, failed: 1 });
  expect(suiteRun(outcomes, { ...run, release: '0.21.2' })).toBeNull();
});

test('a run that failed is never told as passed', () => {
  const passing = outcomesIn(REPORT).filter(({ end }) => end !== 'failed');
  const failed = { ...run, succeeded: false };
  // The process was killed, or the file could not be loaded.
  expect(suiteRun([], failed)).toEqual({ ...good, passed: 0, failed: 1 });
  // It failed after its last test.
  expect(suiteRun(passing, failed)?.failed).toBe(1);
  // A test failed that names no release.
  const ofNone = { name: 'of no release', end: 'failed' } as const;
  expect(suiteRun([...outcomesIn(REPORT), ofNone], failed)?.failed).toBe(1);
  // Its failure left no test of this release.
  expect(suiteRun(outcomesIn(REPORT), { ...failed, release: '0.17.0' })?.failed).toBe(1);
  expect(suiteRun([], { ...failed, concerns: false })).toBeNull();
});

test('a run writes the row of its release alone, and a release with a failure is not called tested', () => {
  const lnd = { kind: 'lnd', release: LND } as const;
  const before = withRun([], { kind: 'lnd', release: '0.18.5-beta' }, 'lnd-holds.test.ts', good);
  const rows = withRun(before, lnd, 'lnd-holds.test.ts', { ...good, date: '2026-11-24' });
  expect(rows[0]).toEqual(before[0]);
  const lines = (of: typeof rows) => {
    const files = testedFiles(of);
    const readme = files.get('README.md') ?? '';
    const page = files.get('docs/lnd.md') ?? '';
    return [/^\| \[LND\]\S+ \| (.*?) \|/m.exec(readme)?.[1], page.match(/^\| 0\..*$/gm)];
  };
  const old = '| 0.18.5-beta | 2026-11-23 | 1 | 2 | 0 | 0 |';
  expect(lines(rows)).toEqual([
    '0.18.5, 0.21.2',
    [old, '| 0.21.2-beta | 2026-11-24 | 1 | 2 | 0 | 0 |'],
  ]);
  const worse = withRun(rows, lnd, 'lnd-coins.test.ts', { ...good, failed: 1 });
  expect(lines(worse)).toEqual([
    '0.18.5',
    [old, '| 0.21.2-beta | 2026-11-23 to 2026-11-24 | 2 | 4 | 1 | 0 |'],
  ]);
  const [bad] = lines(withRun([], lnd, 'lnd-coins.test.ts', { ...good, failed: 1 }));
  expect(bad).toBe('none without a failure');
});
