import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type SidecarProcess, startBinary } from '../support/binary.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { freePort } from '../support/ports.ts';
import { type Answer, type CallOptions, send, sendOk } from '../support/requests.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { type BrowserSession, pageHeaders, signIn } from './console-session.ts';

setDefaultTimeout(SLOW_TEST_MS);

const folder = temporaryFolder('console');
const dataDir = join(folder, 'data');
let sidecar: SidecarProcess;
let url: string;
/** A sidecar that requires credentials on every request. */
let closed: SidecarProcess;
let closedUrl: string;
let closedOwner: string;

beforeAll(async () => {
  const address = ['--listen-addr', '127.0.0.1:0'];
  sidecar = startBinary(['dev', '--data-dir', dataDir, ...address]);
  closed = startBinary(['dev', '--require-auth', '--data-dir', join(folder, 'closed'), ...address]);
  [url, closedUrl] = await Promise.all([sidecar.ready(), closed.ready()]);
  closedOwner = readFileSync(join(folder, 'closed', 'cookie'), 'utf8');
});
afterAll(async () => {
  await Promise.all([sidecar?.stop(), closed?.stop()]);
  removeFolder(folder);
});

const NODE_INFO = '/v2/node/node_info';
const CLIENT_INFO = '/v2/node/client_info';

const ask = (path: string, headers: Record<string, string>): Promise<Answer> =>
  send(url, 'GET', path, { headers });
const asPage = (session: BrowserSession, path: string, options: CallOptions = {}) =>
  send(url, options.body === undefined ? 'GET' : 'POST', path, {
    ...options,
    headers: { ...pageHeaders(url, session), ...options.headers },
  });
const codeOf = async (answer: Promise<Answer>): Promise<unknown> => (await answer).body.code;

async function newClient(scopes: readonly string[], more: object = {}) {
  const made = await sendOk(url, 'POST', '/v2/node/create_client', { body: { scopes, ...more } });
  return made as { client_pk: string; client_credentials: string };
}

async function newLink(credentials?: string): Promise<string> {
  const made = await sendOk(url, 'POST', '/v2/console/link', { body: {}, credentials });
  return (made as { token: string }).token;
}

async function ownerSession(): Promise<BrowserSession> {
  return signIn(url, { link: await newLink() });
}

describe('a link, before it is used', () => {
  const look = (link: string, headers = pageHeaders(url)) =>
    send(url, 'POST', '/v2/console/link_wallet', { body: { link }, headers });

  test('says whose wallet it opens, as its maker was told, and stays good', async () => {
    const { user_pk } = await sendOk(url, 'GET', NODE_INFO);
    const made = await sendOk(url, 'POST', '/v2/console/link', { body: {} });
    expect(made.user_pk).toBe(user_pk);
    for (let times = 0; times < 2; times++) {
      expect((await look(made.token)).body).toEqual({
        user_pk,
        node_kind: 'sandbox',
        network: 'regtest',
        owner: true,
        label: null,
        device: false,
      });
    }
    await signIn(url, { link: made.token });
    expect((await look(made.token)).body).toMatchObject({ code: 104 });
  });

  test("of another wallet's client names that wallet and that client", async () => {
    const other = await sendOk(url, 'POST', '/sandbox/wallets', { body: {} });
    const { client_credentials } = await sendOk(url, 'POST', '/v2/node/create_client', {
      body: { scopes: ['read_info'], label: 'till' },
      credentials: other.client_credentials,
    });
    const { body } = await look(await newLink(client_credentials));
    expect(body).toMatchObject({ user_pk: other.user_pk, owner: false, label: 'till' });
  });

  test('says it to the page of this sidecar alone', async () => {
    const link = await newLink();
    expect((await look(link, {})).body).toMatchObject({ code: 112 });
    const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    expect((await look(link, foreign)).body).toMatchObject({ code: 112 });
  });
});

