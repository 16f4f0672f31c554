import { expect, setDefaultTimeout } from 'bun:test';
import type { Page } from 'playwright-core';
import { send } from '../support/requests.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { barriersOf, overflowOf } from './console-axe.ts';
import { goTo, openConsole } from './console-browser.ts';
import { complaintsOf } from './console-world.ts';
import { consoleInBrowser } from './in-browser.ts';

setDefaultTimeout(SLOW_TEST_MS);
const { inBrowser, world, browser } = consoleInBrowser(
  'console-approvals',
  'the owner approves and rejects in the console what waits',
);

/** Credentials of a client of which each payment waits. */
async function asking(): Promise<string> {
  const { client_credentials } = await world().post('/v2/node/create_client', {
    label: 'Agent',
    scopes: ['read_info', 'read_payments', 'send'],
    approve_above: '0',
  });
  return client_credentials;
}

/** Has a client ask for a payment that then waits. Returns the payment. */
async function askFor(amount: string, description: string, behavior = 'settle') {
  const { invoice } = await world().post('/sandbox/invoice', { amount, description, behavior });
  const { status, body } = await send(world().url, 'POST', '/v2/node/pay', {
    body: { payable: invoice },
    credentials: await asking(),
    headers: { prefer: 'respond-async, wait=0' },
  });
  expect([status, body.status_msg]).toEqual([202, 'awaiting approval']);
  return body as { index: string; invoice: string };
}

const paymentAt = (index: string) => world().get('/v2/node/payment', { index });

const approve = (page: Page) => page.getByRole('button', { name: 'Approve…' });

async function openPayment(page: Page, index: string): Promise<void> {
  await page.goto(`${world().url}/console#/payments/${index}`);
  await page.getByRole('heading', { name: 'All fields' }).waitFor();
}

inBrowser(
  'what waits shows on the overview as it comes, and is approved by two presses',
  async () => {
    const page = await openConsole(browser(), world().url, world().owner);
    const complaints = complaintsOf(page);
    await page.getByRole('heading', { name: 'Latest payments' }).waitFor();
    expect(await page.getByText(/waits? for approval/).count()).toBe(0);
    const { index, invoice } = await askFor('5100', 'New chairs');
    // Without a reload.
    await page.getByText('1 payment waits for approval').waitFor();
    await page.getByText('5,100 sats, fees not counted.').waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await page.getByRole('link', { name: 'Look at it and decide' }).click();
    await page.getByText('Nothing is sent yet').waitFor();
    const recipient = `${invoice.slice(0, 16)} … ${invoice.slice(-16)}`;
    await page.getByText(recipient, { exact: true }).waitFor();
    for (const fact of ['Asked by', 'Highest fee', 'Fails by itself']) {
      await page.getByText(fact, { exact: true }).waitFor();
    }
    expect(await barriersOf(page)).toEqual([]);
    await approve(page).click();
    const question = page.getByRole('group', {
      name: `Send 5,100 sats, and the fee, to ${recipient}?`,
    });
    await question.and(page.locator(':focus')).waitFor();
    expect(await barriersOf(page)).toEqual([]);
    expect((await paymentAt(index)).status_msg).toBe('awaiting approval');
    await page.getByRole('button', { name: 'Approve and send' }).click();
    await page.getByText('Completed', { exact: true }).first().waitFor();
    expect((await paymentAt(index)).status).toBe('completed');
    // What had the focus is gone, so the heading has it.
    await page.getByRole('heading', { name: 'New chairs' }).and(page.locator(':focus')).waitFor();
    expect(await approve(page).count()).toBe(0);
    await goTo(page, 'Overview');
    await page.getByRole('heading', { name: 'Latest payments' }).waitFor();
    expect(await page.getByText('waits for approval').count()).toBe(0);
    expect(complaints).toEqual([]);
    await page.context().close();
  },
);

inBrowser('what was rejected is not sent, and several that wait are a list', async () => {
  const first = await askFor('5200', 'Paint');
  const second = await askFor('5300', 'Brushes');
  const page = await openConsole(browser(), world().url, world().owner);
  await page.getByText('2 payments wait for approval').waitFor();
  await page.getByText('10,500 sats, fees not counted.').waitFor();
  await page.getByRole('link', { name: 'Look at them and decide' }).click();
  await page.getByText('2 payments', { exact: true }).waitFor();
  expect(await page.getByLabel('Status').inputValue()).toBe('awaiting');
  await page.getByRole('link', { name: /Brushes.*Waits for approval/s }).click();
  await page.getByRole('button', { name: 'Reject' }).click();
  await page.getByText('Not approved', { exact: true }).waitFor();
  expect(await paymentAt(second.index)).toMatchObject({
    status: 'failed',
    status_msg: 'not approved',
  });
  expect((await paymentAt(first.index)).status).toBe('pending');
  await page.goBack();
  await page.getByText('1 payment', { exact: true }).waitFor();
  await world().post('/v2/node/reject', { index: first.index });
  await page.getByText('No payments.').waitFor();
  await page.context().close();
});

inBrowser('by keyboard alone a payment is approved, and the question can be left', async () => {
  const { index } = await askFor('5400', 'Lamps');
  const page = await openConsole(browser(), world().url, world().owner);
  await openPayment(page, index);
  await approve(page).focus();
  await page.keyboard.press('Enter');
  await page
    .getByRole('group', { name: /^Send 5,400 sats/ })
    .and(page.locator(':focus'))
    .waitFor();
  // A key that is held down sends nothing.
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await approve(page).and(page.locator(':focus')).waitFor();
  expect((await paymentAt(index)).status_msg).toBe('awaiting approval');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await until(async () => (await paymentAt(index)).status === 'completed');
  await page.context().close();
});

