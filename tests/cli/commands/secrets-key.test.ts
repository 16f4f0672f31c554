import { expect, setDefaultTimeout, test } from 'bun:test';
import { SLOW_TEST_MS } from '../../support/until.ts';
import { runBinary } from '../sidecar.ts';

setDefaultTimeout(SLOW_TEST_MS);

test('secrets-key prints another key each time, which the configuration takes', async () => {
  const one = await runBinary(['secrets-key']);
  const other = await runBinary(['secrets-key', '--json']);
  expect(one).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^[0-9a-f]{64}$/) });
  const { secrets_key: key } = JSON.parse(other.stdout) as { secrets_key: string };
  expect(key).toMatch(/^[0-9a-f]{64}$/);
  expect(key).not.toBe(one.stdout);
});
