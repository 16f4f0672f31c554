import { expect, setDefaultTimeout } from 'bun:test';
import type { Page } from 'playwright-core';
import { SLOW_TEST_MS } from '../support/until.ts';
import { barriersOf } from './console-axe.ts';
import { goTo, openConsole } from './console-browser.ts';
import { consoleInBrowser } from './in-browser.ts';

setDefaultTimeout(SLOW_TEST_MS);
const { inBrowser, world, browser } = consoleInBrowser(
  'console-focus',
  'the console is used by keyboard alone',
);

/** Waits until something has the focus: a heading, a field or a button of that name. */
async function focusAt(page: Page, role: 'heading' | 'textbox' | 'button', name: string | RegExp) {
  await page.getByRole(role, { name }).and(page.locator(':focus')).waitFor();
}

/** Presses Tab until the focus is at a button of that name, then Enter. */
async function tabTo(page: Page, name: string): Promise<void> {
  const wanted = page.getByRole('button', { name }).and(page.locator(':focus'));
  for (let presses = 0; presses < 20 && (await wanted.count()) === 0; presses++) {
    await page.keyboard.press('Tab');
  }
  await wanted.waitFor();
  await page.keyboard.press('Enter');
}

inBrowser('the focus goes from a form to the invoice that it made, and back', async () => {
  const page = await openConsole(browser(), world().url, world().owner);
  await goTo(page, 'Receive');
  await page.getByLabel('Amount in sats').focus();
  await page.keyboard.type('4,100');
  await page.keyboard.press('Enter');
  await focusAt(page, 'heading', '4,100 sats');
  expect(await barriersOf(page)).toEqual([]);
  await tabTo(page, 'Make another one');
  await focusAt(page, 'textbox', 'Amount in sats');
  await page.context().close();
});

inBrowser('the focus follows a payment from its string to its end', async () => {
  const { invoice } = await world().post('/sandbox/invoice', { amount: '4200' });
  const page = await openConsole(browser(), world().url, world().owner);
  await goTo(page, 'Send');
  await page.getByLabel('What to pay').focus();
  await page.keyboard.insertText(invoice);
  await tabTo(page, 'Continue');
  await focusAt(page, 'heading', 'You are about to pay');
  await tabTo(page, 'Pay…');
  await tabTo(page, 'Pay now');
  await focusAt(page, 'heading', 'Your payment');
  await page.getByText('Paid', { exact: true }).waitFor();
  expect(await barriersOf(page)).toEqual([]);
  await tabTo(page, 'Pay something else');
  await focusAt(page, 'textbox', 'What to pay');
  await page.context().close();
});

inBrowser('the focus goes to a new page, a new form and a secret', async () => {
  const page = await openConsole(browser(), world().url, world().owner);
  await goTo(page, 'Clients');
  await page.getByRole('link', { name: 'New client' }).focus();
  await page.keyboard.press('Enter');
  await focusAt(page, 'heading', 'Clients');
  await page.getByRole('textbox', { name: 'Name' }).focus();
  await page.keyboard.type('Till');
  await page.keyboard.press('Enter');
  await focusAt(page, 'heading', 'The client is made');
  await tabTo(page, 'I have stored them');
  await focusAt(page, 'heading', 'Clients');
  await goTo(page, 'Webhooks');
  await page.getByRole('button', { name: 'Add an endpoint' }).focus();
  await page.keyboard.press('Enter');
  await focusAt(page, 'textbox', 'URL');
  await page.context().close();
});
