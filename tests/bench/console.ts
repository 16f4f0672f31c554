import { startBrowser } from '../console/console-browser.ts';
import { startConsoleWorld } from '../console/console-world.ts';

/** How often the page is loaded, each time by a browser context without a cache. */
const LOADS = 15;

const world = await startConsoleWorld('console-bench');
const browser = await startBrowser();
const paints: number[] = [];
for (let load = 0; load < LOADS; load++) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${world.url}/console`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  paints.push(
    await page.evaluate<number>(
      `performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN`,
    ),
  );
  await context.close();
}
await browser.close();
await world.stop();
const sorted = paints.toSorted((a, b) => a - b);
const [least = 0, median = 0, most = 0] = [sorted[0], sorted[LOADS >> 1], sorted.at(-1)];
console.log(
  `first paint of the console, ${LOADS} loads without a cache: median ${median.toFixed(0)} ms, least ${least.toFixed(0)} ms, most ${most.toFixed(0)} ms`,
);
