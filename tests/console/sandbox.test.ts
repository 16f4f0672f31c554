import { expect, setDefaultTimeout } from 'bun:test';
import { SLOW_TEST_MS } from '../support/until.ts';
import { goTo, openConsole } from './console-browser.ts';
import { complaintsOf } from './console-world.ts';
import { consoleInBrowser } from './in-browser.ts';

setDefaultTimeout(SLOW_TEST_MS);
const { inBrowser, world, browser } = consoleInBrowser(
  'console-sandbox',
  'the sandbox is steered from the console',
);

inBrowser(
  'a newcomer funds, mines, pays as an outsider and moves the clock without curl',
  async () => {
    const page = await openConsole(browser(), world().url, world().owner);
    const complaints = complaintsOf(page);
    await goTo(page, 'Sandbox');
    await page.getByRole('button', { name: 'Give me coins' }).click();
    await page.getByText('They have arrived.').waitFor();
    await page.getByRole('button', { name: 'Mine blocks' }).click();
    await page.getByText(/The chain has \d+ blocks now/).waitFor();
    const { invoice } = await world().post('/v2/node/create_invoice', { amount: '3400' });
    await page.getByLabel('Invoice, offer or address').fill(invoice);
    await page.getByRole('button', { name: 'Pay from outside' }).click();
    await page.getByText('The outsider’s payment: completed').waitFor();
    await page.getByRole('button', { name: 'Make an invoice outside' }).click();
    const outside = await page.locator('.copy code').innerText();
    expect(outside).toStartWith('lnbcrt');
    // No two fields of the page have one label.
    const labels = await page.locator('main label[for]').allInnerTexts();
    expect(new Set(labels).size).toBe(labels.length);
    await page.getByRole('button', { name: 'Move the clock forward' }).click();
    await page.getByText(/^It is .* now\.$/).waitFor();
    expect(complaints).toEqual([]);
    await page.context().close();
  },
);

inBrowser('an invoice from outside leads to Send, filled in and not read yet', async () => {
  const page = await openConsole(browser(), world().url, world().owner);
  await goTo(page, 'Sandbox');
  await page.getByRole('button', { name: 'Make an invoice outside' }).click();
  const outside = await page.locator('.copy code').innerText();
  await page.getByRole('link', { name: 'Pay it on the page Send' }).click();
  await page.getByRole('heading', { name: 'Send', level: 1 }).waitFor();
  expect(await page.getByLabel('What to pay').inputValue()).toBe(outside);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('button', { name: 'Pay…' }).waitFor();
  await page.context().close();
});

inBrowser('a client that may not do everything is not offered the sandbox', async () => {
  const { client_credentials } = await world().post('/v2/node/create_client', {
    scopes: ['full'],
    budget: { amount: '1000', period: 'day' },
  });
  const page = await openConsole(browser(), world().url, client_credentials);
  expect(await page.getByRole('link', { name: 'Sandbox', exact: true }).count()).toBe(0);
  await page.context().close();
});
