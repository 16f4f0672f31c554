import { expect, setDefaultTimeout } from 'bun:test';
import type { Page } from 'playwright-core';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { goTo, openConsole } from './console-browser.ts';
import { complaintsOf } from './console-world.ts';
import { consoleInBrowser } from './in-browser.ts';

setDefaultTimeout(SLOW_TEST_MS);
const { inBrowser, world, browser } = consoleInBrowser(
  'console-send',
  'the console pays once, and never calls unknown what failed',
);

/** Reads a string on the page, and goes as far as the last question. */
async function agree(page: Page, string: string, amount?: string): Promise<void> {
  await page.getByLabel('What to pay').fill(string);
  await page.getByRole('button', { name: 'Continue' }).click();
  if (amount !== undefined) await page.getByLabel('Amount in sats').fill(amount);
  await page.getByRole('button', { name: 'Pay…' }).click();
}

async function sendPage(credentials = world().owner): Promise<Page> {
  const page = await openConsole(browser(), world().url, credentials);
  await goTo(page, 'Send');
  return page;
}

async function sentOf(amount: string): Promise<number> {
  const { payments } = await world().get('/v2/node/updated_payments', { limit: '100' });
  return payments.filter(
    (one: { direction: string; amount: string }) =>
      one.direction === 'outbound' && one.amount === amount,
  ).length;
}

const paymentAt = (index: string) => world().get('/v2/node/payment', { index });

const newOffer = async (behavior: string): Promise<string> =>
  (await world().post('/sandbox/offer', { behavior })).offer;

inBrowser('the last question has the focus, and after Cancel the button before it', async () => {
  const page = await sendPage();
  const { invoice } = await world().post('/sandbox/invoice', { amount: '2100' });
  await agree(page, invoice);
  const focused = page.locator(':focus');
  await page.getByRole('group', { name: 'A payment cannot be taken back.' }).and(focused).waitFor();
  // A key that is held down pays nothing.
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  await page.getByRole('button', { name: 'Pay now' }).and(focused).waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Pay…' }).and(focused).waitFor();
  expect(await sentOf('2100')).toBe(0);
  await page.context().close();
});

inBrowser('an invoice is paid by two presses, after the fee and the total were shown', async () => {
  const page = await sendPage();
  const complaints = complaintsOf(page);
  const { invoice } = await world().post('/sandbox/invoice', {
    amount: '2000',
    description: 'Tea',
  });
  await agree(page, invoice);
  await page.getByText('Costs you at most').waitFor();
  await page.getByText('2,020').waitFor();
  expect(await sentOf('2000')).toBe(0);
  await page.getByRole('button', { name: 'Pay now' }).click();
  await page.getByText('Paid', { exact: true }).waitFor();
  expect(await sentOf('2000')).toBe(1);
  expect(complaints).toEqual([]);
  await page.context().close();
});

inBrowser('a payment keeps its order number, on Lightning and on chain', async () => {
  const page = await sendPage();
  const { invoice } = await world().post('/sandbox/invoice', { amount: '2050' });
  const { client_credentials } = await world().post('/sandbox/wallets', {});
  const unused = '/v2/node/get_next_unused_address';
  const { address } = await world().post(unused, {}, client_credentials);
  for (const [string, number, amount] of [
    [invoice, 'bill-4'],
    [address, 'bill-5', '27,000'],
  ]) {
    await page.getByLabel('What to pay').fill(string);
    await page.getByRole('button', { name: 'Continue' }).click();
    if (amount !== undefined) await page.getByLabel('Amount in sats').fill(amount);
    await page.getByText('Message, note and order number').click();
    await page.getByLabel('Order number').fill(number);
    await page.getByRole('button', { name: 'Pay…' }).click();
    await page.getByRole('button', { name: 'Pay now' }).click();
    await page.getByRole('link', { name: 'Details of this payment' }).click();
    await page.getByText(number, { exact: true }).waitFor();
    await goTo(page, 'Send');
    const another = page.getByRole('button', { name: 'Pay something else' });
    await another.or(page.getByLabel('What to pay')).waitFor();
    if ((await another.count()) > 0) await another.click();
  }
  await page.context().close();
});

inBrowser('a pending payment is shown as pending, and its end by itself', async () => {
  const page = await sendPage();
  const made = await world().post('/sandbox/invoice', { amount: '2100', behavior: 'hold' });
  await agree(page, made.invoice);
  await page.getByRole('button', { name: 'Pay now' }).click();
  await page.getByText('You may leave this page').waitFor();
  const list = await page.context().newPage();
  await list.goto(`${world().url}/console#/payments`);
  // Its status is said once.
  await list.getByRole('link', { name: /2,100 sats\s*Pending$/ }).waitFor();
  await list.close();
  await world().post('/sandbox/holds', { payment_hash: made.payment_hash, settle: true });
  await page.getByText('Paid', { exact: true }).waitFor();
  await page.context().close();
});

