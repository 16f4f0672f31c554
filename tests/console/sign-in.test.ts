import { expect, setDefaultTimeout } from 'bun:test';
import { runBinary } from '../support/binary.ts';
import { send } from '../support/requests.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { barriersOf } from './console-axe.ts';
import { openConsole } from './console-browser.ts';
import { complaintsOf } from './console-world.ts';
import { consoleInBrowser } from './in-browser.ts';

setDefaultTimeout(SLOW_TEST_MS);
const { inBrowser, world, browser } = consoleInBrowser(
  'console-sign-in',
  'people get into the console, and that it keeps no credential',
);

async function linkFromCommandLine(): Promise<string> {
  const { stdout, output } = await runBinary([
    'console',
    '--url',
    world().url,
    '--data-dir',
    world().dataDir,
  ]);
  expect(output).toContain('works once, within 60 seconds');
  expect(output).toMatch(/opens the wallet [0-9a-f]{64}, which the page names/);
  return stdout.trim();
}

inBrowser(
  'the link of the command line says whose wallet it opens, signs in when asked to, and leaves the address at once',
  async () => {
    const context = await browser().newContext();
    const page = await context.newPage();
    const complaints = complaintsOf(page);
    const requested: string[] = [];
    page.on('request', (request) => requested.push(request.url()));
    const link = await linkFromCommandLine();
    const token = link.split('#link=')[1] ?? '-';
    await page.goto(link);
    await page.getByRole('heading', { name: 'Sign in by this link?' }).waitFor();
    const { user_pk } = await world().get('/v2/node/node_info');
    await page.getByText(user_pk).waitFor();
    await page.getByText('You would sign in as its owner').waitFor();
    expect(page.url()).not.toContain(token);
    await page.getByRole('button', { name: 'Sign in by the link' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(page.url()).not.toContain(token);
    expect(requested.filter((one) => one.includes(token))).toEqual([]);
    await page.goBack().catch(() => null);
    expect(page.url()).not.toContain(token);
    expect(complaints).toEqual([]);
    await context.close();
    // A link ends soon, so this page is looked at by one of its own.
    const looked = await browser().newPage();
    await looked.goto(await linkFromCommandLine());
    await looked.getByRole('heading', { name: 'Sign in by this link?' }).waitFor();
    await looked.getByText(user_pk).waitFor();
    expect(await barriersOf(looked)).toEqual([]);
    await looked.close();
  },
);

inBrowser(
  'a link that somebody else used is said to be used, and shows nothing of the wallet',
  async () => {
    const link = await linkFromCommandLine();
    const [thief, victim] = await Promise.all([browser().newContext(), browser().newContext()]);
    const first = await thief.newPage();
    await first.goto(link);
    await first.getByRole('button', { name: 'Sign in by the link' }).click();
    await first.getByRole('navigation').waitFor();
    const second = await victim.newPage();
    await second.goto(link);
    await second.getByText('This link was used before').waitFor();
    expect(await second.getByRole('navigation').count()).toBe(0);
    await Promise.all([thief.close(), victim.close()]);
  },
);

inBrowser(
  'no storage of the browser and no script sees a credential or the half in the cookie',
  async () => {
    const page = await openConsole(browser(), world().url, world().owner);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const seen = {
      storages: await page.evaluate<string>('JSON.stringify([localStorage, sessionStorage])'),
      cookie: await page.evaluate<string>('document.cookie'),
      page: await page.content(),
    };
    const [cookie] = await page.context().cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/' });
    expect(seen.cookie).toBe('');
    for (const text of [seen.storages, seen.page]) {
      expect(text).not.toContain(world().owner);
      expect(text).not.toContain(cookie?.value ?? '-');
    }
    await page.context().close();
  },
);

inBrowser(
  'a link replaces a session only if the person says so, and leaves the address',
  async () => {
    const made = await world().post('/v2/node/create_client', {
      scopes: ['read_info'],
      label: 'till',
    });
    const page = await openConsole(browser(), world().url, made.client_credentials);
    await page.getByText('Signed in as “till”').waitFor();
    for (const open of ['a new tab', 'this tab']) {
      const tab = open === 'this tab' ? page : await page.context().newPage();
      const question = tab.getByRole('heading', { name: 'You are signed in already' });
      const stay = async () => {
        await tab.getByRole('button', { name: 'Stay signed in' }).click();
        await tab.getByText('Signed in as “till”').waitFor();
      };
      // A link ends soon, so the question is looked at by one of its own.
      await tab.goto(await linkFromCommandLine());
      await question.waitFor();
      expect(await barriersOf(tab)).toEqual([]);
      await stay();
      const link = await linkFromCommandLine();
      const token = link.split('#link=')[1] ?? '-';
      await tab.goto(link);
      await question.waitFor();
      expect([open, tab.url().includes(token)]).toEqual([open, false]);
      await stay();
      // The link was not used: it would still sign in.
      await tab.goto('about:blank');
      await tab.goto(link);
      await tab.getByRole('button', { name: 'Sign in by the link' }).click();
      await tab.getByText('Signed in as the owner').waitFor();
      const again = await send(world().url, 'POST', '/v2/console/session', {
        body: { link: token },
        headers: { origin: world().url },
      });
      expect(again.status).toBe(401);
      if (open === 'this tab') break;
      await tab.getByRole('button', { name: 'Sign out' }).click();
      await page.getByLabel('Client credentials').fill(made.client_credentials);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByText('Signed in as “till”').waitFor();
    }
    await page.context().close();
  },
);

inBrowser('where the session has ended a link asks as it does without one', async () => {
  const made = await world().post('/v2/node/create_client', { scopes: ['read_info'] });
  const page = await openConsole(browser(), world().url, made.client_credentials);
  await page.goto('about:blank');
  await world().post('/v2/node/revoke_client', { client_pk: made.client_pk });
  await page.goto(await linkFromCommandLine());
  await page.getByRole('heading', { name: 'Sign in by this link?' }).waitFor();
  await page.getByRole('button', { name: 'Sign in by the link' }).click();
  await page.getByText('Signed in as the owner').waitFor();
  await page.context().close();
});

inBrowser('credentials are not sent over plain http to another machine', async () => {
  const page = await (await browser().newContext()).newPage();
  const elsewhere = 'http://wallet.example';
  const sent: string[] = [];
  // The sidecar's own files, as another machine would serve them.
  await page.route(`${elsewhere}/**`, async (route) => {
    const request = route.request();
    sent.push(request.postData() ?? '');
    const { pathname } = new URL(request.url());
    await route.fulfill({ response: await page.request.get(world().url + pathname) });
  });
  await page.goto(`${elsewhere}/console`);
  await page.getByLabel('Client credentials, or the token of the cookie file').fill('my secret');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('Credentials are sent only to this machine or over https').waitFor();
  await page.goto('about:blank');
  await page.goto(`${elsewhere}/console#link=${'ab'.repeat(32)}`);
  await page.getByText('Credentials are sent only to this machine or over https').waitFor();
  expect(sent.filter((body) => body !== '')).toEqual([]);
  await page.context().close();
});

inBrowser('a payment shows on the overview by itself', async () => {
  const page = await openConsole(browser(), world().url, world().owner);
  await page.getByRole('heading', { name: 'Latest payments' }).waitFor();
  const { invoice } = await world().post('/v2/node/create_invoice', { amount: '31337' });
  await page.getByText('31,337').waitFor();
  await world().post('/sandbox/pay', { payable: invoice });
  await page.getByRole('link', { name: /31,337 sats.*Completed/ }).waitFor();
  await page.context().close();
});

inBrowser('the sign-out leads back to the sign-in, in every tab', async () => {
  const page = await openConsole(browser(), world().url, world().owner);
  const other = await page.context().newPage();
  await other.goto(`${world().url}/console`);
  await other.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in to the wallet' }).waitFor();
  await other.getByRole('heading', { name: 'Sign in to the wallet' }).waitFor();
  await page.context().close();
});

inBrowser('a revoked client is signed out while the page is open', async () => {
  const scopes = ['read_info', 'read_payments'];
  const made = await world().post('/v2/node/create_client', { scopes, label: 'till' });
  const page = await openConsole(browser(), world().url, made.client_credentials);
  await page.getByText('Signed in as “till”').waitFor();
  await page.getByRole('heading', { name: 'Latest payments' }).waitFor();
  await world().post('/v2/node/revoke_client', { client_pk: made.client_pk });
  await page.getByText('Your session has ended').waitFor();
  await page.context().close();
});

inBrowser(
  'a server on another port gets the cookie of the session, and can do nothing with it',
  async () => {
    const page = await openConsole(browser(), world().url, world().owner);
    const cookies: string[] = [];
    const before = await world().get('/v2/node/list_clients');
    const other = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch(request) {
        cookies.push(request.headers.get('cookie') ?? '');
        return new Response('<h1>Another server</h1>', {
          headers: { 'content-type': 'text/html' },
        });
      },
    });
    const otherPage = await page.context().newPage();
    await otherPage.goto(`http://127.0.0.1:${other.port}/`);
    // Its page sends requests with the cookie, and its server repeats the cookie with headers of its choice.
    await otherPage.evaluate(`Promise.allSettled([
    fetch('${world().url}/v2/node/create_client', { method: 'POST', mode: 'no-cors', credentials: 'include', body: '{"scopes":["full"]}' }),
    fetch('${world().url}/v2/node/create_client', { method: 'POST', credentials: 'include', headers: { 'content-type': 'application/json', 'console-key': 'x' }, body: '{"scopes":["full"]}' }),
  ])`);
    expect(await world().get('/v2/node/list_clients')).toEqual(before);
    const cookie = cookies.find((one) => one.includes('wallet-sidecar-')) ?? '';
    expect(cookie).not.toBe('');
    const repeated = await send(world().url, 'GET', '/v2/node/client_info', {
      headers: {
        cookie,
        origin: world().url,
        'sec-fetch-site': 'same-origin',
        'console-key': 'ab'.repeat(32),
      },
    });
    expect([repeated.status, repeated.body.code]).toEqual([401, 104]);
    await page.context().close();
    await other.stop(true);
  },
);