describe('the page of the console (docs/decisions.md 134)', () => {
  test('is where the address of the sidecar leads to', async () => {
    const response = await fetch(`${url}/`, { redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([302, '/console']);
  });

  test('runs its own scripts alone, talks to its own origin alone and stands in no frame', async () => {
    const { headers } = await fetch(`${url}/console`);
    const policy = headers.get('content-security-policy')?.split('; ');
    expect(policy).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      expect.stringMatching(/^style-src 'sha256-[0-9A-Za-z+/]{43}='$/),
      "img-src 'self' data:",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ]);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
  });

  test('has one style and no script in itself, and nothing of another origin', async () => {
    const html = await (await fetch(`${url}/console`)).text();
    expect(html).not.toMatch(/<script(?![^>]* src=)| style=|\son\w+=|javascript:/);
    expect(html.match(/<style/g)).toHaveLength(1);
    const links = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link = '']) => link);
    expect(
      links.filter((link) => !link.startsWith('/console/') && !link.startsWith('data:')),
    ).toEqual([]);
  });

  test('and its files are the same with and without compression', async () => {
    const html = await (await fetch(`${url}/console`)).text();
    const paths = [...html.matchAll(/"(\/console\/[^"]+)"/g)].map(([, path = '']) => path);
    expect(paths.length).toBeGreaterThan(0);
    for (const path of paths) {
      const plain = await fetch(url + path, { headers: { 'accept-encoding': 'identity' } });
      const small = await fetch(url + path, { headers: { 'accept-encoding': 'gzip' } });
      expect(plain.headers.get('content-encoding')).toBeNull();
      expect(small.headers.get('cache-control')).toContain('immutable');
      expect(await small.text()).toBe(await plain.text());
    }
  });
});

describe('a one-time link (docs/decisions.md 132)', () => {
  test('signs in once, and is useless to the second', async () => {
    const link = await newLink();
    const session = await signIn(url, { link });
    expect((await asPage(session, CLIENT_INFO)).body.kind).toBe('root_seed');
    const second = await send(url, 'POST', '/v2/console/session', {
      body: { link },
      headers: pageHeaders(url),
    });
    expect([second.status, second.body.code]).toEqual([401, 104]);
    expect(second.headers.get('set-cookie')).toBeNull();
  });

  test('stands for the credentials that made it, with just their permissions', async () => {
    const { client_pk, client_credentials } = await newClient(['read_info']);
    const session = await signIn(url, { link: await newLink(client_credentials) });
    expect((await asPage(session, CLIENT_INFO)).body.client_pk).toBe(client_pk);
    expect(await codeOf(asPage(session, '/v2/node/list_clients'))).toBe(108);
    expect(await codeOf(asPage(session, '/sandbox/blocks', { body: { count: 1 } }))).toBe(108);
  });

  test('is not made by a session', async () => {
    const session = await ownerSession();
    expect(await codeOf(asPage(session, '/v2/console/link', { body: {} }))).toBe(104);
  });

  test('is not made without credentials where they are required', async () => {
    expect(await codeOf(send(closedUrl, 'POST', '/v2/console/link', { body: {} }))).toBe(104);
    const made = await send(closedUrl, 'POST', '/v2/console/link', {
      body: {},
      credentials: closedOwner,
    });
    expect(made.status).toBe(200);
  });
});

describe('the sign-in (docs/decisions.md 132)', () => {
  const tries: readonly (readonly [string, (own: string) => Record<string, string>])[] = [
    ['a program that sends no Origin', () => ({})],
    ['another origin', () => ({ origin: 'http://127.0.0.1:1' })],
    ['a page without an origin', () => ({ origin: 'null' })],
    ['another name of this machine', (own) => ({ origin: own.replace('127.0.0.1', 'localhost') })],
    ['another site', (own) => ({ origin: own, 'sec-fetch-site': 'cross-site' })],
    ['another host of the site', (own) => ({ origin: own, 'sec-fetch-site': 'same-site' })],
  ];
  for (const [name, headers] of tries) {
    test(`is not for ${name}, and the link stays good`, async () => {
      const link = await newLink();
      const tried = await send(url, 'POST', '/v2/console/session', {
        body: { link },
        headers: headers(url),
      });
      expect([tried.status, tried.body.code]).toEqual([403, 112]);
      expect(tried.headers.get('set-cookie')).toBeNull();
      await signIn(url, { link });
    });
  }

  test('takes no wrong credentials', async () => {
    for (const credentials of ['x', 'ab'.repeat(32), 'a b', `${closedOwner} `]) {
      const tried = await send(url, 'POST', '/v2/console/session', {
        body: { credentials },
        headers: pageHeaders(url),
      });
      expect([400, 401]).toContain(tried.status);
    }
  });

  test('is for the token of the cookie file', async () => {
    const session = await signIn(closedUrl, { credentials: closedOwner });
    const { body } = await send(closedUrl, 'GET', CLIENT_INFO, {
      headers: pageHeaders(closedUrl, session),
    });
    expect(body.kind).toBe('root_seed');
  });

  test('draws a new session, whatever cookie the browser had (fixation)', async () => {
    const planted = await ownerSession();
    const { client_credentials } = await newClient(['read_info']);
    const { headers, body } = await send(url, 'POST', '/v2/console/session', {
      body: { credentials: client_credentials },
      headers: { ...pageHeaders(url), cookie: planted.cookie },
    });
    expect(headers.get('set-cookie')).not.toContain(planted.cookie);
    // The planted cookie with the new key is no session.
    const mixed = { cookie: planted.cookie, key: body.key as string };
    expect(await codeOf(asPage(mixed, CLIENT_INFO))).toBe(104);
  });

  test('sends the credentials to nobody: the answer holds neither them nor the half in the cookie', async () => {
    const { client_credentials } = await newClient(['read_info']);
    const { headers, body } = await send(url, 'POST', '/v2/console/session', {
      body: { credentials: client_credentials },
      headers: pageHeaders(url),
    });
    const cookie = headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(/^wallet-sidecar-\d+=[0-9a-f]{64}; Path=\/; HttpOnly; SameSite=Strict$/);
    const id = /=([0-9a-f]{64})/.exec(cookie)?.[1] ?? '-';
    const shown = JSON.stringify([body, cookie.replace(id, '')]);
    expect(shown).not.toContain(client_credentials);
    expect(shown).not.toContain(id);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(sidecar.log()).not.toContain(body.key);
  });
});

