import { expect, setDefaultTimeout } from 'bun:test';
import { SLOW_TEST_MS } from '../support/until.ts';
import { goTo, openConsole } from './console-browser.ts';
import { complaintsOf } from './console-world.ts';
import { consoleInBrowser } from './in-browser.ts';

setDefaultTimeout(SLOW_TEST_MS);
const { inBrowser, world, browser } = consoleInBrowser('console-receive', 'the console receives');

inBrowser('an invoice shows its QR code, and turns to paid by itself', async () => {
  const page = await openConsole(browser(), world().url, world().owner);
  const complaints = complaintsOf(page);
  await goTo(page, 'Receive');
  await page.getByLabel('Amount in sats').fill('1,500');
  await page.getByLabel('What for').fill('Two coffees');
  await page.getByRole('button', { name: 'Make the invoice' }).click();
  await page.getByRole('img', { name: 'QR code: Invoice' }).waitFor();
  await page.getByText('Waiting for the payment').waitFor();
  const payable = await page.locator('.copy code').innerText();
  await world().post('/sandbox/pay', { payable });
  await page.getByText('Paid', { exact: true }).waitFor();
  expect(await page.getByRole('img', { name: 'QR code: Invoice' }).count()).toBe(0);
  expect(complaints).toEqual([]);
  await page.context().close();
});

inBrowser(
  'an invoice that waits is there again after another page, and its end is shown once',
  async () => {
    const page = await openConsole(browser(), world().url, world().owner);
    await goTo(page, 'Receive');
    await page.getByLabel('Amount in sats').fill('1,600');
    await page.getByRole('button', { name: 'Make the invoice' }).click();
    const payable = await page.locator('.copy code').innerText();
    await goTo(page, 'Overview');
    await goTo(page, 'Receive');
    await page.getByText('Waiting for the payment').waitFor();
    expect(await page.locator('.copy code').innerText()).toBe(payable);
    await goTo(page, 'Overview');
    await world().post('/sandbox/pay', { payable });
    await page.reload();
    await goTo(page, 'Receive');
    await page.getByText('Paid', { exact: true }).waitFor();
    await goTo(page, 'Overview');
    await goTo(page, 'Receive');
    await page.getByRole('button', { name: 'Make the invoice' }).waitFor();
    await page.context().close();
  },
);

inBrowser('an invoice that waits is not shown to another caller in the same tab', async () => {
  const { client_credentials } = await world().post('/v2/node/create_client', {
    scopes: ['receive'],
  });
  const page = await openConsole(browser(), world().url, world().owner);
  await goTo(page, 'Receive');
  await page.getByRole('button', { name: 'Make the invoice' }).click();
  await page.getByText('Waiting for the payment').waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page
    .getByLabel('Client credentials, or the token of the cookie file')
    .fill(client_credentials);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await goTo(page, 'Receive');
  await page.getByRole('button', { name: 'Make the invoice' }).waitFor();
  await page.context().close();
});

inBrowser('on the sandbox an invoice that waits is paid from outside by one press', async () => {
  const page = await openConsole(browser(), world().url, world().owner);
  await goTo(page, 'Receive');
  await page.getByLabel('Amount in sats').fill('1,700');
  await page.getByRole('button', { name: 'Make the invoice' }).click();
  await page.getByRole('button', { name: 'Pay it from outside' }).click();
  await page.getByText('Paid', { exact: true }).waitFor();
  expect(await page.getByRole('button', { name: 'Pay it from outside' }).count()).toBe(0);
  await page.getByRole('button', { name: 'Make another one' }).click();
  await page.getByLabel('Amount in sats').fill('');
  await page.getByRole('button', { name: 'Make the invoice' }).click();
  // The payer chooses the amount, so the outsider needs one.
  await page.getByLabel('Amount to pay, in sats').fill('1,800');
  await page.getByRole('button', { name: 'Pay it from outside' }).click();
  await page.getByText('Paid', { exact: true }).waitFor();
  await page.context().close();
});

inBrowser('what is paid is found by the order number of its invoice or offer', async () => {
  const page = await openConsole(browser(), world().url, world().owner);
  await goTo(page, 'Receive');
  await page.getByLabel('Amount in sats').fill('1,900');
  await page.getByLabel('Order number').fill('table-7');
  await page.getByRole('button', { name: 'Make the invoice' }).click();
  await page.getByText('Waiting for the payment').waitFor();
  await page.getByText('Order number: table-7').waitFor();
  await page.getByLabel('Offer').check();
  await page.getByLabel('Order number').fill('menu-3');
  await page.getByRole('button', { name: 'Make the offer' }).click();
  const payable = await page.locator('.copy code').innerText();
  await world().post('/sandbox/pay', { payable, amount: '1950' });
  await goTo(page, 'Payments');
  for (const [number, amount] of [
    ['table-7', /1,900/],
    ['menu-3', /1,950/],
  ] as const) {
    await page.getByLabel('Search').fill(number);
    await page.getByText('1 payment', { exact: true }).waitFor();
    await page.getByRole('link', { name: amount }).click();
    await page.getByText(number, { exact: true }).waitFor();
    await page.getByRole('link', { name: 'All payments' }).click();
  }
  await page.context().close();
});

