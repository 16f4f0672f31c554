import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe-core finds on a page, as far as the tests look at it. */
interface Found {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
  }[];
}

/** Looks at a page with axe-core, in light and dark. Returns what keeps people from using it. */
export async function barriersOf(page: Page): Promise<readonly string[]> {
  await page.evaluate(AXE);
  const barriers: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const { violations } = await page.evaluate<Found>('axe.run({ preload: false })');
    for (const { id, nodes } of violations) {
      for (const { html, failureSummary } of nodes) {
        barriers.push(`${colorScheme}: ${id}: ${html}: ${failureSummary}`);
      }
    }
  }
  return barriers;
}

/** How many pixels a page is wider than its window. */
export function overflowOf(page: Page): Promise<number> {
  return page.evaluate<number>(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
}
