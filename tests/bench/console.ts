import { startBrowser } from '../console/console-browser.ts';
import { startConsoleWorld } from '../console/console-world.ts';

/** How often each page is loaded, by turns, each time by a browser context without a cache. */
const LOADS = 15;

const world = await startConsoleWorld('console-bench');
const browser = await startBrowser();
const empty = await startEmptyPage(`${world.url}/console`);
const consolePaintsMs: number[] = [];
const emptyPaintsMs: number[] = [];
for (let load = 0; load < LOADS; load++) {
  emptyPaintsMs.push(await paintMs(empty.url.href));
  consolePaintsMs.push(await paintMs(`${world.url}/console`));
}
await browser.close();
await empty.stop(true);
await world.stop();
console.log(
  `first contentful paint, ${LOADS} loads without a cache: the console ${figures(consolePaintsMs)}; a page of one word with the same headers ${figures(emptyPaintsMs)}`,
);

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
async function paintMs(url: string): Promise<number> {
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

function figures(paintsMs: readonly number[]): string {
  const sorted = paintsMs.toSorted((a, b) => a - b).map((ms) => ms.toFixed(0));
  return `median ${sorted[LOADS >> 1]} ms, least ${sorted[0]} ms, most ${sorted.at(-1)} ms`;
}
