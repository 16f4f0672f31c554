import { afterAll, beforeAll, test } from 'bun:test';
import type { Browser } from 'playwright-core';
import { CHROMIUM, startBrowser, warnWithoutChromium } from './console-browser.ts';
import { type ConsoleWorld, startConsoleWorld } from './console-world.ts';

/** What the tests of a file share. */
interface InBrowser {
  /** A test that is skipped where there is no Chromium. */
  readonly inBrowser: typeof test;
  /** The sidecar, once the tests run. */
  readonly world: () => ConsoleWorld;
  readonly browser: () => Browser;
}

/**
 * Starts a sidecar and a browser for the tests of a file, and ends them after the last. Where there is no Chromium, it
 * says loudly what is not checked.
 */
export function consoleInBrowser(
  name: string,
  whatIsChecked: string,
  flags: readonly string[] = [],
): InBrowser {
  warnWithoutChromium(whatIsChecked);
  let world: ConsoleWorld;
  let browser: Browser;
  beforeAll(async () => {
    if (CHROMIUM === undefined) return;
    [world, browser] = await Promise.all([startConsoleWorld(name, flags), startBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await world?.stop();
  });
  return {
    inBrowser: test.skipIf(CHROMIUM === undefined) as typeof test,
    world: () => world,
    browser: () => browser,
  };
}
