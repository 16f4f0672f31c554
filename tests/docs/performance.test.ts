import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readResults } from '../../bench/results.ts';
import { COMMITTED, filesOf } from '../../bench/write-docs.ts';
import { ROOT } from '../support/pages.ts';

test('docs/performance.md and its pictures are what the bench makes of docs/performance.json', () => {
  // `bun run bench/write-docs.ts` makes them again.
  const files = filesOf(readResults(COMMITTED));
  expect([...files.keys()]).toContain('docs/performance.md');
  for (const [path, text] of files) {
    expect([path, readFileSync(join(ROOT, path), 'utf8')]).toEqual([path, text]);
  }
});
