import { expect, setDefaultTimeout } from 'bun:test';
import { readFileSync } from 'node:fs';
import { SLOW_TEST_MS } from '../support/until.ts';
import { goTo, openConsole } from './console-browser.ts';
import { complaintsOf } from './console-world.ts';
import { consoleInBrowser } from './in-browser.ts';

setDefaultTimeout(SLOW_TEST_MS);
const { inBrowser, world, browser } = consoleInBrowser(
  'console-payments',
  'the console shows payments',
);

/** The rows of payments: the notice of a difference, after them, has the time at which it was looked for. */
const withoutEnd = (table: string) => table.replace(/[^\n]*,(?:difference|unchecked),[^\n]*\n/, '');

inBrowser('payments are found, filtered, noted, canceled and saved', async () => {
  const { invoice } = await world().post('/v2/node/create_invoice', {
    amount: '3100',
    description: 'Tea & cake',
    external_id: 'order-17',
  });
  await world().post('/sandbox/pay', { payable: invoice });
  await world().post('/v2/node/create_invoice', { amount: '3200' });
  const page = await openConsole(browser(), world().url, world().owner);
  const complaints = complaintsOf(page);
  await goTo(page, 'Payments');
  await page.getByRole('link', { name: /3,200/ }).waitFor();

  await page.getByLabel('Status').selectOption('Completed');
  await page.getByRole('link', { name: /3,200/ }).waitFor({ state: 'detached' });
  await page.getByLabel('Search').fill('3100');
  await page.getByText('1 payment', { exact: true }).waitFor();
  await page.getByRole('link', { name: /3,100/ }).click();
  await page.getByRole('heading', { name: 'All fields' }).waitFor();

  await page.getByLabel('Private note').fill('Paid by Ada');
  await page.getByRole('button', { name: 'Save the note' }).click();
  await page.getByRole('heading', { name: 'Paid by Ada' }).waitFor();

  // The title is the note, and what was sold stays in sight.
  await page.locator('h2 + .dim').getByText('Tea & cake').waitFor();
  await page.getByText('Order number', { exact: true }).waitFor();
  expect(await page.getByText('order-17', { exact: true }).count()).toBe(1);

  await page.getByRole('link', { name: 'All payments' }).click();
  await page.getByLabel('Search').fill('order-17 cake');
  const noted = page.getByRole('link', { name: /3,100/ });
  await page.getByText('1 payment', { exact: true }).waitFor();
  const words = (await noted.innerText()).split('\n');
  for (const part of ['Paid by Ada', 'Tea & cake', 'order-17']) expect(words).toContain(part);
  await page.getByLabel('Search').fill('');
  const saving = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save the books as CSV' }).click();
  const table = readFileSync(await (await saving).path(), 'utf8');
  expect(table).toContain(',Paid by Ada,,,Tea & cake,order-17,');
  const books = `${world().url}/v2/node/export?format=csv&sync=false`;
  expect(withoutEnd(table)).toBe(withoutEnd(await (await fetch(books)).text()));

  // Books that end early are not saved as if they were whole.
  await page.route('**/v2/node/export**', (route) =>
    route.fulfill({
      contentType: 'text/csv',
      body: `${table}2026-01-01T00:00:00.000Z,,,incomplete,,,0,0,Rows are missing,\n`,
    }),
  );
  await page.getByRole('button', { name: 'Save the books as CSV' }).click();
  await page.getByText('Rows are missing, so nothing was saved').waitFor();

  await page.getByRole('link', { name: /3,200/ }).click();
  await page.getByRole('button', { name: 'Cancel this invoice' }).click();
  await page.getByText('Nobody can pay it then').waitFor();
  await page.getByRole('button', { name: 'Cancel this invoice' }).click();
  await page.getByText('Canceled', { exact: true }).waitFor();
  expect(complaints).toEqual([]);
  await page.context().close();
});

inBrowser('text of a stranger stays text', async () => {
  const offer = (await world().post('/v2/node/create_offer', {})).offer;
  const message = '<img src=x onerror="document.title=1"><b>hi</b>';
  await world().post('/sandbox/pay', { payable: offer, amount: '3300', message });
  const page = await openConsole(browser(), world().url, world().owner);
  const complaints = complaintsOf(page);
  await goTo(page, 'Payments');
  await page.getByText(message).click();
  await page.getByRole('heading', { name: message }).waitFor();
  expect(await page.locator('main img, main b').count()).toBe(0);
  expect(complaints).toEqual([]);
  await page.context().close();
});

