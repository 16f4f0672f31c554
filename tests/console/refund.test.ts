import { expect, setDefaultTimeout } from 'bun:test';
import { SLOW_TEST_MS } from '../support/until.ts';
import { goTo, openConsole } from './console-browser.ts';
import { complaintsOf } from './console-world.ts';
import { consoleInBrowser } from './in-browser.ts';

setDefaultTimeout(SLOW_TEST_MS);
const { inBrowser, world, browser } = consoleInBrowser(
  'console-refund',
  'the console refunds what was received',
);

/** A payment of so many sats that was received. */
async function sale(amount: string): Promise<string> {
  const { index, invoice } = await world().post('/v2/node/create_invoice', { amount });
  await world().post('/sandbox/pay', { payable: invoice });
  await world().get('/v2/node/wait_for_payment', { index });
  return index;
}

inBrowser('a received payment is refunded from its page, for no more than is left', async () => {
  const index = await sale('4100');
  const page = await openConsole(browser(), world().url, world().owner);
  const complaints = complaintsOf(page);
  await goTo(page, 'Payments');
  await page.getByRole('link', { name: /4,100/ }).click();
  await page.getByRole('link', { name: 'Refund…' }).click();
  await page.getByText('Refund: at most 4,100 sats').waitFor();
  const { offer } = await world().post('/sandbox/offer', {});
  await page.getByLabel('What to pay').fill(offer);
  await page.getByRole('button', { name: 'Continue' }).click();
  const amount = page.getByLabel('Amount in sats');
  expect(await amount.inputValue()).toBe('4,100');
  await amount.fill('4,101');
  await page.getByText('This is more than is left to refund.').waitFor();
  expect(await page.getByRole('button', { name: 'Pay…' }).isDisabled()).toBe(true);
  await amount.fill('400');
  await page.getByRole('button', { name: 'Pay…' }).click();
  await page.getByRole('button', { name: 'Pay now' }).click();
  await page.getByText('Paid', { exact: true }).waitFor();
  expect((await world().get('/v2/node/payment', { index })).refunded).toBe('400');
  expect(await page.getByText('Refund: at most').count()).toBe(0);

  await goTo(page, 'Payments');
  await page.getByRole('link', { name: /Refunds: 400 sats.*4,100/ }).waitFor();
  await page.getByRole('link', { name: /· Refund.*−400/ }).waitFor();
  await page
    .getByRole('link', { name: /−400\b|400 /u })
    .first()
    .click();
  await page.getByRole('link', { name: 'a payment that you received' }).click();
  await page.getByText('Refunded, or on its way back').waitFor();
  await page.getByRole('link', { name: 'Refund…' }).click();
  await page.getByText('Refund: at most 3,700 sats').waitFor();
  const { invoice } = await world().post('/sandbox/invoice', { amount: '3701' });
  await page.getByLabel('What to pay').fill(invoice);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('This is more than is left to refund.').waitFor();
  expect(await page.getByRole('button', { name: 'Pay…' }).isDisabled()).toBe(true);
  expect(complaints).toEqual([]);
  await page.context().close();
});

inBrowser('who may not pay is offered no refund, and nobody one of what is refunded', async () => {
  await sale('5100');
  const whole = await sale('5200');
  const { invoice } = await world().post('/sandbox/invoice', { amount: '5200' });
  await world().post('/v2/node/pay_invoice', { invoice, refund_of: whole });
  const { client_credentials: reader } = await world().post('/v2/node/create_client', {
    scopes: ['read_info', 'read_payments'],
  });
  const offers = async (credentials: string, name: RegExp) => {
    const page = await openConsole(browser(), world().url, credentials);
    await goTo(page, 'Payments');
    await page.getByRole('link', { name }).click();
    await page.getByRole('heading', { name: 'All fields' }).waitFor();
    const count = await page.getByRole('link', { name: 'Refund…' }).count();
    await page.context().close();
    return count;
  };
  expect(await offers(world().owner, /\+5,100/)).toBe(1);
  expect(await offers(world().owner, /\+5,200/)).toBe(0);
  expect(await offers(reader, /\+5,100/)).toBe(0);
});
