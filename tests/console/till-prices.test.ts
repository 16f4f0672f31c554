import { afterAll, expect, setDefaultTimeout } from 'bun:test';
import { SLOW_TEST_MS } from '../support/until.ts';
import { barriersOf, overflowOf } from './console-axe.ts';
import { goTo, openConsole } from './console-browser.ts';
import { complaintsOf } from './console-world.ts';
import { consoleInBrowser } from './in-browser.ts';
import { choose, isPaid, next, PHONE, placeOf, SCREEN, tillSteps } from './till-page.ts';

setDefaultTimeout(SLOW_TEST_MS);
/** What one bitcoin costs; null where nobody says it. */
let rate: string | null = '30000';
let asked = 0;
const exchange = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: () => {
    asked++;
    return new Response(rate === null ? '{}' : `{"price":${rate}}`);
  },
});
afterAll(() => exchange.stop(true));
const { inBrowser, world, browser } = consoleInBrowser('console-prices', 'a till takes prices', [
  ...['--rate-source', `http://127.0.0.1:${exchange.port}/{currency}#/price`],
]);
const { openTill, ask, pay } = tillSteps(world, browser);

inBrowser(
  'a till takes a price, shows it large with the sats, and says that it is paid',
  async () => {
    const page = await openTill(PHONE, 'Till with prices');
    const complaints = complaintsOf(page);
    await choose(page, 'EUR');
    const before = asked;
    await page.getByLabel('Amount in EUR').fill('4.');
    await page.getByText('Type a price, such as').waitFor();
    expect(asked).toBe(before);
    await page.getByLabel('Amount in EUR').fill('4,50');
    await page.getByText('About 15,000 sats now').waitFor();
    expect(await overflowOf(page)).toBe(0);
    expect(await barriersOf(page)).toEqual([]);
    const answer = page.waitForResponse(/create_invoice/);
    await page.keyboard.press('Enter');
    const { invoice, index } = await (await answer).json();
    await page.getByRole('heading', { name: '€4.50 15,000 sats' }).waitFor();
    await page.getByText('The price binds until').waitFor();
    expect((await placeOf(page, '.price')).height).toBeGreaterThan(30);
    for (const view of [SCREEN, PHONE]) {
      await page.setViewportSize(view);
      const { y, height } = await placeOf(page, '.qr');
      expect(y + height).toBeLessThanOrEqual(view.height);
      expect(await overflowOf(page)).toBe(0);
    }
    expect(await barriersOf(page)).toEqual([]);
    await pay(invoice);
    await isPaid(page);
    expect(await page.locator('.paid').innerText()).toContain('€4.50');
    expect(await barriersOf(page)).toEqual([]);
    expect(await world().get('/v2/node/payment', { index })).toMatchObject({
      price: { currency: 'EUR', amount: '4.50' },
      amount: '15000',
    });
    await next(page);
    // The currency is remembered, and sats are one step away.
    await page.getByLabel('Amount in EUR').waitFor();
    await page.reload();
    await page.getByLabel('Amount in EUR').waitFor();
    await choose(page, 'sats');
    await pay(await ask(page, '77'));
    await isPaid(page);
    await next(page);
    expect((await page.locator('option').allInnerTexts()).slice(0, 2)).toEqual(['sats', 'EUR']);
    expect(complaints).toEqual([]);
    await page.context().close();
  },
);

inBrowser('a price that nobody paid in time is said to be over, and asked for anew', async () => {
  const page = await openTill(PHONE, 'Till that is slow');
  await choose(page, 'EUR');
  await page.getByLabel('Amount in EUR').fill('6');
  await page.getByLabel('What for').fill('Slow soup');
  await page.getByRole('button', { name: 'Show the code' }).click();
  await page.getByText('The price binds until').waitFor();
  await world().post('/sandbox/clock', { advance_secs: 301 });
  await page.getByText('It was not paid while its price was good').waitFor();
  expect(await barriersOf(page)).toEqual([]);
  const answer = page.waitForResponse(/create_invoice/);
  await page.getByRole('button', { name: 'Show a new code for €6.00' }).click();
  await page.getByRole('heading', { name: '€6.00 20,000 sats' }).waitFor();
  const created = await (await answer).json();
  expect(created.description).toBe('Slow soup');
  await pay(created.invoice);
  await isPaid(page);
  await page.context().close();
});

inBrowser('without a rate a till says what to do, and sats still work', async () => {
  const page = await openTill(PHONE, 'Till without a rate');
  rate = null;
  try {
    await choose(page, 'CHF');
    await page.getByLabel('Amount in CHF').fill('5');
    await page.getByText('or give an amount in sats').waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Show the code' }).click();
    await page.getByRole('alert').getByText('No source of rates has one for CHF now').waitFor();
    await choose(page, 'sats');
    await pay(await ask(page, '78'));
    await isPaid(page);
  } finally {
    rate = '30000';
  }
  await page.context().close();
});

