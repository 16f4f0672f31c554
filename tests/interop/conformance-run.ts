import { expect } from 'bun:test';
import { join } from 'node:path';

const ROOT = join(import.meta.dir, '..', '..');
/** Each run of the tests starts a network of its own. */
const TIMEOUT_MS = 120_000;

/** The time that a run may take, milliseconds. */
export const CONFORMANCE_WITHIN_MS = 900_000;

/**
 * Runs the conformance tests in a process of its own with these variables, and expects that all pass but those that are
 * declared.
 */
export async function expectConformance(
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
