import { expect, setDefaultTimeout } from 'bun:test';
import { createHash } from 'node:crypto';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { SLOW_TEST_MS } from '../support/until.ts';
import { openConsole } from './console-browser.ts';
import { consoleInBrowser } from './in-browser.ts';

setDefaultTimeout(SLOW_TEST_MS);
const { inBrowser, world, browser } = consoleInBrowser(
  'console-first-paint',
  'the console is seen before its script runs',
);

const BEFORE_THE_SCRIPT = { javaScriptEnabled: false };

async function opened(context: BrowserContextOptions): Promise<Page> {
  const page = await (await browser().newContext(context)).newPage();
  await page.goto(`${world().url}/console`);
  return page;
}

/** Where the headings, the paragraphs and the command stand, and what they say. */
function drawn(page: Page): Promise<unknown[]> {
  return page
    .locator('main h1, main > p, main > pre')
    .evaluateAll((all) =>
      all.map((one) => [one.textContent, JSON.stringify(one.getBoundingClientRect())]),
    );
}

inBrowser(
  'the sign-in begins before any script, with what stays at its place (docs/decisions.md 134)',
  async () => {
    const [early, whole] = [await opened(BEFORE_THE_SCRIPT), await opened({})];
    await whole.getByRole('button', { name: 'Sign in' }).waitFor();
    await early.getByRole('heading', { name: 'Sign in to the wallet' }).waitFor();
    expect(await drawn(early)).toHaveLength(3);
    expect(await drawn(early)).toEqual(await drawn(whole));
    expect(await early.getByRole('button').count()).toBe(0);
    await Promise.all([early, whole].map((page) => page.context().close()));
  },
);

inBrowser('a browser with a session sees the frame of its pages first, in its theme', async () => {
  const signedIn = await openConsole(browser(), world().url, world().owner);
  const storageState = await signedIn.context().storageState();
  for (const colorScheme of ['light', 'dark'] as const) {
    const early = await opened({ ...BEFORE_THE_SCRIPT, storageState, colorScheme });
    await early.locator('.brand').waitFor();
    expect(await early.getByRole('heading').count()).toBe(0);
    const ground = await early.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    expect(ground).toBe({ light: 'rgb(246, 247, 247)', dark: 'rgb(16, 20, 20)' }[colorScheme]);
    await early.context().close();
  }
  await signedIn.context().close();
});

inBrowser('the policy of the page allows the style in it, and no other', async () => {
  const page = await (await browser().newContext()).newPage();
  const response = await page.goto(`${world().url}/console`);
  const html = (await response?.text()) ?? '';
  const [, style = ''] = /<style>([^<]*)<\/style>/.exec(html) ?? [];
  const hash = createHash('sha256').update(style).digest('base64');
  const policy = response?.headers()['content-security-policy'] ?? '';
  expect(policy).toContain(`; style-src 'sha256-${hash}'; `);
  expect(policy).not.toContain('unsafe');
  expect(response?.headers().vary).toBe('accept-encoding, cookie');
  const blocked = page.waitForEvent('console', (message) =>
    /Refused|violates/.test(message.text()),
  );
  await page.evaluate(`{
    const added = document.createElement('style');
    added.textContent = 'body { color: red }';
    document.head.append(added);
  }`);
  await blocked;
  await page.context().close();
});