inBrowser(
  'a payment that was sent shows its fee in the list, and a payment that came none',
  async () => {
    const { invoice } = await world().post('/sandbox/invoice', { amount: '90000' });
    const { fees } = await world().post('/v2/node/pay', { payable: invoice });
    const page = await openConsole(browser(), world().url, world().owner);
    await goTo(page, 'Payments');
    const sent = page.getByRole('link', { name: /−90,000/ });
    expect(await sent.innerText()).toContain(`fee ${fees} sats`);
    expect(await page.getByRole('link', { name: /\+3,100/ }).innerText()).not.toContain('fee');
    await page.context().close();
  },
);

inBrowser('the way back from a payment finds the search and the filters as they were', async () => {
  const page = await openConsole(browser(), world().url, world().owner);
  await goTo(page, 'Payments');
  await page.getByLabel('Status').selectOption('Completed');
  await page.getByLabel('Search').fill('order-17');
  await page.getByText('1 payment', { exact: true }).waitFor();
  await page.getByRole('link', { name: /3,100/ }).click();
  await page.getByRole('heading', { name: 'All fields' }).waitFor();
  await page.goBack();
  await page.getByText('1 payment', { exact: true }).waitFor();
  expect(await page.getByLabel('Search').inputValue()).toBe('order-17');
  expect(await page.getByLabel('Status').inputValue()).toBe('completed');
  await goTo(page, 'Overview');
  await goTo(page, 'Payments');
  expect(await page.getByLabel('Search').inputValue()).toBe('');
  await page.context().close();
});

inBrowser('on a phone how a payment stands is one line, however long its name is', async () => {
  const description = 'Three kilograms of coffee beans, roasted yesterday';
  const { invoice } = await world().post('/v2/node/create_invoice', {
    amount: '123456',
    description,
  });
  await world().post('/sandbox/pay', { payable: invoice });
  const phone = { width: 390, height: 844 };
  const page = await openConsole(browser(), world().url, world().owner, phone);
  await goTo(page, 'Payments');
  await page.getByRole('link', { name: /123,456/ }).waitFor();
  const heights = await page
    .locator('.badge', { hasText: /^Completed$/ })
    .evaluateAll((badges) => badges.map((badge) => badge.getBoundingClientRect().height));
  expect(heights.length).toBeGreaterThan(1);
  for (const height of heights) expect(height).toBeLessThan(30);
  await page.context().close();
});

inBrowser('what one client made is found, and its sum of a day', async () => {
  const made = async (label: string, amount: string) => {
    const grant = { label, scopes: ['receive', 'read_payments'], own: true };
    const client = await world().post('/v2/node/create_client', grant);
    const { invoice } = await world().post(
      '/v2/node/create_invoice',
      { amount },
      client.client_credentials,
    );
    await world().post('/sandbox/pay', { payable: invoice });
    return client;
  };
  const bar = await made('bar', '4711');
  await made('kitchen', '815');
  const page = await openConsole(browser(), world().url, world().owner);
  await goTo(page, 'Payments');
  await page.getByRole('link', { name: /\+815/ }).waitFor();
  await page.getByLabel('Made by').selectOption('bar');
  await page.getByText('1 payment', { exact: true }).waitFor();
  await page.getByRole('link', { name: /\+4,711/ }).waitFor();
  await page.getByRole('heading', { level: 2, name: /\+4,711 sats/ }).waitFor();

  // What a client made that ended stays listed, and the filter stays seen.
  const { client_pk } = bar;
  await world().post('/v2/node/revoke_client', { client_pk });
  await page.getByRole('link', { name: /\+4,711/ }).click();
  await page.getByRole('heading', { name: 'All fields' }).waitFor();
  await page.goBack();
  await page.getByText('1 payment', { exact: true }).waitFor();
  expect(await page.getByLabel('Made by').inputValue()).toBe(client_pk);
  await page.getByLabel('Made by').selectOption('All');
  await page.getByRole('link', { name: /\+815/ }).waitFor();
  await page.context().close();
});

inBrowser('on a phone the time of a payment is on one line', async () => {
  const phone = { width: 390, height: 844 };
  const page = await openConsole(browser(), world().url, world().owner, phone);
  await page.getByRole('heading', { name: 'Latest payments' }).waitFor();
  const times = page.locator('.payments .what .dim', { hasText: /\d:\d\d/ });
  await times.first().waitFor();
  const words = await times.allTextContents();
  for (const one of words) expect(one).toMatch(/· [^ ]*\d:\d\d[^ ]*( ·|$)/);
  await page.context().close();
});
