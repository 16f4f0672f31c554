import { expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { SLOW_TEST_MS } from '../support/until.ts';
import { findBinaries } from './harness/index.ts';
import { LND_CANNOT } from './lnd-cannot.ts';

setDefaultTimeout(SLOW_TEST_MS);

const ROOT = join(import.meta.dir, '..', '..');
/** Each test file starts a network of its own. */
const TIMEOUT_MS = 120_000;

const RULE = 'the conformance tests pass on LND, but for the declared list of what LND cannot do';

if (findBinaries().length === 0) test.skip(RULE, () => undefined);
test.each(findBinaries().map((binaries) => [binaries.lndVersion, binaries.lnd] as const))(
  `${RULE} (%s)`,
  async (version, lnd) => {
    const child = Bun.spawn(
      [process.execPath, 'test', 'tests/conformance', '--timeout', `${TIMEOUT_MS}`],
      {
        cwd: ROOT,
        env: { ...process.env, CONFORMANCE_NODE: 'lnd', LND_BIN: lnd },
        stdout: 'ignore',
        stderr: 'pipe',
      },
    );
    const report = await new Response(child.stderr).text();
    const failed = report.split('\n').filter((line) => line.startsWith('(fail)'));
    expect([...new Set(failed)]).toEqual([]);
    expect(await child.exited).toBe(0);
    const count = (what: string) => Number(new RegExp(`^ *(\\d+) ${what}$`, 'm').exec(report)?.[1]);
    console.log(
      `Conformance on LND ${version}: ${count('pass')} passed, ${count('skip')} declared.`,
    );
    expect(count('skip')).toBe(LND_CANNOT.size);
    expect(count('pass')).toBeGreaterThan(150);
  },
  600_000,
);
