import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { decodeBolt11 } from '../../src/codecs/bolt11/index.ts';
import { NAME_ROUTES, ROUTES, SANDBOX_ROUTES } from '../../src/http/routes/index.ts';
import { createGuardedFetch } from '../../src/net/guarded-fetch.ts';
import { createLnurlClient, type LnurlPayRequest } from '../../src/net/lnurl.ts';
import { TEST_CERTIFICATE } from '../support/outside-service.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { addressDomain, CALLBACK, NAME, problem, TERMS } from './address-domain-world.ts';

setDefaultTimeout(SLOW_TEST_MS);

const { domain, proxyPort, owner, call, ok, throughProxy, payer, ask } = addressDomain();

describe('a payer', () => {
  const stranger = createLnurlClient(
    createGuardedFetch({
      allowPrivateNetwork: true,
      allowLoopback: false,
      resolve: async () => ['127.0.0.1'],
      ca: TEST_CERTIFICATE,
    }),
  );

  test("that knows only the name pays it, and its comment is the payment's message", async () => {
    const terms = (await stranger.discover(`https://${domain}${TERMS}`)) as LnurlPayRequest;
    const { invoice, sentComment } = await stranger.requestInvoice(terms, {
      amountMsat: 21_000n,
      comment: 'für den Tee ₿',
    });
    expect(sentComment).toBe('für den Tee ₿');
    await ok('POST', '/sandbox/pay', { payable: invoice.text });
    const { payments } = await ok('GET', '/v2/node/updated_payments?limit=100');
    expect(payments.at(-1)).toMatchObject({
      direction: 'inbound',
      status: 'completed',
      amount: '21',
      hash: invoice.paymentHash,
      message: 'für den Tee ₿',
    });
  });

  test('gets the terms as LUD-06, LUD-12 and LUD-16 say', async () => {
    const terms = await ask(TERMS);
    expect(terms).toEqual({
      http: 200,
      tag: 'payRequest',
      callback: `https://${domain}${CALLBACK}`,
      minSendable: 1_000,
      maxSendable: 10_000_000_000_000,
      metadata: expect.any(String),
      commentAllowed: 200,
    });
    expect(JSON.parse(terms.metadata)).toEqual([
      ['text/plain', `${NAME}@${domain}`],
      ['text/identifier', `${NAME}@${domain}`],
    ]);
  });

  test('gets an invoice that commits to the terms, for the amount in millisatoshis', async () => {
    const { metadata } = await ask(TERMS);
    const { pr, routes } = await ask(`${CALLBACK}?amount=1001&nonce=x&fromnodes=y`);
    expect(routes).toEqual([]);
    const hash = new Bun.CryptoHasher('sha256').update(metadata).digest('hex');
    expect(decodeBolt11(pr)).toMatchObject({ amountMsat: 1_001n, descriptionHash: hash });
  });

  test.each([
    ['', /^Say the amount/],
    ['?amount=', /^Say the amount/],
    ['?amount=1e6', /^Say the amount/],
    ['?amount=-5000', /^Say the amount/],
    ['?amount=5000.5', /^Say the amount/],
    [`?amount=${'9'.repeat(40)}`, /^Say the amount/],
    ['?amount=999', /^The amount must be from 1000 to 10000000000000 /],
    ['?amount=10000000000001', /^The amount must be from 1000 to 10000000000000 /],
    [`?amount=5000&comment=${'x'.repeat(201)}`, /^The comment may have at most 200 characters/],
    [`?amount=5000&comment=${'%F0%9F%8D%B5'.repeat(200)}`, /^The comment is too long/],
  ])('gets an error of LNURL for %s', async (query, reason) => {
    expect(await ask(`${CALLBACK}${query}`)).toEqual(problem(reason));
  });

  test('gets an error of LNURL also for what no route takes (LUD-06)', async () => {
    expect(await ask(`${CALLBACK}?amount=5000&amount=6000`)).toEqual(problem(/^amount: .* twice/));
    expect(await ask(`${TERMS}?a=1&a=2`)).toEqual(problem(/^a: .* twice/));
    // The proxy lets no longer head through.
    const long = 'x'.repeat(66_000);
    for (const [path, headers, reason] of [
      [`${CALLBACK}?comment=${long}`, {}, /^The request line is longer/],
      [TERMS, { 'x-long': long }, /^The request line and headers are longer/],
    ] as const) {
      const { status: http, body } = await call('GET', path, {
        headers: { ...headers, host: domain },
      });
      expect({ ...body, http }).toEqual(problem(reason));
    }
  });

  test('pays a comment of the full length, and an empty one is none', async () => {
    for (const [comment, message] of [
      ['x'.repeat(200), 'x'.repeat(200)],
      ['', null],
    ] as const) {
      const { pr } = await ask(`${CALLBACK}?amount=5000&comment=${comment}`);
      await ok('POST', '/sandbox/pay', { payable: pr });
      const { payments } = await ok('GET', '/v2/node/updated_payments?limit=100');
      expect(payments.at(-1)).toMatchObject({ status: 'completed', message });
    }
  });

  test.each([
    'nobody1',
    'SATOSHI',
    'satoshi%00',
    'satoshi%0A',
    '..%2f..%2fv2%2fhealth',
    'satoshi%2fcallback',
    "satoshi'--",
    'x'.repeat(5000),
  ])('is told that nobody has the name %s', async (name) => {
    for (const path of [name, `${name}/callback?amount=5000`]) {
      expect(await ask(`/.well-known/lnurlp/${path}`)).toEqual(problem(/no payee of that name/));
    }
  });
});

