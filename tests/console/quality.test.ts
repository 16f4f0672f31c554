import { beforeAll, describe, expect, setDefaultTimeout } from 'bun:test';
import { startBinary } from '../support/binary.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { faultsOf } from './console-axe.ts';
import { CHROMIUM, goTo, openConsole, titlesOf } from './console-browser.ts';
import { startConsoleWorld } from './console-world.ts';
import { consoleInBrowser } from './in-browser.ts';

setDefaultTimeout(SLOW_TEST_MS);
const { inBrowser, world, browser } = consoleInBrowser(
  'console-quality',
  'everybody can use the console, and it outlives a restart of the sidecar',
);

beforeAll(async () => {
  if (CHROMIUM === undefined) return;
  const { invoice } = await world().post('/v2/node/create_invoice', { amount: '1000' });
  await world().post('/sandbox/pay', { payable: invoice });
  await world().post('/v2/node/create_invoice', {});
});

describe('every page', () => {
  for (const [width, colorScheme] of [
    [360, 'dark'],
    [1600, 'light'],
  ] as const) {
    inBrowser(
      `is accessible and has no line wider than ${width} pixels, in ${colorScheme}`,
      async () => {
        const page = await openConsole(browser(), world().url, world().owner, {
          width,
          height: 900,
        });
        await page.emulateMedia({ colorScheme });
        for (const title of await titlesOf(page)) {
          await goTo(page, title);
          await page.getByText('Loading…').first().waitFor({ state: 'detached' });
          expect([title, await faultsOf(page)]).toEqual([title, []]);
          const wide = await page.evaluate<number>('document.documentElement.scrollWidth');
          expect([title, wide]).toEqual([title, width]);
        }
        await page.context().close();
      },
    );
  }
});

inBrowser('a phone has four pages and More in one bar, which closes on the way', async () => {
  const page = await openConsole(browser(), world().url, world().owner, {
    width: 390,
    height: 844,
  });
  const links = page.getByRole('navigation').getByRole('link');
  const inBar = ['Overview', 'Receive', 'Send', 'Payments'];
  expect(await links.allInnerTexts()).toEqual(inBar);
  await page.getByRole('button', { name: 'More' }).click();
  expect((await links.allInnerTexts()).slice(4)).toEqual([
    'Clients',
    'Webhooks',
    'Node',
    'Sandbox',
  ]);
  await links.filter({ hasText: 'Clients' }).click();
  await page.getByRole('heading', { name: 'Clients', level: 1 }).waitFor();
  expect(await links.allInnerTexts()).toEqual(inBar);
  await page.context().close();
});

inBrowser('money on chain is said beside the chart, and has no bar in it', async () => {
  const page = await openConsole(browser(), world().url, world().owner);
  await page.getByText('On chain: received 1,000,000 sats, sent 0 sats').waitFor();
  await page.getByRole('img', { name: /^Received 1,001,000 sats/ }).waitFor();
  await page.getByRole('link', { name: 'All payments' }).click();
  await page.getByRole('heading', { name: 'Payments', level: 1 }).waitFor();
  await page.context().close();
});

inBrowser('what is not accessible would be found', async () => {
  const page = await browser().newPage();
  await page.goto(`${world().url}/console`);
  await page.evaluate('document.body.append(document.createElement("input"))');
  expect(await faultsOf(page)).toContainEqual(expect.stringContaining('label: '));
  await page.context().close();
});

inBrowser('the sign-in is accessible', async () => {
  const page = await browser().newPage();
  await page.goto(`${world().url}/console`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  expect(await faultsOf(page)).toEqual([]);
  await page.context().close();
});

inBrowser('an invoice is made by keyboard alone', async () => {
  const page = await openConsole(browser(), world().url, world().owner);
  await page.getByRole('navigation').getByRole('link', { name: 'Receive', exact: true }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Receive', level: 1 }).waitFor();
  await page.getByRole('radio', { name: 'Invoice' }).focus();
  await page.keyboard.press('Tab');
  await page.keyboard.type('77');
  await page.keyboard.press('Enter');
  await page.getByRole('img', { name: 'QR code: Invoice' }).waitFor();
  await page.context().close();
});

inBrowser('nothing is asked of another origin', async () => {
  const context = await browser().newContext();
  const page = await context.newPage();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await page.goto(`${world().url}/`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  expect(asked.filter((one) => !one.startsWith(world().url) && !one.startsWith('data:'))).toEqual(
    [],
  );
  await context.close();
});

inBrowser('a sidecar that does not answer is shown, and the page goes on by itself', async () => {
  const page = await openConsole(browser(), world().url, world().owner);
  await page.getByRole('heading', { name: 'Latest payments' }).waitFor();
  await page.context().setOffline(true);
  await goTo(page, 'Payments');
  await page.getByText('The sidecar does not answer').waitFor();
  const { invoice } = await world().post('/v2/node/create_invoice', { amount: '4321' });
  await world().post('/sandbox/pay', { payable: invoice });
  await page.context().setOffline(false);
  await page.getByText('The sidecar does not answer').waitFor({ state: 'detached' });
  await page.getByRole('link', { name: /4,321/ }).waitFor();
  await page.context().close();
});

inBrowser('after a restart of the sidecar the page asks to sign in again', async () => {
  const own = await startConsoleWorld('console-restart');
  const page = await openConsole(browser(), own.url, own.owner);
  await page.getByRole('heading', { name: 'Latest payments' }).waitFor();
  await own.sidecar.stop();
  await page.getByText('The sidecar does not answer').waitFor();
  const again = startBinary([
    'dev',
    '--data-dir',
    own.dataDir,
    '--listen-addr',
    new URL(own.url).host,
  ]);
  await again.ready();
  await page.getByText('Your session has ended').waitFor();
  await page.context().close();
  await again.stop();
  await own.stop();
});
