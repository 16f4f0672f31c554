import { expect, setDefaultTimeout, test } from 'bun:test';
import { bundleConsole } from '../../packaging/console-bundle.ts';
import { ROOT } from '../support/binary.ts';
import { SLOW_TEST_MS } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

const MOST_BYTES = 80_000;

test('all files of the console together are below 80 kB compressed (docs/decisions.md 134)', async () => {
  const files = await bundleConsole(ROOT);
  const bytes = files.map(({ gzip }) => Buffer.from(gzip, 'base64').byteLength);
  expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThan(MOST_BYTES);
});

test('the same sources give the same files (docs/decisions.md 105)', async () => {
  const [first, second] = [await bundleConsole(ROOT), await bundleConsole(ROOT)];
  expect(second).toEqual(first);
});