describe('at the address domain', () => {
  test('no other route answers, whatever the caller holds', async () => {
    const names = new Set(NAME_ROUTES);
    for (const { method, path } of [...ROUTES, ...SANDBOX_ROUTES].filter((it) => !names.has(it))) {
      const answer = await throughProxy(method.toUpperCase(), path.replace(/:\w+/g, 'x'), {
        headers: { authorization: `Bearer ${owner()}` },
      });
      expect([path, answer.status, JSON.parse(answer.text).code]).toEqual([path, 403, 112]);
    }
    for (const path of ['/', '/nothing', '/.well-known/other', '//v2/health', '/v2/../v2/health']) {
      expect((await throughProxy('GET', path)).status).toBe(403);
    }
  });

  test('other methods are not allowed', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
      for (const path of [TERMS, CALLBACK]) {
        expect([method, (await throughProxy(method, path)).status]).toEqual([method, 403]);
      }
    }
  });

  test('pages of any origin read the answers, errors too, and never with credentials', async () => {
    const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    for (const path of [TERMS, `${CALLBACK}?amount=5000`, CALLBACK, `${TERMS}-x`]) {
      const answer = await throughProxy('GET', path, { headers, client: payer() });
      expect(answer.status).toBe(200);
      expect(answer.headers['access-control-allow-origin']).toBe('*');
      expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
    }
    const asked = { ...headers, 'access-control-request-method': 'GET' };
    const preflight = await throughProxy('OPTIONS', CALLBACK, { headers: asked });
    expect(preflight).toMatchObject({ status: 204, text: '' });
    expect(preflight.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, HEAD, OPTIONS',
    });
    expect(preflight.headers['access-control-allow-credentials']).toBeUndefined();
  });

  test('HEAD makes no invoice', async () => {
    const count = async () =>
      (await ok('GET', '/v2/node/updated_payments?limit=100')).payments.length;
    const before = await count();
    const answer = await throughProxy('HEAD', `${CALLBACK}?amount=5000`);
    expect(answer).toMatchObject({ status: 200, text: '' });
    expect(await count()).toBe(before);
  });

  test('credentials and cookies are not read', async () => {
    for (const headers of [
      { authorization: 'Bearer made-up' },
      { authorization: 'nonsense' },
      { authorization: `Bearer ${owner()}`, cookie: `session=${owner()}` },
    ]) {
      const answer = await throughProxy('GET', TERMS, { headers });
      expect(JSON.parse(answer.text).tag).toBe('payRequest');
      expect(answer.headers['set-cookie']).toBeUndefined();
    }
  });

  test('another Host gets nothing, and a page gets nothing from this machine', async () => {
    for (const host of [
      'evil.example',
      `evil.example:${proxyPort}`,
      `x.${domain}`,
      'shop.example',
    ]) {
      expect((await throughProxy('GET', TERMS, { headers: { host } })).status).toBe(403);
    }
    const here = await call('GET', TERMS);
    expect(here.status).toBe(200);
    expect(here.headers.get('access-control-allow-origin')).toBeNull();
    const page = await call('GET', TERMS, { headers: { origin: 'https://evil.example' } });
    expect([page.status, page.body.code]).toEqual([403, 112]);
    expect((await call('OPTIONS', TERMS)).status).toBe(405);
  });
});

describe('a name', () => {
  test('belongs to the wallet: it goes on receiving when the client that claimed it is revoked', async () => {
    const { client_credentials: other } = await ok('POST', '/sandbox/wallets');
    const made = await ok('POST', '/v2/node/create_client', { scopes: ['manage_address'] }, other);
    const username = 'revoked-1';
    const claimed = made.client_credentials;
    await ok('PUT', '/v2/node/human_bitcoin_address', { username }, claimed);
    await ok('POST', '/v2/node/revoke_client', { client_pk: made.client_pk }, other);
    const { pr } = await ask(`/.well-known/lnurlp/${username}/callback?amount=7000`);
    await ok('POST', '/sandbox/pay', { payable: pr });
    const { payments } = await call('GET', '/v2/node/updated_payments', {
      credentials: other,
    }).then(({ body }) => body);
    expect(payments.at(-1)).toMatchObject({ status: 'completed', amount: '7' });
    const shown = await call('GET', '/v2/node/human_bitcoin_address', { credentials: other });
    expect(shown.body.lightning_address).toBe(`${username}@${domain}`);
  });
});