inBrowser(
  'a payment that ended before the page heard of its changes is shown as paid',
  async () => {
    const page = await sendPage();
    const hold = { behavior: 'hold', amount: '2150' };
    const { invoice, payment_hash } = await world().post('/sandbox/invoice', hold);
    // No change is told any more, as after one that came before its payment was known here.
    await page.route('**/v2/node/events', () => undefined);
    await page.reload();
    await page.route('**/v2/node/pay', async (route) => {
      const response = await route.fetch();
      const { index, status } = await response.json();
      expect(status).toBe('pending');
      await world().post('/sandbox/holds', { payment_hash, settle: true });
      await until(async () => (await paymentAt(index)).status === 'completed', 'it was paid');
      await route.fulfill({ response });
    });
    await agree(page, invoice);
    await page.getByRole('button', { name: 'Pay now' }).click();
    await page.getByText('Paid', { exact: true }).waitFor();
    await page.context().close();
  },
);

inBrowser('what was asked before a payment ended does not take the place of its end', async () => {
  const page = await sendPage();
  const hold = { behavior: 'hold', amount: '2160' };
  const { invoice, payment_hash } = await world().post('/sandbox/invoice', hold);
  // The page asks once how the payment stands, and the answer is on its way for as long as the page wants it.
  const question = '**/v2/node/payment?*';
  await page.route(question, () => undefined);
  const asked = page.waitForRequest(question);
  const dropped = page.waitForEvent('requestfailed', (one) => one.url().includes('/payment?'));
  await agree(page, invoice);
  await page.getByRole('button', { name: 'Pay now' }).click();
  const request = await asked;
  await world().post('/sandbox/holds', { payment_hash, settle: true });
  await page.getByText('Paid', { exact: true }).waitFor();
  expect(await dropped).toBe(request);
  await page.context().close();
});

inBrowser('a reload in the middle of a payment pays once', async () => {
  const page = await sendPage();
  await agree(page, await newOffer('settle'), '2200');
  // The request arrives, and its answer is lost.
  await page.route('**/v2/node/pay', async (route) => {
    await route.fetch();
    await route.abort();
  });
  await page.getByRole('button', { name: 'Pay now' }).click();
  await page.getByText('It is not known yet whether this was paid').waitFor();
  expect(await page.getByText('It was not paid').count()).toBe(0);
  expect(await page.getByText('Nothing was sent').count()).toBe(0);
  // Only the new page gets the answer: where the old one did, the new one would have nothing to ask.
  await page.reload();
  await page.unroute('**/v2/node/pay');
  await page.getByText('Paid', { exact: true }).waitFor();
  expect(await sentOf('2200')).toBe(1);
  await page.reload();
  await page.getByLabel('What to pay').waitFor();
  expect(await sentOf('2200')).toBe(1);
  await page.context().close();
});

inBrowser("a payment of another caller's tab is not repeated after a sign-in", async () => {
  const page = await sendPage();
  await agree(page, await newOffer('settle'), '2300');
  await page.route('**/v2/node/pay', async (route) => {
    await route.fetch();
    await route.abort();
  });
  await page.getByRole('button', { name: 'Pay now' }).click();
  await page.getByText('It is not known yet whether this was paid').waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.unroute('**/v2/node/pay');
  const { client_credentials } = await world().post('/v2/node/create_client', { scopes: ['full'] });
  await page
    .getByLabel('Client credentials, or the token of the cookie file')
    .fill(client_credentials);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('Somebody else began a payment in this tab').waitFor();
  expect(await sentOf('2300')).toBe(1);
  await page.context().close();
});

inBrowser('what goes over a budget is refused, and nothing is sent', async () => {
  const { client_credentials } = await world().post('/v2/node/create_client', {
    scopes: ['read_info', 'send'],
    budget: { amount: '100', period: 'day' },
  });
  const page = await sendPage(client_credentials);
  const { invoice } = await world().post('/sandbox/invoice', { amount: '2400' });
  await agree(page, invoice);
  await page.getByRole('button', { name: 'Pay now' }).click();
  await page.getByText('Nothing was sent').waitFor();
  await page.getByText(/budget/i).waitFor();
  expect(await sentOf('2400')).toBe(0);
  await page.context().close();
});

inBrowser('a payment that fails is said to have failed', async () => {
  const page = await sendPage();
  const { invoice } = await world().post('/sandbox/invoice', { amount: '2500', behavior: 'fail' });
  await agree(page, invoice);
  await page.getByRole('button', { name: 'Pay now' }).click();
  await page.getByText('It was not paid').waitFor();
  await page.context().close();
});

inBrowser('on chain the fee is bounded, and the payment waits for its blocks', async () => {
  const page = await sendPage();
  const { client_credentials } = await world().post('/sandbox/wallets', {});
  const { address } = await world().post(
    '/v2/node/get_next_unused_address',
    {},
    client_credentials,
  );
  await agree(page, address, '26,000');
  await page.getByRole('button', { name: 'Pay now' }).click();
  await page.getByText('Sent to the network').waitFor();
  expect(await sentOf('26000')).toBe(1);
  await page.context().close();
});
