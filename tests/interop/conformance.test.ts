import { expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { SLOW_TEST_MS } from '../support/until.ts';
import { CLN_CANNOT } from './cln-cannot.ts';
import { findBinaries, findClnBinaries } from './harness/index.ts';
import { TITLES } from './kinds.ts';
import { LND_CANNOT } from './lnd-cannot.ts';

setDefaultTimeout(SLOW_TEST_MS);

const ROOT = join(import.meta.dir, '..', '..');
/** Each run of the tests starts a network of its own. */
const TIMEOUT_MS = 120_000;

/** The time that a run may take, milliseconds. */
const WITHIN_MS = 900_000;

const KINDS = [
  {
    kind: 'lnd',
    found: findBinaries().map(({ lnd, lndVersion }) => [lndVersion, { LND_BIN: lnd }] as const),
    cannot: LND_CANNOT,
  },
  {
    kind: 'cln',
    found: findClnBinaries().map(
      ({ lightningd, clnVersion }) => [clnVersion, { LIGHTNINGD_BIN: lightningd }] as const,
    ),
    cannot: CLN_CANNOT,
  },
] as const;

for (const { kind, found, cannot } of KINDS) {
  const title = TITLES[kind];
  const rule = `the conformance tests pass on ${title}, but for the declared list of what ${title} cannot do`;
  if (found.length === 0) test.skip(rule, () => undefined);
  for (const [version, binary] of found) {
    const env = { CONFORMANCE_NODE: kind, ...binary };
    const run = () => expectConformance(`${title} ${version}`, env, cannot);
    test(`${rule} (${version})`, run, WITHIN_MS);
  }
}

/**
 * Runs the conformance tests in a process of its own with these variables, and expects that all pass but those that are
 * declared.
 */
async function expectConformance(
  title: string,
  env: Readonly<Record<string, string>>,
  declared: ReadonlyMap<string, string>,
): Promise<void> {
  const child = Bun.spawn(
    [process.execPath, 'test', 'tests/conformance', '--timeout', `${TIMEOUT_MS}`],
    { cwd: ROOT, env: { ...process.env, ...env }, stdout: 'ignore', stderr: 'pipe' },
  );
  const report = await new Response(child.stderr).text();
  const failed = report.split('\n').filter((line) => line.startsWith('(fail)'));
  expect([...new Set(failed)]).toEqual([]);
  expect(await child.exited).toBe(0);
  const count = (what: string) => Number(new RegExp(`^ *(\\d+) ${what}$`, 'm').exec(report)?.[1]);
  console.log(`Conformance on ${title}: ${count('pass')} passed, ${count('skip')} declared.`);
  expect(count('skip')).toBe(declared.size);
  expect(count('pass')).toBeGreaterThan(150);
}
