import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { parseRootSeed } from '../../../src/model/root-seed.ts';
import { SLOW_TEST_MS } from '../../support/until.ts';
import { runBinary } from '../sidecar.ts';

setDefaultTimeout(SLOW_TEST_MS);

const run = (...args: readonly string[]) => runBinary(args);

describe('seed new', () => {
  test('prints 24 words, or both forms as JSON, another each time', async () => {
    const { stdout: first, stderr } = await run('seed', 'new');
    expect(stderr).toMatch(/^Keep it, and keep it secret: it is not shown again/);
    expect(first.split(' ')).toHaveLength(24);
    expect((await run('seed', 'new')).stdout).not.toBe(first);
    const json = JSON.parse((await run('seed', 'new', '--json')).stdout);
    expect(parseRootSeed(json.phrase)).toEqual(parseRootSeed(json.root_seed));
  });
});
