import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { ROOT } from '../support/binary.ts';
import { CHROMIUM, goTo, openConsole, startBrowser, titlesOf } from './console-browser.ts';
import { type ConsoleWorld, startConsoleWorld } from './console-world.ts';

/** Where the pictures are; those of the run before lie beside them as `.before.png`. */
const FOLDER = join(ROOT, 'build/pictures');
const SIZES = { wide: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } } as const;

/** A shop's day: what was sold, what is open, what was bought, and two clients. */
async function trade(world: ConsoleWorld): Promise<void> {
  const sold = [
    { amount: '1000', description: 'Two coffees, table 13', external_id: 'order-1001' },
    { amount: '25000', description: 'Bicycle lamp', external_id: 'order-1002' },
    { amount: '1781.25', description: 'Croissant' },
  ];
  for (const one of sold) {
    const { invoice } = await world.post('/v2/node/create_invoice', one);
    await world.post('/sandbox/pay', { payable: invoice });
  }
  await world.post('/v2/node/create_invoice', { amount: '4200', description: 'Table 4' });
  const { invoice } = await world.post('/sandbox/invoice', { amount: '3300' });
  await world.post('/v2/node/pay_invoice', { invoice });
  await world.post('/v2/node/create_client', { label: 'till', scopes: ['receive'] });
  const budget = { amount: '5000', period: 'day' };
  await world.post('/v2/node/create_client', { label: 'bot', scopes: ['send'], budget });
}

/** Takes a picture of the page as it is, and says how much of it is not as in the run before. */
async function keep(page: Page, name: string): Promise<void> {
  const path = join(FOLDER, `${name}.png`);
  const before = join(FOLDER, `${name}.before.png`);
  if (existsSync(path)) renameSync(path, before);
  await page.waitForTimeout(200);
  await page.screenshot({ path, fullPage: true });
  if (!existsSync(before)) return console.log(`new        ${path}`);
  const share = await differing(page.context().browser(), [before, path]);
  if (share > 0) console.log(`${(share * 100).toFixed(1).padStart(5)} %    ${path}`);
}

/** Returns which share of two pictures differs: 1 where their sizes do. */
async function differing(browser: Browser | null, paths: readonly string[]): Promise<number> {
  const page = await (browser as Browser).newPage();
  const urls = paths.map((path) => `data:image/png;base64,${readFileSync(path, 'base64')}`);
  const share = await page.evaluate<number>(`(async (urls) => {
    const [a, b] = await Promise.all(urls.map(async (url) => {
      const image = await createImageBitmap(await (await fetch(url)).blob());
      const canvas = new OffscreenCanvas(image.width, image.height).getContext('2d');
      canvas.drawImage(image, 0, 0);
      return canvas.getImageData(0, 0, image.width, image.height);
    }));
    if (a.width !== b.width || a.height !== b.height) return 1;
    const [one, other] = [a, b].map(({ data }) => new Uint32Array(data.buffer));
    return one.filter((pixel, place) => pixel !== other[place]).length / one.length;
  })(${JSON.stringify(urls)})`);
  await page.close();
  return share;
}

if (CHROMIUM === undefined) throw new Error('Chromium was not found: set CHROMIUM_BIN.');
mkdirSync(FOLDER, { recursive: true });
const [world, browser] = [await startConsoleWorld('pictures'), await startBrowser()];
try {
  await trade(world);
  for (const [size, view] of Object.entries(SIZES)) {
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await openConsole(browser, world.url, world.owner, view);
      await page.emulateMedia({ colorScheme });
      for (const title of await titlesOf(page)) {
        await goTo(page, title);
        await page.getByText('Loading…').first().waitFor({ state: 'detached' });
        await keep(page, `${title.toLowerCase()}-${size}-${colorScheme}`);
      }
      await goTo(page, 'Payments');
      await page.getByRole('link', { name: /Bicycle lamp/ }).click();
      await page.getByRole('heading', { name: 'All fields' }).waitFor();
      await keep(page, `payment-${size}-${colorScheme}`);
      await goTo(page, 'Receive');
      await page.getByLabel('Amount in sats').fill('77');
      await page.getByRole('button', { name: 'Make the invoice' }).click();
      await page.getByRole('img', { name: 'QR code: Invoice' }).waitFor();
      await keep(page, `invoice-${size}-${colorScheme}`);
      await page.context().close();
    }
  }
} finally {
  await browser.close();
  await world.stop();
}
