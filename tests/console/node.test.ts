import { expect, setDefaultTimeout } from 'bun:test';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { barriersOf, faultsOf, overflowOf } from './console-axe.ts';
import { goTo, openConsole } from './console-browser.ts';
import { complaintsOf } from './console-world.ts';
import { consoleInBrowser } from './in-browser.ts';

setDefaultTimeout(SLOW_TEST_MS);
const { inBrowser, world, browser } = consoleInBrowser(
  'console-node',
  'the console shows the node, and opens and closes channels',
);

async function channels(): Promise<readonly { channel_value: string }[]> {
  return (await world().get('/v2/node/list_channels')).channels;
}

inBrowser('says what the node is, and whether it works', async () => {
  const page = await openConsole(browser(), world().url, world().owner);
  const { node_pk, version } = await world().get('/v2/node/node_info');
  await goTo(page, 'Node');
  for (const words of ['Regtest, worthless money', node_pk, version]) {
    await page.getByText(words, { exact: true }).waitFor();
  }
  const { status } = await world().get('/v2/health');
  await page.getByText(status === 'ok' ? 'Everything works.' : status).waitFor();
  await page.context().close();
});

inBrowser('a wallet has the name that a person gave it, in this browser alone', async () => {
  const page = await openConsole(browser(), world().url, world().owner);
  await goTo(page, 'Node');
  const name = page.getByLabel('Your name for this wallet');
  await name.fill('Corner shop');
  await page.locator('.brand', { hasText: /^Corner shop$/ }).waitFor();
  await page.reload();
  await page.locator('.brand', { hasText: /^Corner shop$/ }).waitFor();
  await until(async () => (await page.title()) === 'Node · Corner shop');
  await name.fill(' ');
  await page.locator('.brand', { hasText: /^Wallet$/ }).waitFor();
  expect(await faultsOf(page)).toEqual([]);
  await page.context().close();
});

inBrowser('what is read as one thing is at most 40 rem wide, a channel too', async () => {
  const page = await openConsole(browser(), world().url, world().owner);
  await goTo(page, 'Node');
  await page.getByRole('heading', { name: 'Channels' }).waitFor();
  await page.locator('.cards > .card').first().waitFor();
  const widths = await page
    .locator('.card')
    .evaluateAll((cards) => cards.map((card) => card.getBoundingClientRect().width));
  expect(widths.length).toBeGreaterThan(3);
  expect([...new Set(widths)]).toEqual([640]);
  await page.context().close();
});

inBrowser('a channel is opened by a second press, once although its answer is lost', async () => {
  const before = (await channels()).length;
  const page = await openConsole(browser(), world().url, world().owner);
  const complaints = complaintsOf(page);
  await goTo(page, 'Node');
  await page.getByText('Opening costs an on-chain fee').waitFor();
  await page.getByLabel('Size in sats').fill('123,000');
  await page.getByRole('button', { name: 'Open a channel' }).click();
  await page.getByText('Open a channel of 123,000 sats?').waitFor();
  expect(await channels()).toHaveLength(before);
  const arrived = Promise.withResolvers<void>();
  await page.route(
    '**/v2/node/open_channel',
    async (route) => {
      await route.fetch();
      arrived.resolve();
    },
    { times: 1 },
  );
  await page.getByRole('button', { name: 'Open it and pay the fee' }).focus();
  await page.keyboard.press('Enter');
  await arrived.promise;
  await page.reload();
  await page.getByText('The channel is being opened').waitFor();
  expect(await channels()).toHaveLength(before + 1);
  expect(await barriersOf(page)).toEqual([]);
  expect(complaints).toEqual([]);
  await page.context().close();
});

inBrowser('a channel is closed by a second press', async () => {
  await world().post('/sandbox/blocks', { count: 6 });
  const before = (await channels()).length;
  const page = await openConsole(browser(), world().url, world().owner);
  await goTo(page, 'Node');
  await page.getByRole('button', { name: 'Close the channel of 123,000 sats' }).click();
  await page.getByText('Close this channel?').waitFor();
  expect(await channels()).toHaveLength(before);
  await page.getByRole('button', { name: 'Close it', exact: true }).click();
  await until(async () => (await channels()).length === before - 1);
  await page.getByRole('heading', { name: /123,000/ }).waitFor({ state: 'detached' });
  await page.context().close();
});

inBrowser('a client that only reads is offered neither opening nor closing', async () => {
  const { client_credentials } = await world().post('/v2/node/create_client', {
    scopes: ['read_info'],
  });
  const page = await openConsole(browser(), world().url, client_credentials);
  await goTo(page, 'Node');
  await page.getByText('Can receive').first().waitFor();
  expect(await page.getByRole('button', { name: /Open|Close/ }).count()).toBe(0);
  await page.context().close();
});

inBrowser('the page fits a phone and a wide window', async () => {
  for (const width of [360, 1600]) {
    const page = await openConsole(browser(), world().url, world().owner, { width, height: 800 });
    await goTo(page, 'Node');
    await page.getByText('Can receive').first().waitFor();
    await page.getByText('The other side does not answer?').first().click();
    expect(await overflowOf(page)).toBe(0);
    await page.context().close();
  }
});
