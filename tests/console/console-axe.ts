import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** The rules of axe whose verdict changes with the colours of a page. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

/** Returns what axe finds wrong with a page, by rule and place; by these rules alone where they are given. */
export async function faultsOf(
  page: Page,
  rules: readonly string[] | null = null,
): Promise<readonly string[]> {
  // The page's policy allows no script of others, so axe runs by the browser's own way in.
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axe.source);
  const runOnly = rules === null ? {} : { runOnly: rules };
  const options = JSON.stringify({ resultTypes: ['violations'], ...runOnly });
  return page.evaluate<readonly string[]>(`(async () => {
    const { violations } = await window.axe.run(${options});
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html));
  })()`);
}

/** Returns what axe finds wrong with a page in light and, as far as colours decide it, in dark. */
export async function barriersOf(page: Page): Promise<readonly string[]> {
  const found = async (colorScheme: 'light' | 'dark', rules: readonly string[] | null) => {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    return (await faultsOf(page, rules)).map((fault) => `${colorScheme}: ${fault}`);
  };
  return [...(await found('light', null)), ...(await found('dark', COLOUR_RULES))];
}

/** Returns how many pixels a page is wider than its window. */
export function overflowOf(page: Page): Promise<number> {
  return page.evaluate<number>(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
}
