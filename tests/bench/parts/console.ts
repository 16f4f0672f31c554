import { CHROMIUM, startBrowser, warnWithoutChromium } from '../../console/console-browser.ts';
import { startConsoleWorld } from '../../console/console-world.ts';
import { quantile } from '../compared.ts';
import type { Bench } from './part.ts';

/** How often each page is loaded, each time by a browser context without a cache. */
const LOADS = 15;
const PAINT = `performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN`;
/** An empty page of the same host, whose first paint is the browser's own share. */
const EMPTY = '<!doctype html><title>empty</title><h1>empty</h1>';

/** Measures the first paint of the console, beside that of a page with one word, in the same browser in turn. */
export async function measureConsole({ note }: Bench): Promise<void> {
  if (CHROMIUM === undefined) return warnWithoutChromium('the console is painted soon');
  const world = await startConsoleWorld('console-bench');
  const empty = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => new Response(EMPTY, { headers: { 'content-type': 'text/html' } }),
  });
  const browser = await startBrowser();
  const paintOf = async (url: string) => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(url);
    await page.getByRole('heading', { level: 1 }).waitFor();
    const ms = await page.evaluate<number>(PAINT);
    await context.close();
    return ms;
  };
  const paints: number[] = [];
  const floors: number[] = [];
  try {
    for (let load = 0; load < LOADS; load++) {
      floors.push(await paintOf(empty.url.href));
      paints.push(await paintOf(`${world.url}/console`));
    }
  } finally {
    await browser.close();
    await empty.stop(true);
    await world.stop();
  }
  const median = quantile(paints, 0.5);
  note(
    `first paint of the console, median of ${LOADS} loads without a cache`,
    `${median.toFixed(0)} ms`,
    {
      beside: `${quantile(floors, 0.5).toFixed(0)} ms, a page with one word`,
      goal: { target: 'firstPaint', is: median },
    },
  );
  note('first paint of the console, at the least', `${Math.min(...paints).toFixed(0)} ms`, {
    beside: `${Math.min(...floors).toFixed(0)} ms, a page with one word`,
  });
}
