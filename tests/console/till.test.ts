import { expect, setDefaultTimeout } from 'bun:test';
import { startBinary } from '../support/binary.ts';
import { throwing } from '../support/rejection.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { barriersOf, overflowOf } from './console-axe.ts';
import { goTo, openConsole } from './console-browser.ts';
import { complaintsOf } from './console-world.ts';
import { consoleInBrowser } from './in-browser.ts';
import { isPaid, next, PHONE, placeOf, SCREEN, tillSteps } from './till-page.ts';

setDefaultTimeout(SLOW_TEST_MS);
const { inBrowser, world, browser } = consoleInBrowser('console-till', 'a till receives');
const { linkOf, openLink, openTill, ask, pay } = tillSteps(world, browser);

for (const view of [PHONE, SCREEN]) {
  inBrowser(`ten customers pay one after another, at ${view.width} x ${view.height}`, async () => {
    const page = await openTill(view);
    const complaints = complaintsOf(page);
    for (let at = 1; at <= 10; at++) {
      const invoice = await ask(page, `${100 * at}`);
      if (at === 1) {
        const { y, width, height } = await placeOf(page, '.qr');
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
        const { x, y, width, height } = await placeOf(page, '.paid');
        expect({ x, y, width, height }).toEqual({ x: 0, y: 0, ...view });
        expect((await placeOf(page, '.paid h1')).height).toBeGreaterThan(
          Math.min(view.width, view.height) * 0.25,
        );
        expect(await overflowOf(page)).toBe(0);
        expect(await barriersOf(page)).toEqual([]);
      }
      await next(page);
      // The next amount is typed at once.
      await page.getByLabel('Amount in sats').and(page.locator(':focus')).waitFor();
    }
    expect(await barriersOf(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await page.context().close();
  });
}

inBrowser('a till is used by keyboard alone, from the link to the next sale', async () => {
  const page = await (await browser().newContext({ viewport: SCREEN })).newPage();
  await page.goto(await linkOf('Till of keys'));
  await page.getByText(/You would sign in as “/).waitFor();
  const press = async (...keys: readonly string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  await page.getByRole('button', { name: 'Sign in by the link' }).focus();
  await press('Enter');
  for (const amount of ['40', '41']) {
    await page.getByLabel('Amount in sats').and(page.locator(':focus')).waitFor();
    await page.keyboard.type(amount);
    const answer = page.waitForResponse(/create_invoice/);
    await press('Enter');
    await page
      .getByRole('heading', { name: `${amount} sats` })
      .and(page.locator(':focus'))
      .waitFor();
    await pay((await (await answer).json()).invoice);
    await isPaid(page);
    await press('Tab');
    await page.getByRole('button', { name: 'Next' }).and(page.locator(':focus')).waitFor();
    await press('Enter');
  }
  await page.context().close();
});

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

inBrowser('an invoice is there after a reload, and is canceled before it goes away', async () => {
  const page = await openTill(PHONE, 'Till that cancels');
  const invoice = await ask(page, '30');
  await page.reload();
  await page.getByRole('img', { name: 'QR code: Invoice' }).waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByLabel('Amount in sats').waitFor();
  expect(await throwing(pay(invoice))).toThrow();
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
      await page.getByText('No connection to the wallet').waitFor();
      expect(await page.getByRole('img', { name: 'QR code: Invoice' }).isVisible()).toBe(true);
    } finally {
      world().sidecar.signal('SIGCONT');
    }
    await page.getByText('No connection to the wallet').waitFor({ state: 'detached' });
    await page.getByLabel('Amount in sats').waitFor();
    expect(await throwing(pay(invoice))).toThrow();
    await page.context().close();
  },
);

inBrowser(
  'a sidecar that is away for 5 seconds says so, and the invoice stays and is paid',
  async () => {
    const page = await openTill(PHONE, 'Till that waits');
    const invoice = await ask(page, '40');
    await world().sidecar.kill();
    await page.getByText('No connection to the wallet').waitFor();
    expect(await page.getByRole('img', { name: 'QR code: Invoice' }).isVisible()).toBe(true);
    const backAtMs = Date.now() + 5000;
    await until(() => Date.now() > backAtMs, 'five seconds have passed');
    const { dataDir, url } = world();
    const again = startBinary(['dev', '--data-dir', dataDir, '--listen-addr', new URL(url).host]);
    await again.ready();
    await page.getByText('No connection to the wallet').waitFor({ state: 'detached' });
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
