import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { faultsOf, overflowOf } from '../console/console-axe.ts';
import { CHROMIUM, startBrowser, warnWithoutChromium } from '../console/console-browser.ts';
import { type DevSidecar, startDevSidecar } from '../support/dev-sidecar.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { freePort } from '../support/ports.ts';
import { SLOW_TEST_MS } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);
warnWithoutChromium('the documentation page can be filtered, and asks nobody for anything');

const folder = temporaryFolder('docs-page');
let sidecar: DevSidecar;
let browser: Browser;

beforeAll(async () => {
  if (CHROMIUM === undefined) return;
  sidecar = await startDevSidecar({ dataDir: join(folder, 'data'), port: freePort() });
  browser = await startBrowser();
});
afterAll(async () => {
  await browser?.close();
  await sidecar?.stop();
  removeFolder(folder);
});

/** Runs a test with the page open, and expects that it loaded nothing else and broke no rule of its policy. */
function onPage(name: string, work: (page: Page) => Promise<void>, width = 1280): void {
  test.skipIf(CHROMIUM === undefined)(name, async () => {
    const context = await browser.newContext({ viewport: { width, height: 800 } });
    try {
      const page = await context.newPage();
      const requested: string[] = [];
      const complaints: string[] = [];
      page.on('request', (request) => requested.push(new URL(request.url()).pathname));
      page.on('console', (message) => complaints.push(message.text()));
      page.on('pageerror', (error) => complaints.push(String(error)));
      await page.goto(`${sidecar.baseUrl}/docs`);
      await work(page);
      // Browsers ask for the icon of a site by themselves.
      expect(requested.filter((path) => path !== '/favicon.ico')).toEqual(['/docs']);
      expect(complaints.filter((text) => !text.includes('status of 404'))).toEqual([]);
    } finally {
      await context.close();
    }
  });
}

const box = (page: Page) => page.getByRole('searchbox', { name: 'Filter operations and fields' });
const shown = (page: Page) => page.getByRole('navigation').locator('li:visible').allInnerTexts();
const focused = (page: Page) => page.evaluate<string>('document.activeElement.innerText ?? ""');

onPage('the list is folded by groups, and a group unfolds', async (page) => {
  expect(await shown(page)).toEqual([]);
  await page.getByRole('navigation').getByText('proofs', { exact: true }).click();
  expect((await shown(page)).map((it) => it.trim())).toEqual([
    'create_payer_proof POST',
    'verify_payer_proof POST',
  ]);
});

onPage('an operation is found by the keyboard alone, and Enter goes to it', async (page) => {
  await page.keyboard.press('/');
  await page.keyboard.type('Pay_Inv');
  expect((await shown(page)).map((it) => it.trim())).toEqual(['pay_invoice POST']);
  expect(await page.getByRole('status').innerText()).toBe('1 found');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/docs#post-v2-node-pay-invoice');
  const heading = page.getByRole('heading', { name: 'Pay a BOLT 11 invoice' });
  expect((await heading.boundingBox())?.y).toBeWithin(0, 200);
  // The box is reached again from there, and holds no slash.
  await page.keyboard.press('/');
  expect(await box(page).inputValue()).toBe('Pay_Inv');
  await page.keyboard.press('Escape');
  expect([await box(page).inputValue(), await shown(page)]).toEqual(['', []]);
  expect(await page.getByRole('status').innerText()).toBe('');
});

onPage('a field finds the operations and resources that have it, and is named', async (page) => {
  await box(page).fill('max_fee pay');
  const found = (await shown(page)).map((it) => it.replace(/\s+/g, ' ').trim());
  expect(found).toContain('pay_onchain POST max_fee');
  expect(found.filter((it) => !it.includes('max_fee'))).toEqual([]);
  await box(page).fill('preimage');
  expect((await shown(page)).join(' ')).toMatch(/\bPayment\b/);
  await box(page).fill('no such field');
  expect(await shown(page)).toEqual([]);
  expect(await page.getByRole('status').innerText()).toBe('0 found');
});

onPage('the arrows go through what was found, and from its ends to the box', async (page) => {
  await box(page).fill('payer_proof');
  const order: string[] = [];
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowUp', 'ArrowUp', 'ArrowUp']) {
    await page.keyboard.press(key);
    order.push((await focused(page)) || 'the box');
  }
  const [create, verify] = ['create_payer_proof POST', 'verify_payer_proof POST'];
  expect(order).toEqual([create, verify, create, 'the box', 'the box']);
});

// The page is so long that a look of axe takes seconds: each width and each scheme of colours has one.
for (const [width, colorScheme] of [
  [360, 'light'],
  [1280, 'dark'],
] as const) {
  onPage(
    `filtered, it is accessible in ${colorScheme}, and never wider than ${width} pixels`,
    async (page) => {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      expect(await overflowOf(page)).toBe(0);
      await box(page).fill('amount');
      expect(await overflowOf(page)).toBe(0);
      expect(await faultsOf(page)).toEqual([]);
    },
    width,
  );
}
