import { afterAll, expect, setDefaultTimeout } from 'bun:test';
import { verifyWebhook } from '../../src/client/index.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { barriersOf, overflowOf } from './console-axe.ts';
import { goTo, openConsole } from './console-browser.ts';
import { complaintsOf } from './console-world.ts';
import { consoleInBrowser } from './in-browser.ts';

setDefaultTimeout(SLOW_TEST_MS);
const { inBrowser, world, browser } = consoleInBrowser(
  'console-webhooks',
  'the console adds webhook endpoints and shows their deliveries',
);

/** A receiver that refuses as often as it is told to, and keeps what it got. */
const receiver = {
  refusals: 0,
  got: [] as { headers: Headers; body: string }[],
};
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    receiver.got.push({ headers: request.headers, body: await request.text() });
    const isRefused = receiver.refusals > 0;
    if (isRefused) receiver.refusals--;
    return new Response('<b>noted</b>', { status: isRefused ? 503 : 200 });
  },
});
const hook = `http://127.0.0.1:${server.port}/hook`;

afterAll(async () => {
  await server.stop(true);
});

async function pay(): Promise<void> {
  const { invoice } = await world().post('/v2/node/create_invoice', {
    amount: '1000',
    description: 'Two coffees',
  });
  await world().post('/sandbox/pay', { payable: invoice });
}

inBrowser('an endpoint is added, its secret is shown once and signs what it gets', async () => {
  const page = await openConsole(browser(), world().url, world().owner);
  const complaints = complaintsOf(page);
  await goTo(page, 'Webhooks');
  await page.getByRole('button', { name: 'Add an endpoint' }).click();
  await page.getByLabel('URL').fill(hook);
  await page.getByLabel('What it is for').fill('Shop');
  expect(await barriersOf(page)).toEqual([]);
  await page.getByRole('button', { name: 'Add this endpoint' }).click();
  await page.getByRole('heading', { name: 'The endpoint is added' }).waitFor();
  const secret = await page.locator('.copy code').innerText();
  const kept = await page.evaluate<string>('JSON.stringify([localStorage, sessionStorage])');
  expect(kept).not.toContain(secret);
  await page.getByRole('button', { name: 'I have stored it' }).click();
  await page.getByRole('button', { name: 'Send a test' }).click();
  await page.getByText('The receiver took it').waitFor();
  const [sent] = receiver.got;
  expect(await verifyWebhook(sent?.body ?? '', sent?.headers ?? {}, secret)).toMatchObject({
    type: 'webhook.test',
  });
  expect(await page.content()).not.toContain(secret);
  expect(complaints).toEqual([]);
  await page.context().close();
});

inBrowser('a delivery that fails shows its attempts, and is sent again', async () => {
  const page = await openConsole(browser(), world().url, world().owner);
  await goTo(page, 'Webhooks');
  receiver.refusals = 1;
  await pay();
  await page.locator('.rows .badge', { hasText: 'Delivered' }).first().waitFor();
  await page.getByText('Received 1,000 sats · Two coffees').waitFor();
  expect(await barriersOf(page)).toEqual([]);
  // What is sent again is on its way, as far as the page is told, until that was seen.
  let isSentAgain = false;
  page.on('request', (request) => {
    isSentAgain ||= request.url().endsWith('/v2/webhooks/redeliver');
  });
  const list = '**/v2/webhooks/deliveries?*';
  await page.route(list, async (route) => {
    if (!isSentAgain) return route.continue();
    const { deliveries, next } = await world().get('/v2/webhooks/deliveries');
    deliveries[0].state = 'pending';
    return route.fulfill({ json: { deliveries, next } });
  });
  await page.locator('.rows').getByRole('button', { name: 'Send again' }).first().click();
  await page.locator('.rows').getByText('1 delivery is sent again.').waitFor();
  await page.unroute(list);
  // What is delivered is not being sent any more.
  await page.locator('.rows').getByText('1 delivery is sent again.').waitFor({ state: 'detached' });
  await page.locator('.rows .badge', { hasText: 'Delivered' }).first().waitFor();
  await page.getByRole('link', { name: 'Attempts' }).first().click();
  await page.getByText('answered with HTTP 503').first().waitFor();
  // The newest attempt stands first, and the times show seconds.
  await page.locator('.rows > li').nth(2).waitFor();
  const badges = await page.locator('.rows .badge').allInnerTexts();
  expect(badges).toEqual(['Delivered', 'Delivered', 'answered with HTTP 503']);
  expect(await page.locator('.rows .head').first().innerText()).toMatch(/\d:\d\d:\d\d/);
  await page.getByText('Request and answer').first().click();
  // What a receiver answers is shown as text.
  await page.getByText('<b>noted</b>').first().waitFor();
  expect(await barriersOf(page)).toEqual([]);
  const before = receiver.got.length;
  await page.getByRole('button', { name: 'Send again' }).focus();
  await page.keyboard.press('Enter');
  await until(() => receiver.got.length > before);
  await page.getByRole('link', { name: 'All webhooks' }).click();
  const sent = receiver.got.length;
  await page.getByText('Send again all since a time').click();
  await page.getByLabel('From', { exact: true }).fill('2020-01-01T00:00');
  const again = page.locator('details').getByRole('button', { name: 'Send again' });
  await again.click();
  await page.getByText('Send every delivery since').waitFor();
  expect(receiver.got.length).toBe(sent);
  await again.click();
  await page.getByText('1 delivery is sent again.').waitFor();
  await until(() => receiver.got.length > sent);
  await page.context().close();
});

