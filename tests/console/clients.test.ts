import { expect, setDefaultTimeout } from 'bun:test';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { startBinary } from '../support/binary.ts';
import { send } from '../support/requests.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { barriersOf, overflowOf } from './console-axe.ts';
import { goTo, openConsole } from './console-browser.ts';
import { complaintsOf, startConsoleWorld } from './console-world.ts';
import { consoleInBrowser } from './in-browser.ts';

setDefaultTimeout(SLOW_TEST_MS);
const { inBrowser, world, browser } = consoleInBrowser(
  'console-clients',
  'the console makes one client, and shows its credentials once',
);

const MAKE = 'Make the client';

const focused = (page: Page) => page.locator(':focus');

async function clientsNamed(label: string) {
  const { clients } = await world().get('/v2/node/list_clients');
  return (Object.values(clients) as { label: string | null }[]).filter(
    (client) => client.label === label,
  );
}

async function openForm(page: Page): Promise<void> {
  await goTo(page, 'Clients');
  await page.getByRole('link', { name: 'New client' }).click();
  await page.getByRole('button', { name: MAKE }).waitFor();
}

inBrowser('credentials are shown once, work, and are gone on leaving', async () => {
  const page = await openConsole(browser(), world().url, world().owner);
  const complaints = complaintsOf(page);
  await openForm(page);
  await page.getByRole('textbox', { name: 'Name' }).fill('Till 1');
  await page.getByRole('checkbox', { name: /Spend money/ }).check();
  await page.getByRole('button', { name: MAKE }).click();
  // A limit for approval alone is a grant too: the form says how to have no budget.
  await page.getByText('Type a number of sats, or take the tick from').waitFor();
  await page.getByLabel('At most, in sats').fill('10,000');
  await page.getByLabel('At most for one payment').fill('2,500');
  expect(await barriersOf(page)).toEqual([]);
  await page.getByRole('button', { name: MAKE }).click();
  await page.getByRole('heading', { name: 'The client is made' }).waitFor();
  expect(await barriersOf(page)).toEqual([]);
  const credentials = await page.locator('.copy code').innerText();
  const { body } = await send(world().url, 'GET', '/v2/node/client_info', { credentials });
  expect(body).toMatchObject({
    label: 'Till 1',
    scopes: ['read_info', 'read_payments', 'receive', 'send'],
    budget: { amount: '10000', period: 'day', max_payment: '2500' },
  });
  const kept = await page.evaluate<string>('JSON.stringify([localStorage, sessionStorage])');
  expect(kept).not.toContain(credentials);
  expect(kept).not.toContain('create-client');
  const here = page.url();
  const clients = page.getByRole('navigation').getByRole('link', { name: 'Clients' });
  const question = page.getByRole('group', { name: /gone when you leave/ });
  await clients.click();
  await question.and(page.locator(':focus')).waitFor();
  expect(await barriersOf(page)).toEqual([]);
  await page.getByRole('button', { name: 'Stay here' }).click();
  expect(page.url()).toBe(here);
  expect(await page.locator('.copy code').innerText()).toBe(credentials);
  // The browser's own way back and the sign-out lead away too.
  await page.goBack();
  await question.waitFor();
  await page.getByRole('button', { name: 'Stay here' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await question.waitFor();
  await page.getByRole('button', { name: 'Stay here' }).click();
  await clients.click();
  await page.getByRole('button', { name: 'Leave without it' }).click();
  await page.getByText('0 of 10,000 sats spent').waitFor();
  // The limit starts anew at midnight UTC, so its time names the zone.
  await page.getByText(/starts anew .*(UTC|GMT|[A-Z]{3,4})/).waitFor();
  await page.getByText('The budgets of clients protect nothing').waitFor();
  expect(await page.locator('.notice .flag').allInnerTexts()).toEqual(['--require-auth']);
  await page.goBack();
  await page.getByRole('button', { name: MAKE }).waitFor();
  expect(await page.content()).not.toContain(credentials);
  expect(complaints).toEqual([]);
  await page.context().close();
});

inBrowser('the link for an app is shown once, with its QR code', async () => {
  const page = await openConsole(browser(), world().url, world().owner);
  await openForm(page);
  await page.getByRole('checkbox', { name: /For an app/ }).check();
  await page.getByRole('textbox', { name: 'Relay' }).fill('ws://127.0.0.1:9');
  expect(await barriersOf(page)).toEqual([]);
  await page.getByRole('button', { name: MAKE }).click();
  await page.getByRole('img', { name: /Link for the app/ }).waitFor();
  expect(await barriersOf(page)).toEqual([]);
  const shown = await page.locator('.copy code').innerText();
  expect(shown).toMatch(/^nostr\+walletconnect:.+relay=ws%3A%2F%2F127.0.0.1%3A9&secret=/);
  await page.getByRole('button', { name: 'The app has it' }).click();
  await page.getByRole('link', { name: 'New client' }).waitFor();
  expect(await page.content()).not.toContain('walletconnect');
  await page.context().close();
});

inBrowser('a reload while the client is being made makes one client', async () => {
  const page = await openConsole(browser(), world().url, world().owner);
  await openForm(page);
  await page.getByRole('textbox', { name: 'Name' }).fill('Reloaded');
  const arrived = Promise.withResolvers<void>();
  // The sidecar makes the client, but its answer never reaches the page.
  await page.route(
    '**/v2/node/create_client',
    async (route) => {
      await route.fetch();
      arrived.resolve();
    },
    { times: 1 },
  );
  await page.getByRole('button', { name: MAKE }).click();
  await arrived.promise;
  await page.reload();
  await page.getByRole('heading', { name: 'The client is made' }).waitFor();
  expect(await clientsNamed('Reloaded')).toHaveLength(1);
  await page.reload();
  await page.getByRole('navigation').waitFor();
  expect(await page.locator('.copy').count()).toBe(0);
  expect(await clientsNamed('Reloaded')).toHaveLength(1);
  await page.context().close();
});

inBrowser('a client whose making got no answer is asked for again, with the same key', async () => {
  const page = await openConsole(browser(), world().url, world().owner);
  await openForm(page);
  await page.getByRole('textbox', { name: 'Name' }).fill('Unanswered');
  const keys: (string | undefined)[] = [];
  await page.route('**/v2/node/create_client', async (route) => {
    keys.push(route.request().headers()['idempotency-key']);
    await route.fetch();
    await route.abort('connectionreset');
  });
  await page.getByRole('button', { name: MAKE }).click();
  await page.getByText('It is not known whether the client was made').waitFor();
  expect(await barriersOf(page)).toEqual([]);
  await page.unrouteAll({ behavior: 'wait' });
  await page.getByRole('button', { name: 'Ask again' }).click();
  await page.getByRole('heading', { name: 'The client is made' }).waitFor();
  expect(new Set(keys).size).toBe(1);
  expect(await clientsNamed('Unanswered')).toHaveLength(1);
  await page.context().close();
});

inBrowser('by keyboard alone a client is changed, and revoked by a second press', async () => {
  await world().post('/v2/node/create_client', { label: 'Old name', scopes: ['receive'] });
  const page = await openConsole(browser(), world().url, world().owner);
  await goTo(page, 'Clients');
  await page.getByRole('link', { name: 'Change Old name' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('textbox', { name: 'Name' }).focus();
  await page.keyboard.press('Control+A');
  await page.keyboard.type('New name');
  await page.getByRole('checkbox', { name: /See payments/ }).focus();
  await page.keyboard.press('Space');
  await page.getByRole('textbox', { name: 'Name' }).focus();
  await page.keyboard.press('Enter');
  const revoke = page.getByRole('button', { name: 'Revoke New name' });
  await revoke.waitFor();
  expect(await clientsNamed('New name')).toMatchObject([{ scopes: ['receive', 'read_payments'] }]);
  await revoke.focus();
  await page.keyboard.press('Enter');
  await page.getByText('end at once').waitFor();
  expect(await barriersOf(page)).toEqual([]);
  // The focus is at the question, and at no button: a second Enter does nothing.
  await page
    .getByRole('group', { name: /^Revoke “New name”/ })
    .and(focused(page))
    .waitFor();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await revoke.and(focused(page)).waitFor();
  await page.keyboard.press('Enter');
  expect(await clientsNamed('New name')).toHaveLength(1);
  await page.getByRole('button', { name: 'Revoke for ever' }).focus();
  await page.keyboard.press('Enter');
  await revoke.waitFor({ state: 'detached' });
  await until(async () => (await clientsNamed('New name')).length === 0);
  await page.context().close();
});

inBrowser(
  'a client has its payments wait above a cost, which its card and its form show',
  async () => {
    const page = await openConsole(browser(), world().url, world().owner);
    await openForm(page);
    await page.getByRole('textbox', { name: 'Name' }).fill('Asker');
    await page.getByRole('checkbox', { name: /Spend money/ }).check();
    await page.getByLabel('At most, in sats').fill('10,000');
    await page.getByLabel('Needs approval above').fill('1 sat');
    await page.getByRole('button', { name: MAKE }).click();
    await page.getByText('Type a number of sats, such as 1,000, or 0.').waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await page.getByLabel('Needs approval above').fill('1,500');
    await page.getByRole('button', { name: MAKE }).click();
    await page.getByRole('button', { name: 'I have stored them' }).click();
    await page.getByText('A payment above 1,500 sats waits for approval').waitFor();
    expect(await clientsNamed('Asker')).toMatchObject([{ approve_above: '1500' }]);
    await page.getByRole('link', { name: 'Change Asker' }).click();
    expect(await page.getByLabel('Needs approval above').inputValue()).toBe('1,500');
    await page.getByLabel('Needs approval above').fill('0');
    await page.getByRole('button', { name: 'Save the changes' }).click();
    await page.getByText('Every payment waits for approval').waitFor();
    await page.getByRole('link', { name: 'Change Asker' }).click();
    await page.getByLabel('Needs approval above').fill('');
    await page.getByRole('button', { name: 'Save the changes' }).click();
    await page.getByRole('link', { name: 'Change Asker' }).waitFor();
    expect(await page.getByText('Every payment waits for approval').count()).toBe(0);
    expect(await clientsNamed('Asker')).toMatchObject([{ approve_above: null }]);
    await page.context().close();
  },
);

inBrowser('what is wrong with a form is said in its own words', async () => {
  const page = await openConsole(browser(), world().url, world().owner);
  await openForm(page);
  await page.getByRole('textbox', { name: 'Name' }).fill('Late');
  await page.getByLabel('Last day').fill('2020-01-01');
  await page.getByRole('button', { name: MAKE }).click();
  await page.getByText('This day is over. Choose today or a later day.').waitFor();
  expect(await clientsNamed('Late')).toEqual([]);
  await page.getByLabel('Last day').fill('');
  // The sidecar counts bytes, and says so of the field by its name in the API.
  await page.getByRole('textbox', { name: 'Name' }).fill('€'.repeat(64));
  await page.getByRole('button', { name: MAKE }).click();
  await page.getByText(/^Name: must be .* bytes/).waitFor();
  await page.context().close();
});

inBrowser('a client that expires is renewed by one press', async () => {
  const expires_at = Date.now() + 86_400_000;
  await world().post('/v2/node/create_client', { label: 'Guest', scopes: ['receive'], expires_at });
  const page = await openConsole(browser(), world().url, world().owner);
  await goTo(page, 'Clients');
  await page.getByRole('button', { name: /^Renew until .*: Guest$/ }).click();
  await until(async () => {
    const [guest] = await clientsNamed('Guest');
    return (guest as { expires_at?: number }).expires_at === expires_at + 30 * 86_400_000;
  });
  await page.context().close();
});

inBrowser('the owner confirms the budgets of a restored database', async () => {
  const before = await startConsoleWorld('console-restored');
  await before.sidecar.stop();
  // Without its marker a database may be an older copy (docs/decisions.md 69).
  rmSync(`${before.dataDir}.marker`);
  const listen = ['--listen-addr', new URL(before.url).host];
  const restored = startBinary(['dev', '--data-dir', before.dataDir, ...listen]);
  await restored.ready();
  const owner = readFileSync(join(before.dataDir, 'cookie'), 'utf8');
  const page = await openConsole(browser(), before.url, owner);
  await goTo(page, 'Clients');
  await page.getByText('Clients with a budget cannot spend now').waitFor();
  expect(await barriersOf(page)).toEqual([]);
  await page.getByRole('button', { name: 'Confirm the budgets' }).click();
  await page.getByRole('button', { name: 'They are right' }).click();
  await page.getByText('The budgets are confirmed').waitFor();
  expect((await before.get('/v2/console/about')).budgets_confirmed).toBe(true);
  await page.reload();
  await page.getByRole('link', { name: 'New client' }).waitFor();
  expect(await page.getByRole('button', { name: 'Confirm the budgets' }).count()).toBe(0);
  await page.context().close();
  await restored.stop();
  await before.stop();
});

inBrowser('a client is offered to give and to change no more than it has', async () => {
  const { client_credentials } = await world().post('/v2/node/create_client', {
    label: 'Deputy',
    scopes: ['receive', 'manage_clients'],
  });
  await world().post('/v2/node/create_client', { label: 'Spender', scopes: ['send'] });
  await world().post('/v2/node/create_client', { label: 'Taker', scopes: ['receive'] });
  const page = await openConsole(browser(), world().url, client_credentials);
  await goTo(page, 'Clients');
  await page.getByRole('heading', { name: 'Spender' }).waitFor();
  expect(await page.getByRole('link', { name: 'Change Taker' }).count()).toBe(1);
  expect(await page.getByRole('link', { name: 'Change Spender' }).count()).toBe(0);
  expect(await page.getByRole('button', { name: 'Revoke Spender' }).count()).toBe(0);
  await page.getByRole('link', { name: 'New client' }).click();
  await page.getByRole('checkbox').first().waitFor();
  const offered = page.getByRole('group', { name: 'What it may do' });
  expect(await offered.getByRole('checkbox').count()).toBe(2);
  await page.context().close();
});

inBrowser('the page fits a phone and a wide window', async () => {
  for (const width of [360, 1600]) {
    const page = await openConsole(browser(), world().url, world().owner, { width, height: 800 });
    await goTo(page, 'Clients');
    await page.getByRole('heading', { name: 'Till 1' }).waitFor();
    expect(await overflowOf(page)).toBe(0);
    await openForm(page);
    expect(await overflowOf(page)).toBe(0);
    await page.context().close();
  }
});