describe('a session (docs/decisions.md 133)', () => {
  test('needs the key: with the cookie alone it does not count', async () => {
    const session = await signIn(closedUrl, { credentials: closedOwner });
    const { cookie } = session;
    const page = { origin: closedUrl, 'sec-fetch-site': 'same-origin', cookie };
    expect(await codeOf(send(closedUrl, 'GET', NODE_INFO, { headers: page }))).toBe(104);
    const wrong = { ...page, 'console-key': 'ab'.repeat(32) };
    expect(await codeOf(send(closedUrl, 'GET', NODE_INFO, { headers: wrong }))).toBe(104);
  });

  test('a cookie without the key changes nothing of what the request may do', async () => {
    const { client_credentials } = await newClient(['read_info']);
    const { cookie } = await signIn(url, { credentials: client_credentials });
    expect((await ask(CLIENT_INFO, { cookie })).body.kind).toBe('root_seed');
  });

  test('never falls back to the wallet that answers without credentials', async () => {
    expect((await ask(NODE_INFO, {})).status).toBe(200);
    for (const key of ['', 'none', 'ab'.repeat(32)]) {
      const headers = { ...pageHeaders(url), 'console-key': key };
      expect([key, await codeOf(ask(NODE_INFO, headers))]).toEqual([key, 104]);
    }
    const { key } = await ownerSession();
    expect(await codeOf(ask(NODE_INFO, { ...pageHeaders(url), 'console-key': key }))).toBe(104);
    const block = { ...pageHeaders(url), 'console-key': 'none' };
    const mined = send(url, 'POST', '/sandbox/blocks', { body: { count: 1 }, headers: block });
    expect(await codeOf(mined)).toBe(104);
    const signup = send(url, 'PUT', '/v2/node/signup', { body: {}, headers: block });
    expect(await codeOf(signup)).toBe(104);
  });

  const pages: readonly (readonly [string, Record<string, string>])[] = [
    ['another port of this machine', { origin: 'http://127.0.0.1:1' }],
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['another host of the site', { 'sec-fetch-site': 'same-site' }],
    ['no page, but an address that was typed', { 'sec-fetch-site': 'none' }],
  ];
  for (const [name, headers] of pages) {
    test(`is not accepted from ${name}`, async () => {
      const session = await ownerSession();
      const stolen = { cookie: session.cookie, 'console-key': session.key };
      expect(await codeOf(ask(NODE_INFO, { ...stolen, ...headers }))).toBe(112);
      expect((await asPage(session, NODE_INFO)).status).toBe(200);
    });
  }

  test('is not accepted where no header says which page asks', async () => {
    const { cookie, key } = await ownerSession();
    expect(await codeOf(ask(NODE_INFO, { cookie, 'console-key': key }))).toBe(112);
  });

  test('is not accepted at another name of this machine', async () => {
    const session = await ownerSession();
    const elsewhere = url.replace('127.0.0.1', 'localhost');
    const headers = { ...pageHeaders(elsewhere, session), host: new URL(elsewhere).host };
    expect(await codeOf(ask(NODE_INFO, headers))).toBe(112);
  });

  test('is not read from the URL', async () => {
    const session = await signIn(closedUrl, { credentials: closedOwner });
    const query = { 'console-key': session.key, cookie: session.cookie };
    const asked = send(closedUrl, 'GET', NODE_INFO, { query, headers: pageHeaders(closedUrl) });
    expect(await codeOf(asked)).toBe(104);
  });

  test('ends with the sign-out, and so do its streams', async () => {
    const session = await ownerSession();
    const stream = await fetch(`${url}/v2/node/events`, { headers: pageHeaders(url, session) });
    expect(stream.status).toBe(200);
    const out = await asPage(session, '/v2/console/sign_out', { body: {} });
    expect(out.headers.get('set-cookie')).toContain('Max-Age=0');
    expect(await stream.text()).toContain('"code":104');
    expect(await codeOf(asPage(session, NODE_INFO))).toBe(104);
  });

  test('ends when its client is revoked, and so do its streams', async () => {
    const { client_pk, client_credentials } = await newClient(['read_info', 'read_payments']);
    const session = await signIn(url, { credentials: client_credentials });
    const stream = await fetch(`${url}/v2/node/events`, { headers: pageHeaders(url, session) });
    await sendOk(url, 'POST', '/v2/node/revoke_client', { body: { client_pk } });
    expect(await stream.text()).toContain('"code":104');
    expect(await codeOf(asPage(session, NODE_INFO))).toBe(104);
  });

  test('ends when its client expires', async () => {
    const { body: block } = await send(url, 'POST', '/sandbox/clock', {
      body: { advance_secs: 0 },
    });
    const { client_credentials } = await newClient(['read_info'], {
      expires_at: block.now + 60_000,
    });
    const session = await signIn(url, { credentials: client_credentials });
    expect((await asPage(session, NODE_INFO)).status).toBe(200);
    await sendOk(url, 'POST', '/sandbox/clock', { body: { advance_secs: 61 } });
    expect(await codeOf(asPage(session, NODE_INFO))).toBe(104);
  });

  test('ends when its client may do less, and does not begin again with the old grant', async () => {
    const { client_pk, client_credentials } = await newClient(['read_info', 'receive']);
    const session = await signIn(url, { credentials: client_credentials });
    const update = (scopes: readonly string[]) =>
      sendOk(url, 'PUT', '/v2/node/update_client', { body: { client_pk, scopes } });
    await update(['read_info']);
    expect(await codeOf(asPage(session, NODE_INFO))).toBe(104);
    await update(['read_info', 'receive']);
    expect(await codeOf(asPage(session, NODE_INFO))).toBe(104);
  });

  test('ends when its browser signs in anew, and so do its streams', async () => {
    const first = await ownerSession();
    const stream = await fetch(`${url}/v2/node/events`, { headers: pageHeaders(url, first) });
    const { body } = await send(url, 'POST', '/v2/console/session', {
      body: { link: await newLink() },
      headers: pageHeaders(url, first),
    });
    expect(body.key).toHaveLength(64);
    expect(await codeOf(asPage(first, NODE_INFO))).toBe(104);
    expect(await stream.text()).toContain('"code":104');
  });

  test('does not end by a sign-in that fails', async () => {
    const first = await ownerSession();
    const failed = send(url, 'POST', '/v2/console/session', {
      body: { link: 'ab'.repeat(32) },
      headers: pageHeaders(url, first),
    });
    expect(await codeOf(failed)).toBe(104);
    expect((await asPage(first, NODE_INFO)).status).toBe(200);
  });

  test('and links are not ended by another client that signs in again and again', async () => {
    const session = await ownerSession();
    const link = await newLink();
    const { client_credentials } = await newClient(['read_info']);
    for (let times = 0; times < 100; times++) {
      await signIn(url, { link: await newLink(client_credentials) });
      await newLink(client_credentials);
    }
    expect((await asPage(session, NODE_INFO)).status).toBe(200);
    await signIn(url, { link });
  });

  test('ends with the process', async () => {
    const dir = join(folder, 'restarted');
    const args = ['dev', '--data-dir', dir, '--listen-addr'];
    const first = startBinary([...args, `127.0.0.1:${freePort()}`]);
    const own = await first.ready();
    const session = await signIn(own, { credentials: readFileSync(join(dir, 'cookie'), 'utf8') });
    await first.stop();
    const second = startBinary([...args, new URL(own).host]);
    await second.ready();
    const asked = send(own, 'GET', NODE_INFO, { headers: pageHeaders(own, session) });
    expect(await codeOf(asked)).toBe(104);
    await second.stop();
  });
});