inBrowser(
  "somebody else's decision in between is told, and the payment as it then stands",
  async () => {
    const { index } = await askFor('5500', 'Shelves');
    const page = await openConsole(browser(), world().url, world().owner);
    await openPayment(page, index);
    await page.route('**/v2/node/approve', async (route) => {
      await world().post('/v2/node/reject', { index });
      await route.continue();
    });
    await approve(page).click();
    await page.getByRole('button', { name: 'Approve and send' }).click();
    await page.getByText('Nothing was done: this payment does not wait any more').waitFor();
    await page.getByText('Not approved', { exact: true }).waitFor();
    expect(await barriersOf(page)).toEqual([]);
    expect(await approve(page).count()).toBe(0);
    expect((await paymentAt(index)).status_msg).toBe('not approved');
    await page.context().close();
  },
);

inBrowser('an approval without an answer is never called undone, and sends once', async () => {
  const { index } = await askFor('5600', 'Tables');
  const page = await openConsole(browser(), world().url, world().owner);
  await openPayment(page, index);
  await page.route('**/v2/node/approve', (route) => route.abort('connectionreset'));
  await approve(page).click();
  await page.getByRole('button', { name: 'Approve and send' }).click();
  await page.getByText('It is not known whether this was done').waitFor();
  expect(await page.getByText('This was not done').count()).toBe(0);
  await page.unrouteAll({ behavior: 'wait' });
  await approve(page).click();
  await page.getByRole('button', { name: 'Approve and send' }).click();
  await page.getByText('Completed', { exact: true }).first().waitFor();
  await page.context().close();
});

inBrowser('an approval of which the answer is lost shows what became of the payment', async () => {
  const { index } = await askFor('5650', 'Stools');
  const page = await openConsole(browser(), world().url, world().owner);
  await openPayment(page, index);
  await page.route('**/v2/node/approve', async (route) => {
    await route.fetch();
    await route.abort('connectionreset');
  });
  await approve(page).click();
  await page.getByRole('button', { name: 'Approve and send' }).click();
  await page.getByText('Completed', { exact: true }).first().waitFor();
  await page.unrouteAll({ behavior: 'wait' });
  expect(await page.getByText('This was not done').count()).toBe(0);
  await page.context().close();
});

inBrowser('who may not approve sees that a payment waits, and no buttons', async () => {
  const { index } = await askFor('5700', 'Plants');
  const page = await openConsole(browser(), world().url, await asking());
  await page.getByRole('link', { name: /Plants.*Waits for approval/s }).waitFor();
  expect(await page.getByText(/payments? waits? for approval/).count()).toBe(0);
  await openPayment(page, index);
  await page.getByText('The owner decides.').waitFor();
  expect(await approve(page).count()).toBe(0);
  expect(await page.getByRole('button', { name: 'Reject' }).count()).toBe(0);
  await world().post('/v2/node/reject', { index });
  await page.context().close();
});

inBrowser('who has to ask is told so before, and that the payment waits after', async () => {
  const page = await openConsole(browser(), world().url, await asking());
  await goTo(page, 'Send');
  const { invoice } = await world().post('/sandbox/invoice', { amount: '5800' });
  await page.getByLabel('What to pay').fill(invoice);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('it waits until the owner approves it').waitFor();
  await page.getByRole('button', { name: 'Pay…' }).click();
  await page.getByRole('button', { name: 'Pay now' }).click();
  await page.getByText('Waits for approval', { exact: true }).waitFor();
  expect(await page.getByText('On its way', { exact: true }).count()).toBe(0);
  const details = page.getByRole('link', { name: 'Details of this payment' });
  const [, index = ''] = /payments\/(.*)$/.exec((await details.getAttribute('href')) ?? '') ?? [];
  await world().post('/v2/node/approve', { index });
  await page.getByText('Paid', { exact: true }).waitFor();
  await page.context().close();
});

inBrowser('text of a stranger in what waits stays text, and fits a phone', async () => {
  const words = `<b>hi</b>${'x'.repeat(190)}`;
  const { index } = await askFor('5900', words);
  const page = await openConsole(browser(), world().url, world().owner, {
    width: 360,
    height: 800,
  });
  const complaints = complaintsOf(page);
  await openPayment(page, index);
  await approve(page).click();
  await page.getByRole('group', { name: /^Send 5,900 sats/ }).waitFor();
  expect(await page.locator('main b').count()).toBe(0);
  expect(await overflowOf(page)).toBe(0);
  expect(complaints).toEqual([]);
  await world().post('/v2/node/reject', { index });
  await page.context().close();
});

inBrowser('on chain what waits has no fee to raise', async () => {
  const { client_credentials } = await world().post('/sandbox/wallets', {});
  const { address } = await world().post(
    '/v2/node/get_next_unused_address',
    {},
    client_credentials,
  );
  const { body } = await send(world().url, 'POST', '/v2/node/pay_onchain', {
    body: { address, amount: '27000' },
    credentials: await asking(),
    headers: { prefer: 'respond-async, wait=0' },
  });
  const index = body.index as string;
  const page = await openConsole(browser(), world().url, world().owner);
  await openPayment(page, index);
  await approve(page).waitFor();
  expect(await page.getByText('Raise the fee').count()).toBe(0);
  await approve(page).click();
  await page.getByRole('group', { name: `to ${address}?` }).waitFor();
  await page.getByRole('button', { name: 'Approve and send' }).click();
  await page.getByText('Raise the fee').first().waitFor();
  await page.context().close();
});