inBrowser('the owner asks for a price on Receive', async () => {
  const page = await openConsole(browser(), world().url, world().owner, PHONE);
  await goTo(page, 'Receive');
  await choose(page, 'USD');
  await page.getByLabel('Amount in USD').fill('3');
  await page.getByText('About 10,000 sats now').waitFor();
  expect(await overflowOf(page)).toBe(0);
  expect(await barriersOf(page)).toEqual([]);
  await page.getByRole('button', { name: 'Make the invoice' }).click();
  await page.getByRole('heading', { name: '$3.00 10,000 sats' }).waitFor();
  await page.getByRole('button', { name: 'Pay it from outside' }).click();
  await page.getByText('Paid', { exact: true }).waitFor();
  expect(await page.getByRole('status').filter({ hasText: 'Paid' }).innerText()).toContain('$3.00');
  await page.context().close();
});

inBrowser('the owner pays an offer in a currency at its price', async () => {
  const price = { currency: 'EUR', amount: '3.00' };
  const terms = { price, min_amount: '10100' };
  const { offer } = await world().post('/sandbox/offer', terms);
  const page = await openConsole(browser(), world().url, world().owner, PHONE);
  await goTo(page, 'Send');
  await page.getByLabel('What to pay').fill(offer);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('heading', { name: 'You are about to pay · €3.00' }).waitFor();
  await page.getByText('within 2 per cent of the rate here').waitFor();
  expect(await page.getByLabel('Amount in sats').count()).toBe(0);
  await page.getByText('10,200').first().waitFor();
  expect(await barriersOf(page)).toEqual([]);
  await page.getByRole('button', { name: 'Pay…' }).click();
  await page.getByRole('button', { name: 'Pay now' }).click();
  await page.getByText('Paid', { exact: true }).waitFor();
  const { payments } = await world().get('/v2/node/updated_payments', { limit: '100' });
  expect(payments.at(-1)).toMatchObject({ price, amount: '10100', status: 'completed' });
  await page.context().close();
});

inBrowser('prices and sats are written alike, whatever the language of the browser', async () => {
  const page = await openTill(PHONE, 'Till in German', 'de-DE');
  await choose(page, 'EUR');
  const invoice = await ask(page, '1781,50', 'EUR');
  await page.getByRole('heading', { name: '€1,781.50 5,938,333.334 sats' }).waitFor();
  await pay(invoice);
  await isPaid(page);
  expect(await page.locator('.paid').innerText()).toMatch(/€1,781\.50\s+5,938,333\.334 sats/);
  await page.context().close();
});

inBrowser('what is paid is seen whole, however much it is', async () => {
  const page = await openTill(PHONE, 'Till of cars');
  await choose(page, 'EUR');
  await pay(await ask(page, '198765.44', 'EUR'));
  await isPaid(page);
  for (const view of [PHONE, { width: 360, height: 640 }, SCREEN]) {
    await page.setViewportSize(view);
    for (const selector of ['.paid h1', '.paid .price', '.paid .money', '.paid button']) {
      const { x, width } = await placeOf(page, selector);
      expect([selector, view.width, x >= 0 && x + width <= view.width]).toEqual([
        selector,
        view.width,
        true,
      ]);
    }
    // Words that are too long would not make their own line wider.
    const wide = await page.evaluate<number>(
      "(() => { const paid = document.querySelector('.paid'); return paid.scrollWidth - paid.clientWidth; })()",
    );
    expect([view.width, wide]).toEqual([view.width, 0]);
  }
  await page.context().close();
});

inBrowser('a number that could mean thousands or a part makes no code', async () => {
  const page = await openTill(PHONE, 'Till of doubts');
  for (const [unit, typed] of [
    ['sats', '1.200'],
    ['TND', '1,500'],
  ] as const) {
    await choose(page, unit);
    await page.getByLabel(`Amount in ${unit}`).fill(typed);
    await page.getByText('This could mean thousands or a part').waitFor();
    expect(await page.getByRole('button', { name: 'Show the code' }).isDisabled()).toBe(true);
    expect(await barriersOf(page)).toEqual([]);
  }
  await page.context().close();
});

inBrowser('the owner finds a sale by its price, as the list shows it', async () => {
  const price = { currency: 'EUR', amount: '12.40' };
  const { invoice } = await world().post('/v2/node/create_invoice', { price });
  await pay(invoice);
  const page = await openConsole(browser(), world().url, world().owner, PHONE);
  await page.getByRole('link', { name: /Received.*€12\.40/ }).waitFor();
  await goTo(page, 'Payments');
  for (const typed of ['€12.40', '12,40', '12.40 EUR']) {
    await page.getByLabel('Search').fill(typed);
    await page.getByText('1 payment', { exact: true }).waitFor();
    await page.getByRole('link', { name: /Received.*€12\.40/ }).waitFor();
    await page.getByLabel('Search').fill('');
    await page.getByText('1 payment', { exact: true }).waitFor({ state: 'detached' });
  }
  expect(await overflowOf(page)).toBe(0);
  await page.context().close();
});