inBrowser(
  'a delivery that failed and has attempts left says so, and when the next is',
  async () => {
    const page = await openConsole(browser(), world().url, world().owner);
    // The sidecar's own pauses are too short to be looked at.
    const delivery = {
      id: `msg_${'ab'.repeat(20)}`,
      endpoint: 'configured',
      type: 'payment.finalized',
      index: '0000001764000000000-ln_ab',
      state: 'pending',
      attempts: 1,
      last_error: 'answered 503',
      next_attempt_at: Date.now() + 300_000,
      delivered_at: null,
      created_at: Date.now(),
    };
    await page.route('**/v2/webhooks/deliveries?*', (route) =>
      route.fulfill({ json: { deliveries: [delivery], next: null } }),
    );
    await goTo(page, 'Webhooks');
    await page.locator('.rows .badge', { hasText: 'Will be tried again' }).waitFor();
    await page
      .locator('.rows')
      .getByText(/next in \d+ s/)
      .waitFor();
    await page.locator('.rows').getByText('answered with HTTP 503').waitFor();
    // The list looks by itself while something is on its way.
    expect(await page.getByRole('button', { name: 'Look again' }).count()).toBe(0);
    await page.context().close();
  },
);

inBrowser('a delivery that tells of a client asks for no payment, and leads to none', async () => {
  const page = await openConsole(browser(), world().url, world().owner);
  const complaints = complaintsOf(page);
  const delivery = {
    id: `msg_${'cd'.repeat(20)}`,
    endpoint: 'configured',
    type: 'client.budget_low',
    index: 'ab'.repeat(32),
    state: 'delivered',
    attempts: 1,
    last_error: null,
    next_attempt_at: null,
    delivered_at: Date.now(),
    created_at: Date.now(),
  };
  await page.route('**/v2/webhooks/deliveries?*', (route) =>
    route.fulfill({ json: { deliveries: [delivery], next: null } }),
  );
  await goTo(page, 'Webhooks');
  await page.locator('.rows .head', { hasText: 'Little is left of a budget' }).waitFor();
  await page.locator('.rows').getByRole('link', { name: 'Attempts' }).waitFor();
  expect(await page.locator('.rows').getByRole('link').count()).toBe(1);
  expect(complaints).toEqual([]);
  await page.context().close();
});

inBrowser(
  'a new secret is a second endpoint, and the old one is removed by two presses',
  async () => {
    const page = await openConsole(browser(), world().url, world().owner);
    await goTo(page, 'Webhooks');
    await page.getByRole('button', { name: 'New secret' }).click();
    await page.getByRole('button', { name: 'Add it with a new secret' }).click();
    await page.getByRole('heading', { name: 'The endpoint is added' }).waitFor();
    await page.getByRole('button', { name: 'I have stored it' }).click();
    const remove = page.getByRole('button', { name: 'Remove', exact: true });
    await remove.nth(1).waitFor();
    await remove.first().click();
    const { endpoints } = await world().get('/v2/webhooks/endpoints');
    expect(endpoints).toHaveLength(2);
    await page.getByRole('button', { name: 'Remove it' }).click();
    await until(async () => (await world().get('/v2/webhooks/endpoints')).endpoints.length === 1);
    const left = await world().get('/v2/webhooks/endpoints');
    expect(left.endpoints[0].id).toBe(endpoints[1].id);
    await page.context().close();
  },
);

inBrowser('an endpoint with a lease is kept for another day by one press', async () => {
  const { id } = await world().post('/v2/webhooks/endpoints', { url: hook, lease_secs: 3600 });
  const leaseOf = async () =>
    (await world().get('/v2/webhooks/endpoints')).endpoints.find(
      (one: { id: string }) => one.id === id,
    );
  const before = (await leaseOf()).expires_at;
  const page = await openConsole(browser(), world().url, world().owner);
  await goTo(page, 'Webhooks');
  const keep = page.getByRole('button', { name: 'Keep it for another day' });
  // The list is there a moment after the page.
  await keep.first().waitFor();
  expect(await keep.count()).toBe(1);
  await keep.click();
  await until(async () => (await leaseOf()).expires_at > before + 80_000_000);
  await world().post('/v2/webhooks/endpoints/delete', { id });
  await page.context().close();
});

inBrowser(
  'a client sees deliveries, is offered no endpoints, and sends again only with that permission',
  async () => {
    const clientWith = async (grant: Record<string, unknown>) => {
      const { client_credentials } = await world().post('/v2/node/create_client', grant);
      const page = await openConsole(browser(), world().url, client_credentials);
      await goTo(page, 'Webhooks');
      return page;
    };
    const reading = await clientWith({ scopes: ['read_payments'] });
    await reading.locator('.rows > li').first().waitFor();
    expect(await reading.getByRole('button', { name: 'Send again' }).count()).toBe(0);
    await reading.context().close();
    const page = await clientWith({ scopes: ['read_payments'], permissions: ['manage_webhooks'] });
    await page.getByRole('button', { name: 'Send again' }).first().waitFor();
    expect(await page.getByRole('button', { name: 'Add an endpoint' }).count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Attempts' }).count()).toBe(0);
    await page.context().close();
  },
);

inBrowser('the page fits a phone and a wide window', async () => {
  for (const width of [360, 1600]) {
    const page = await openConsole(browser(), world().url, world().owner, { width, height: 800 });
    await goTo(page, 'Webhooks');
    await page.getByRole('link', { name: 'Attempts' }).first().waitFor();
    expect(await overflowOf(page)).toBe(0);
    await page.getByRole('link', { name: 'Attempts' }).first().click();
    await page.getByText('Request and answer').first().click();
    expect(await overflowOf(page)).toBe(0);
    await page.context().close();
  }
});