inBrowser('the card of an invoice that was paid still shows its order number', async () => {
  const page = await openConsole(browser(), world().url, world().owner);
  await goTo(page, 'Receive');
  await page.getByLabel('Amount in sats').fill('2,100');
  await page.getByLabel('Order number').fill('table-8');
  await page.getByRole('button', { name: 'Make the invoice' }).click();
  await page.getByText('Waiting for the payment').waitFor();
  await page.reload();
  await goTo(page, 'Receive');
  await page.getByRole('button', { name: 'Pay it from outside' }).click();
  await page.getByText('Paid', { exact: true }).waitFor();
  await page.getByText('Order number: table-8').waitFor();
  await page.context().close();
});

inBrowser('who may not spend is not offered to send', async () => {
  const { client_credentials } = await world().post('/v2/node/create_client', {
    scopes: ['read_info', 'read_payments', 'receive'],
  });
  const page = await openConsole(browser(), world().url, client_credentials);
  const links = await page.getByRole('navigation').getByRole('link').allInnerTexts();
  expect(links).toContain('Receive');
  expect(links).not.toContain('Send');
  await page.context().close();
});

inBrowser('an amount that is none is said to be none, and makes no invoice', async () => {
  const page = await openConsole(browser(), world().url, world().owner);
  await goTo(page, 'Receive');
  await page.getByLabel('Amount in sats').fill('1.0005');
  await page.getByText('Type a number of sats').waitFor();
  // Without sources of rates there are no prices.
  expect(await page.getByLabel('Currency').count()).toBe(0);
  expect(await page.getByRole('button', { name: 'Make the invoice' }).isDisabled()).toBe(true);
  await page.context().close();
});

inBrowser('payments to an offer, an address and a name show as they arrive', async () => {
  const page = await openConsole(browser(), world().url, world().owner);
  await goTo(page, 'Receive');
  await page.getByLabel('Offer').check();
  await page.getByRole('button', { name: 'Make the offer' }).click();
  const offer = await page.locator('.copy code').innerText();
  await world().post('/sandbox/pay', { payable: offer, amount: '41', message: 'For the offer' });
  await page.getByText('For the offer').waitFor();
  await page.getByLabel('Bitcoin address').check();
  await page.getByRole('img', { name: 'QR code: Bitcoin address' }).waitFor();
  const address = await page.locator('.copy code').innerText();
  await world().post('/sandbox/pay', { payable: address, amount: '50000' });
  await page.getByText('50,000').waitFor();
  await page.getByLabel('Name', { exact: true }).check();
  await page.getByRole('textbox', { name: 'Name' }).fill('coffee-shop');
  await page.getByRole('button', { name: 'Claim this name' }).click();
  await page.getByRole('heading', { name: /coffee-shop@/ }).waitFor();
  await page.context().close();
});

inBrowser('a payment is shown that arrives as soon as the offer can be seen', async () => {
  const page = await openConsole(browser(), world().url, world().owner);
  await page.clock.install();
  await goTo(page, 'Receive');
  await page.getByLabel('Offer').check();
  const make = page.getByRole('button', { name: 'Make the offer' });
  await make.waitFor();
  // No frame of the page comes any more, and no timer.
  await page.clock.pauseAt(Date.now() + 600_000);
  await make.click();
  const offer = await page.locator('.copy code').innerText();
  await world().post('/sandbox/pay', { payable: offer, amount: '43', message: 'At once' });
  await page.getByText('At once').waitFor();
  await page.context().close();
});

inBrowser('a client that may only make invoices is offered nothing else', async () => {
  const { client_credentials } = await world().post('/v2/node/create_client', {
    scopes: [],
    permissions: ['create_invoice'],
  });
  const page = await openConsole(browser(), world().url, client_credentials);
  const links = await page.getByRole('navigation').getByRole('link').allInnerTexts();
  expect(links).toEqual(['Overview', 'Receive']);
  await goTo(page, 'Receive');
  await page.getByRole('radio').first().waitFor();
  expect(await page.getByRole('radio').count()).toBe(1);
  await page.getByRole('button', { name: 'Make the invoice' }).click();
  await page.getByRole('img', { name: 'QR code: Invoice' }).waitFor();
  // The sandbox is steered by those alone who may do everything.
  expect(await page.getByRole('button', { name: 'Pay it from outside' }).count()).toBe(0);
  await page.context().close();
});
