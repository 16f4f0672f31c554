import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Glob } from 'bun';
import type { RemoteKind } from '../../src/model/node-kind.ts';
import { ROOT } from '../support/pages.ts';
import { findBinaries, findClnBinaries } from './harness/index.ts';
import { outcomesIn, readTested, suiteRun, testedFiles, withRun } from './tested-nodes.ts';

/** The words by which a file has tests for a kind of node, where its name does not begin with the kind. */
const MENTIONS: Readonly<Record<RemoteKind, RegExp>> = {
  lnd: /\b(?:describeKinds|describeNetwork|describeMixedNetwork|findBinaries)\(/,
  cln: /\b(?:describeKinds|describeCln\w*Network|describeMixedNetwork|findClnBinaries)\(/,
};
const TEST_TIMEOUT_MS = 60_000;

const folder = join('tests', 'interop');
const releases = [
  ...findBinaries().map(({ lndVersion: release }) => ({ kind: 'lnd' as const, release })),
  ...findClnBinaries().map(({ clnVersion: release }) => ({ kind: 'cln' as const, release })),
];

/**
 * `npm run test:nodes [-- FILE...]` runs files of `tests/interop`, all of them unless some are named, on every node
 * that is found, and records after each file how it ended on each release. Exits with 1 if one failed.
 */
async function record(names: readonly string[]): Promise<number> {
  const all = [...new Glob('*.test.ts').scanSync(join(ROOT, folder))].toSorted();
  const unknown = names.filter((name) => !all.includes(name));
  if (unknown.length > 0) throw new Error(`${folder} has no ${unknown.join(', ')}.`);
  let exitCode = releases.length === 0 ? 1 : 0;
  for (const suite of names.length > 0 ? names : all) {
    const { succeeded, junit } = await run(suite);
    if (!succeeded) exitCode = 1;
    const text = readFileSync(join(ROOT, folder, suite), 'utf8');
    const date = new Date().toISOString().slice(0, 10);
    const outcomes = outcomesIn(junit);
    const about = { releases: releases.map(({ release }) => release), date, succeeded };
    let rows = readTested();
    for (const { kind, release } of releases) {
      const concerns = suite.startsWith(`${kind}-`) || MENTIONS[kind].test(text);
      const found = suiteRun(outcomes, { ...about, release, concerns });
      if (found !== null) rows = withRun(rows, { kind, release }, suite, found);
    }
    for (const [path, content] of testedFiles(rows)) writeFileSync(join(ROOT, path), content);
  }
  return exitCode;
}

/** Runs one file in a process of its own. The report is empty where the process made none. */
async function run(suite: string): Promise<{ succeeded: boolean; junit: string }> {
  const reports = mkdtempSync(join(tmpdir(), 'tested-nodes-'));
  const report = join(reports, 'junit.xml');
  const options = ['--reporter=junit', `--reporter-outfile=${report}`];
  const child = Bun.spawn(
    [process.execPath, 'test', `--timeout=${TEST_TIMEOUT_MS}`, ...options, `./${folder}/${suite}`],
    { cwd: ROOT, stdin: 'ignore', stdout: 'inherit', stderr: 'inherit' },
  );
  const succeeded = (await child.exited) === 0;
  const junit = existsSync(report) ? readFileSync(report, 'utf8') : '';
  rmSync(reports, { recursive: true });
  return { succeeded, junit };
}

process.exitCode = await record(process.argv.slice(2).map((path) => basename(path)));
