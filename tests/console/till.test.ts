import { afterAll, expect, setDefaultTimeout } from 'bun:test';
import type { Page } from 'playwright-core';
import { startBinary } from '../support/binary.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { barriersOf, overflowOf } from './console-axe.ts';
import { goTo, openConsole } from './console-browser.ts';
import { complaintsOf } from './console-world.ts';
import { consoleInBrowser } from './in-browser.ts';

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
const { inBrowser, world, browser } = consoleInBrowser('console-till', 'a till receives', [
  ...['--rate-source', `http://127.0.0.1:${exchange.port}/{currency}#/price`],
]);

const PHONE = { width: 390, height: 844 };
const SCREEN = { width: 1280, height: 800 };
/** How long a busy machine may take to show something, in milliseconds. */
const PATIENCE_MS = 50_000;

const newTill = (label: string) =>
  world().post('/v2/node/create_client', {
    label,
    scopes: ['read_info', 'read_payments', 'receive'],
    own: true,
  });

/** Opens the till by its link, on a device of its own. */
async function openTill(view: typeof PHONE, label = 'Till 1'): Promise<Page> {
  const { client_pk } = await newTill(label);
  const { token } = await world().post('/v2/console/device_link', { client_pk });
  return openLink(view, `${world().url}/console#link=${token}`);
}

/** The widths in which axe has looked at the question that a link asks. */
const seenWidths = new Set<number>();

async function openLink(view: typeof PHONE, link: string): Promise<Page> {
  const page = await (await browser().newContext({ viewport: view })).newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  await page.goto(link);
  await page.getByText(/The owner of this wallet has made the link/).waitFor();
  await page.getByText(/You would sign in as “/).waitFor();
  expect(await page.locator('main').innerText()).not.toContain('command');
  expect(await page.locator('button.main').innerText()).toBe('Sign in by the link');
  // The question is the same for each link, so axe looks at it once in each size.
  if (!seenWidths.has(view.width)) expect(await barriersOf(page)).toEqual([]);
  seenWidths.add(view.width);
  await page.locator('button.main').click();
  await page.getByLabel('Amount in sats').waitFor();
  return page;
}

/** Shows an invoice of that amount. Returns it. */
async function ask(page: Page, sats: string): Promise<string> {
  const answer = page.waitForResponse(/create_invoice/);
  await page.getByLabel('Amount in sats').fill(sats);
  await page.getByRole('button', { name: 'Show the code' }).click();
  await page.getByRole('img', { name: 'QR code: Invoice' }).waitFor();
  return (await (await answer).json()).invoice;
}
const pay = (payable: string) => world().post('/sandbox/pay', { payable });
const isPaid = (page: Page) => page.getByRole('heading', { name: 'Paid', exact: true }).waitFor();
const next = (page: Page) => page.getByRole('button', { name: 'Next' }).click();
const sizeOf = async (page: Page, selector: string) => {
  const box = await page.locator(selector).boundingBox();
  return box ?? { x: 0, y: 0, width: 0, height: 0 };
};

