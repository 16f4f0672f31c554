import { expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { SLOW_TEST_MS } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

const PAGES = [...new Bun.Glob('docs/**/*.md').scanSync('.'), 'README.md', 'examples/README.md'];
const BLOCK = /^```sh\n([\s\S]*?)^```/gm;
const WRITTEN = />\s*([\w.-]+\.[\w.-]+|seed)\b/g;
/** What the examples write by themselves, where nothing else is named. */
const BY_EXAMPLES = ['bot.place', 'orders.sqlite', 'orders.sqlite-wal'];

/** Returns the files that the shell blocks of a page write into the folder of the sources. */
function writtenBy(page: string): string[] {
  const blocks = [...readFileSync(page, 'utf8').matchAll(BLOCK)].map(([, block = '']) => block);
  return blocks.flatMap((block) => [...block.matchAll(WRITTEN)].map(([, file = '']) => file));
}

test('git ignores every file that the documentation writes, so that no secret is committed', () => {
  const files = [...new Set([...PAGES.flatMap(writtenBy), ...BY_EXAMPLES])];
  expect(files).toContain('webhook.secret');
  expect(files).toContain('agent.credentials');
  const { stdout } = Bun.spawnSync(['git', 'check-ignore', ...files]);
  expect(stdout.toString().trim().split('\n').sort()).toEqual(files.sort());
});
