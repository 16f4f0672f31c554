import type { Browser, Page } from 'playwright-core';
import {
  CHROMIUM,
  startBrowser,
  warnWithoutChromium,
} from '../../tests/console/console-browser.ts';
import { startConsoleWorld } from '../../tests/console/console-world.ts';
import { quantile } from '../compared.ts';
import type { Bench } from './part.ts';

/** How often each page is loaded, by turns, each time in a browser context of its own. */
const LOADS = 15;

/** When a page was first painted, in milliseconds: in a browser context of its own, and loaded again in its tab. */
interface Paints {
  readonly firstMs: number;
  readonly againMs: number;
}

/** Measures the first paint of the console, beside that of a page of one word, in the same browser by turns. */
export async function measureConsole({ note }: Bench): Promise<void> {
  if (CHROMIUM === undefined) return warnWithoutChromium('the console is painted soon');
  const world = await startConsoleWorld('console-bench');
  const empty = await startEmptyPage(`${world.url}/console`);
  const browser = await startBrowser();
  const ours: Paints[] = [];
  const words: Paints[] = [];
  try {
    for (let load = 0; load < LOADS; load++) {
      words.push(await paintsOf(browser, empty.url.href));
      ours.push(await paintsOf(browser, `${world.url}/console`));
    }
  } finally {
    await browser.close();
    await empty.stop(true);
    await world.stop();
  }
  const visits = [
    ['first paint of the console', 'firstMs'],
    ['first paint of the console, loaded again', 'againMs'],
  ] as const;
  for (const [name, which] of visits) {
    const [oursMs, wordsMs] = [ours, words].map((paints) => paints.map((one) => one[which]));
    const at = (ms: readonly number[] | undefined, share: number) => quantile(ms ?? [], share);
    const word = 'a page of one word with the same headers';
    note(`${name}, median of ${LOADS} loads without a cache`, `${at(oursMs, 0.5).toFixed(0)} ms`, {
      beside: `${at(wordsMs, 0.5).toFixed(0)} ms, ${word}`,
      goal: { target: 'firstPaint', is: at(oursMs, 0.5) },
    });
    note(`${name}, at the least`, `${at(oursMs, 0).toFixed(0)} ms`, {
      beside: `${at(wordsMs, 0).toFixed(0)} ms, ${word}`,
    });
  }
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

/** Loads a page twice without a cache: first in a fresh browser context, then again in the same tab. */
async function paintsOf(browser: Browser, url: string): Promise<Paints> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(url);
  const firstMs = await paintedMs(page);
  const session = await context.newCDPSession(page);
  await session.send('Network.setCacheDisabled', { cacheDisabled: true });
  await page.reload();
  const againMs = await paintedMs(page);
  await context.close();
  return { firstMs, againMs };
}

/** Returns after how many milliseconds a page has shown something. A buffered observer is told of it afterwards too. */
function paintedMs(page: Page): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve) => {
    new PerformanceObserver((list) => {
      const [paint] = list.getEntriesByName('first-contentful-paint');
      if (paint) resolve(paint.startTime);
    }).observe({ type: 'paint', buffered: true });
  })`);
}
