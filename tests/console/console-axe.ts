import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** Returns what axe finds wrong with a page, by rule and place. */
export async function faultsOf(page: Page): Promise<readonly string[]> {
  // The page's policy allows no script of others, so axe runs by the browser's own way in.
  return page.evaluate<readonly string[]>(`(async () => {
    ${axe.source};
    const { violations } = await window.axe.run();
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html));
  })()`);
}

/** Returns what axe finds wrong with a page in light and in dark. */
export async function barriersOf(page: Page): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    faults.push(...(await faultsOf(page)).map((fault) => `${colorScheme}: ${fault}`));
  }
  return faults;
}

/** Returns how many pixels a page is wider than its window. */
export function overflowOf(page: Page): Promise<number> {
  return page.evaluate<number>(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
}