for (const view of [PHONE, SCREEN]) {
  inBrowser(`ten customers pay one after another, at ${view.width} x ${view.height}`, async () => {
    const page = await openTill(view);
    const complaints = complaintsOf(page);
    for (let at = 1; at <= 10; at++) {
      const invoice = await ask(page, `${100 * at}`);
      if (at === 1) {
        const { y, width, height } = await sizeOf(page, '.qr');
        // The code fills the screen, in the direction that is the shorter one, and is seen whole.
        expect(width).toBeGreaterThan(Math.min(view.width, view.height) * 0.65);
        expect(y + height).toBeLessThanOrEqual(view.height);
        expect(await overflowOf(page)).toBe(0);
        expect(await barriersOf(page)).toEqual([]);
      }
      await pay(invoice);
      await isPaid(page);
      await page.getByText(`${(100 * at).toLocaleString('en')} sats`).waitFor();
      if (at === 1) {
        const { x, y, width, height } = await sizeOf(page, '.paid');
        expect({ x, y, width, height }).toEqual({ x: 0, y: 0, ...view });
        expect((await sizeOf(page, '.paid h1')).height).toBeGreaterThan(
          Math.min(view.width, view.height) * 0.25,
        );
        expect(await overflowOf(page)).toBe(0);
        expect(await barriersOf(page)).toEqual([]);
      }
      await next(page);
    }
    expect(await barriersOf(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await page.context().close();
  });
}

inBrowser('what a till sold is found by its words', async () => {
  const page = await openTill(PHONE, 'Till with words');
  await page.getByLabel('What for').fill('Three lemonades');
  expect(await barriersOf(page)).toEqual([]);
  await pay(await ask(page, '330'));
  await isPaid(page);
  await next(page);
  const owner = await openConsole(browser(), world().url, world().owner);
  await goTo(owner, 'Payments');
  await owner.getByLabel('Search').fill('lemon 330');
  await owner.getByText('1 payment', { exact: true }).waitFor();
  await owner.getByRole('link', { name: /Three lemonades.*\+330/ }).waitFor();
  await owner.context().close();
  expect(await page.getByLabel('What for').inputValue()).toBe('');
  await page.context().close();
});

inBrowser('a till shows nothing of the owner', async () => {
  const sold = await world().post('/v2/node/create_invoice', { amount: '7', description: 'Tea' });
  await pay(sold.invoice);
  const page = await openTill(PHONE, 'Shy till');
  expect(await page.getByRole('link').count()).toBe(0);
  await page.goto(`${world().url}/console#/payments`);
  await page.getByLabel('Amount in sats').waitFor();
  const invoice = await ask(page, '12');
  await pay((await world().post('/v2/node/create_invoice', { amount: '8' })).invoice);
  await page.getByText('Waiting for the payment').waitFor();
  await pay(invoice);
  await isPaid(page);
  expect(await page.locator('body').innerText()).not.toMatch(/Balance|Tea|balance/);
  await page.context().close();
});

/** Has the till take prices in a currency. */
const choose = (page: Page, unit: string) => page.getByLabel('Currency').selectOption(unit);

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
    expect((await sizeOf(page, '.price')).height).toBeGreaterThan(30);
    for (const view of [SCREEN, PHONE]) {
      await page.setViewportSize(view);
      const { y, height } = await sizeOf(page, '.qr');
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

inBrowser('an invoice is there after a reload, and is canceled before it goes away', async () => {
  const page = await openTill(PHONE, 'Till that cancels');
  const invoice = await ask(page, '30');
  await page.reload();
  await page.getByRole('img', { name: 'QR code: Invoice' }).waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByLabel('Amount in sats').waitFor();
  await expect(pay(invoice)).rejects.toThrow();
  const paid = await ask(page, '31');
  // What was paid while the device slept is shown when it is back.
  await page.goto('about:blank');
  await pay(paid);
  await page.goto(`${world().url}/console`);
  await isPaid(page);
  await next(page);
  await page.reload();
  await page.getByLabel('Amount in sats').waitFor();
  await page.context().close();
});

inBrowser(
  'a till asks before it signs out, and says then where a new link comes from',
  async () => {
    const page = await openTill(PHONE, 'Till that goes home');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText(/needs a new link of the owner/).waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.reload();
    await page.getByLabel('Amount in sats').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign it out' }).click();
    await page.getByText('This device is signed out').waitFor();
    await page.reload();
    await page.getByText('The owner of the wallet makes a new link').waitFor();
    expect(await barriersOf(page)).toEqual([]);
    // Who signs in otherwise is no device.
    await page.getByLabel('Client credentials').fill(world().owner);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('wallet-sidecar console').waitFor();
    await page.context().close();
  },
);

inBrowser('the owner makes a till, sees where it is signed in, and signs it out', async () => {
  const page = await openConsole(browser(), world().url, world().owner, SCREEN);
  await goTo(page, 'Clients');
  await page.getByRole('link', { name: 'New client' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Till of Ann');
  await page.getByText('Balances, channels and the name.').waitFor();
  await page.getByRole('checkbox', { name: 'Only what it makes itself' }).check();
  // The form says what is left of a scope.
  await page.getByText('The name alone: no balances and no channels.').waitFor();
  expect(await page.getByText('Balances, channels').count()).toBe(0);
  await page.getByRole('button', { name: 'Make the client' }).click();
  await page.getByRole('button', { name: 'Sign in a phone or a till' }).click();
  await page.getByRole('img', { name: 'QR code: Link of the till' }).waitFor();
  expect(await barriersOf(page)).toEqual([]);
  const link = await page.locator('.copy code').last().innerText();
  const till = await openLink(PHONE, link);
  // A code that was used is shown no longer.
  await page.getByText('The link was used, or its 10 minutes are over').waitFor();
  expect(await page.getByRole('img', { name: 'QR code: Link of the till' }).count()).toBe(0);
  await page.getByRole('button', { name: 'I have stored them' }).click();
  const card = page.getByRole('listitem').filter({ hasText: 'Till of Ann' });
  await card.getByText(/Signed in since .*, last used .* or up to an hour later/).waitFor();
  const buttons = await Promise.all(
    ['Sign it out', 'Sign in a phone or a till', 'Change Till of Ann'].map((name) =>
      card.getByRole(name.startsWith('Change') ? 'link' : 'button', { name }).boundingBox(),
    ),
  );
  for (const [at, box] of buttons.slice(1).entries()) {
    const above = buttons[at];
    expect((box?.y ?? 0) - (above?.y ?? 0) - (above?.height ?? 0)).toBeGreaterThanOrEqual(8);
  }
  // At the card the device shows by itself, in place of the code that it used.
  await card.getByRole('button', { name: 'Sign in a phone or a till' }).click();
  const second = await openLink(PHONE, await card.locator('.copy code').last().innerText());
  await card.getByRole('img').waitFor({ state: 'detached' });
  await card
    .getByText(/Signed in since/)
    .nth(1)
    .waitFor();
  await second.getByRole('button', { name: 'Sign out' }).click();
  await second.getByRole('button', { name: 'Sign it out' }).click();
  await second.getByText('This device is signed out').waitFor();
  await page.reload();
  await card.getByRole('button', { name: 'Sign it out' }).click();
  await card.getByRole('group').getByRole('button', { name: 'Sign it out' }).click();
  await card.getByText('Signed in since').waitFor({ state: 'detached' });
  await till.getByText('This device is signed out').waitFor();
  await Promise.all([page.context().close(), till.context().close()]);
});

inBrowser(
  'a sidecar that is silent is told, and what was pressed then goes on after it',
  async () => {
    const page = await openTill(PHONE, 'Till that is not answered');
    const invoice = await ask(page, '39');
    world().sidecar.signal('SIGSTOP');
    try {
      await page.getByRole('button', { name: 'Cancel' }).click();
      await page.getByText('The sidecar does not answer').waitFor();
      expect(await page.getByRole('img', { name: 'QR code: Invoice' }).isVisible()).toBe(true);
    } finally {
      world().sidecar.signal('SIGCONT');
    }
    await page.getByText('The sidecar does not answer').waitFor({ state: 'detached' });
    await page.getByLabel('Amount in sats').waitFor();
    await expect(pay(invoice)).rejects.toThrow();
    await page.context().close();
  },
);

inBrowser(
  'a sidecar that is away for 5 seconds says so, and the invoice stays and is paid',
  async () => {
    const page = await openTill(PHONE, 'Till that waits');
    const invoice = await ask(page, '40');
    await world().sidecar.kill();
    await page.getByText('The sidecar does not answer').waitFor();
    expect(await page.getByRole('img', { name: 'QR code: Invoice' }).isVisible()).toBe(true);
    const backAtMs = Date.now() + 5000;
    await until(() => Date.now() > backAtMs, 'five seconds have passed');
    const { dataDir, url } = world();
    const again = startBinary(['dev', '--data-dir', dataDir, '--listen-addr', new URL(url).host]);
    await again.ready();
    await page.getByText('The sidecar does not answer').waitFor({ state: 'detached' });
    expect(await page.getByRole('img', { name: 'QR code: Invoice' }).isVisible()).toBe(true);
    await pay(invoice);
    await isPaid(page);
    await next(page);
    await pay(await ask(page, '41'));
    await isPaid(page);
    await page.context().close();
    expect(await until(() => again.stop())).toBe(0);
  },
);
