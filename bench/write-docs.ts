import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT } from '../tests/support/pages.ts';
import { drawPicture } from './page/draw.ts';
import { pageOf } from './page/page.ts';
import { newestOf, type PartResult, readResults, writeResults } from './results.ts';

/** The results that the page is made of, in the repository. */
export const COMMITTED = join(ROOT, 'docs', 'performance.json');
const TEMPLATE = join(import.meta.dir, 'page', 'performance.md');

/** Returns what the documentation holds of these results, by path from the root of the repository. */
export function filesOf(parts: readonly PartResult[]): Map<string, string> {
  const pictures = parts.flatMap((part) => part.pictures);
  return new Map([
    ['docs/performance.md', pageOf(readFileSync(TEMPLATE, 'utf8'), parts)],
    ...pictures.map((one) => [`docs/images/${one.name}.svg`, drawPicture(one)] as const),
  ]);
}

/** Makes the page and its pictures of files of results, of each part the newest, and keeps these results beside it. */
export function writeDocs(paths: readonly string[]): void {
  const parts = newestOf(paths.flatMap(readResults));
  for (const [path, text] of filesOf(parts)) {
    mkdirSync(dirname(join(ROOT, path)), { recursive: true });
    writeFileSync(join(ROOT, path), text);
    console.log(`wrote ${path}`);
  }
  writeResults(COMMITTED, parts);
}

// `bun run bench/write-docs.ts FILE...` makes the page without measuring; without a file, of the committed results.
if (import.meta.main) {
  const files = process.argv.slice(2);
  writeDocs(files.length === 0 ? [COMMITTED] : files);
}
