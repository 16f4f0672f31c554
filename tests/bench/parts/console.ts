import type { Browser } from 'playwright-core';
import { CHROMIUM, startBrowser, warnWithoutChromium } from '../../console/console-browser.ts';
import { startConsoleWorld } from '../../console/console-world.ts';
import { quantile } from '../compared.ts';
import type { Bench } from './part.ts';

/** How often each page is loaded, by turns, each time by a browser context without a cache. */
const LOADS = 15;

/** Measures the first paint of the console, beside that of a page of one word, in the same browser by turns. */
export async function measureConsole({ note }: Bench): Promise<void> {
  if (CHROMIUM === undefined) return warnWithoutChromium('the console is painted soon');
  const world = await startConsoleWorld('console-bench');
  const empty = await startEmptyPage(`${world.url}/console`);
  const browser = await startBrowser();
  const paintsMs: number[] = [];
  const emptyMs: number[] = [];
  try {
    for (let load = 0; load < LOADS; load++) {
      emptyMs.push(await paintMs(browser, empty.url.href));
      paintsMs.push(await paintMs(browser, `${world.url}/console`));
    }
  } finally {
    await browser.close();
    await empty.stop(true);
    await world.stop();
  }
  const median = quantile(paintsMs, 0.5);
  const what = 'a page of one word with the same headers';
  note(
    `first paint of the console, median of ${LOADS} loads without a cache`,
    `${median.toFixed(0)} ms`,
    {
      beside: `${quantile(emptyMs, 0.5).toFixed(0)} ms, ${what}`,
      goal: { target: 'firstPaint', is: median },
    },
  );
  note('first paint of the console, at the least', `${Math.min(...paintsMs).toFixed(0)} ms`, {
    beside: `${Math.min(...emptyMs).toFixed(0)} ms, ${what}`,
  });
}

/**
 * Serves a page of one word with the headers of another page. It shows what the browser itself takes, such as a process
 * of its own, which Cross-Origin-Opener-Policy asks for.
 */
async function startEmptyPage(like: string): Promise<ReturnType<typeof Bun.serve>> {
  const { headers } = await fetch(like, { headers: { 'accept-encoding': 'identity' } });
  return Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () =>
      new Response(
        '<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>Wallet</title><p>Wallet</p></html>',
        { headers },
      ),
  });
}

/** Returns after how many milliseconds a browser without a cache has shown something of a page. */
async function paintMs(browser: Browser, url: string): Promise<number> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(url);
  // A buffered observer is told of a paint that was before it.
  const paintedMs = await page.evaluate<number>(`new Promise((resolve) => {
    new PerformanceObserver((list) => {
      const [paint] = list.getEntriesByName('first-contentful-paint');
      if (paint) resolve(paint.startTime);
    }).observe({ type: 'paint', buffered: true });
  })`);
  await context.close();
  return paintedMs;
}
