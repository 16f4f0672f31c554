import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { ROOT } from '../support/binary.ts';
import { CHROMIUM, goTo, openConsole, startBrowser, titlesOf } from './console-browser.ts';
import { type ConsoleWorld, startConsoleWorld } from './console-world.ts';
import { choose, isPaid, PHONE, SCREEN, tillSteps } from './till-page.ts';

/** Where the pictures are; those of the run before lie beside them as `.before.png`. */
const FOLDER = join(ROOT, 'build/pictures');
const SIZES = { wide: SCREEN, phone: PHONE } as const;

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

let taken = 0;
let changed = 0;

/** Takes a picture of the page as it is, and says how much of it is not as in the run before. */
async function keep(page: Page, name: string): Promise<void> {
  const path = join(FOLDER, `${name}.png`);
  const before = join(FOLDER, `${name}.before.png`);
  if (existsSync(path)) renameSync(path, before);
  await page.waitForTimeout(200);
  await page.screenshot({ path, fullPage: true });
  taken++;
  if (!existsSync(before)) return console.log(`new        ${path}`);
  const share = await differing(page, [before, path]);
  if (share === 0) return;
  changed++;
  console.log(`${(share * 100).toFixed(2).padStart(6)} %   ${path}`);
}

/** Returns where a page shows what is another in each run: codes, ids and times. As text, which runs in the page. */
const MOVING = `(() => {
  const holders = new Set(document.querySelectorAll('.qr, .mono'));
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const isTime = /\\d:\\d\\d|\\b[A-Z][a-z]{2} \\d|day, /.test(texts.currentNode.data);
    if (isTime) holders.add(texts.currentNode.parentElement);
  }
  return [...holders].map((one) => {
    const { left, top, right, bottom } = one.getBoundingClientRect();
    return [left + scrollX, top + scrollY, right + scrollX, bottom + scrollY];
  });
})()`;

/** Returns which share of two pictures of a page differs, but for what moves: 1 where their sizes do. */
async function differing(page: Page, paths: readonly string[]): Promise<number> {
  const moving = await page.evaluate(MOVING);
  const other = await (page.context().browser() as Browser).newPage();
  const urls = paths.map((path) => `data:image/png;base64,${readFileSync(path, 'base64')}`);
  const share = await other.evaluate<number>(`(async (urls, moving) => {
    const [a, b] = await Promise.all(urls.map(async (url) => {
      const image = await createImageBitmap(await (await fetch(url)).blob());
      const canvas = new OffscreenCanvas(image.width, image.height).getContext('2d');
      canvas.drawImage(image, 0, 0);
      for (const [left, top, right, bottom] of moving) {
        canvas.clearRect(Math.floor(left), Math.floor(top), Math.ceil(right - left) + 1, Math.ceil(bottom - top) + 1);
      }
      return canvas.getImageData(0, 0, image.width, image.height);
    }));
    if (a.width !== b.width || a.height !== b.height) return 1;
    const [one, other] = [a, b].map(({ data }) => new Uint32Array(data.buffer));
    return one.filter((pixel, place) => pixel !== other[place]).length / one.length;
  })(${JSON.stringify(urls)}, ${JSON.stringify(moving)})`);
  await other.close();
  return share;
}

type Shot = (page: Page, name: string) => Promise<void>;
type Look = Pick<BrowserContextOptions, 'colorScheme'> & { readonly viewport: typeof PHONE };

/** The owner's pages, and what is done on them. */
async function keepOwners(shot: Shot, { viewport, colorScheme = null }: Look): Promise<void> {
  const page = await openConsole(browser, world.url, world.owner, viewport);
  await page.emulateMedia({ colorScheme });
  for (const title of await titlesOf(page)) {
    await goTo(page, title);
    await page.getByText('Loading…').first().waitFor({ state: 'detached' });
    await shot(page, title.toLowerCase());
  }
  await goTo(page, 'Payments');
  await page.getByRole('link', { name: /Bicycle lamp/ }).click();
  await page.getByRole('heading', { name: 'All fields' }).waitFor();
  await shot(page, 'payment');
  await page.getByText('Refund…').click();
  await page.getByText('Refund: at most').waitFor();
  const { invoice } = await world.post('/sandbox/invoice', { amount: '500' });
  await page.getByLabel('What to pay').fill(invoice);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('button', { name: 'Pay…' }).waitFor();
  await shot(page, 'refund');
  await goTo(page, 'Receive');
  await page.getByLabel('Amount in sats').fill('77');
  await page.getByRole('button', { name: 'Make the invoice' }).click();
  await page.getByRole('img', { name: 'QR code: Invoice' }).waitFor();
  await shot(page, 'invoice');
  await goTo(page, 'Clients');
  await page.getByRole('link', { name: 'New client' }).click();
  await page.getByRole('button', { name: 'Make the client' }).waitFor();
  await shot(page, 'new-client');
  await page.getByLabel('Name', { exact: true }).fill('Counter');
  await page.getByRole('button', { name: 'Make the client' }).click();
  await page.getByRole('button', { name: 'Sign in a phone or a till' }).click();
  await page.getByRole('img', { name: 'QR code: Link of the till' }).waitFor();
  await shot(page, 'device-link');
  await page.getByRole('button', { name: 'I have stored them' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Client credentials').waitFor();
  await shot(page, 'sign-in');
  await page.context().close();
}

/** The employee's page from its link to a sale that is paid, and without a connection. */
async function keepTill(shot: Shot, look: Look): Promise<void> {
  const { ask, linkOf, pay } = tillSteps(
    () => world,
    () => browser,
  );
  const page = await (await browser.newContext(look)).newPage();
  await page.goto(await linkOf('Till 1'));
  await page.getByText(/You would sign in as “/).waitFor();
  await shot(page, 'till-link');
  await page.locator('button.main').click();
  await page.getByLabel('Amount in sats').waitFor();
  await shot(page, 'till');
  await choose(page, 'EUR');
  const invoice = await ask(page, '12.40', 'EUR');
  await shot(page, 'till-code');
  await page.context().setOffline(true);
  await page.getByText('No connection to the wallet').waitFor();
  await shot(page, 'till-lost');
  await page.context().setOffline(false);
  await page.getByText('No connection to the wallet').waitFor({ state: 'detached' });
  await pay(invoice);
  await isPaid(page);
  await shot(page, 'till-paid');
  await page.context().close();
}

if (CHROMIUM === undefined) throw new Error('Chromium was not found: set CHROMIUM_BIN.');
mkdirSync(FOLDER, { recursive: true });
const exchange = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: () => new Response('{"price":84210.55}'),
});
const source = `http://127.0.0.1:${exchange.port}/{currency}#/price`;
const world = await startConsoleWorld('pictures', ['--rate-source', source]);
const browser = await startBrowser();
try {
  await trade(world);
  for (const view of ['wide', 'phone'] as const) {
    for (const scheme of ['light', 'dark'] as const) {
      const shot: Shot = (page, name) => keep(page, `${name}-${view}-${scheme}`);
      const look = { viewport: SIZES[view], colorScheme: scheme };
      await keepOwners(shot, look);
      await keepTill(shot, look);
    }
  }
  console.log(`${taken} pictures, of which ${changed} are not as in the run before.`);
} finally {
  await browser.close();
  await world.stop();
  exchange.stop(true);
}
