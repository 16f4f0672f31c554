import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test';
import { createHash } from 'node:crypto';
import { decodeBolt11 } from '../../src/codecs/bolt11/index.ts';
import { type Body, expectError } from '../support/requests.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { CONFORMANCE_NODE, test } from './node-test.ts';
import { DIALECTS, type DialectName } from './paid-services.ts';
import { headersOf, openShop, proofFor } from './paywall-shop.ts';
import { type ConformanceWorld, openConformanceWorld } from './world.ts';

setDefaultTimeout(SLOW_TEST_MS);

let world: ConformanceWorld;
beforeAll(async () => {
  world = await openConformanceWorld();
});
afterAll(() => world.close());

const URL_SOLD = 'https://shop.example/report?day=1';
const REQUEST = { method: 'GET', url: URL_SOLD };
const NOTHING = { valid: false, index: null, payment_hash: null, receipt: [] };
const WAYS = { l402: 'authorization', payment: 'authorization', x402: 'payment-signature' };

const create = (change: object = {}, credentials = world.bob): Promise<Body> =>
  world.post(
    '/v2/node/create_paywall',
    { amount: '25', description: 'Report', request: REQUEST, ...change },
    credentials,
  );
const pay = async ({ invoice }: Body): Promise<string> =>
  (await world.post('/v2/node/pay_invoice', { invoice })).preimage;
const verify = (headers: object, change: object = {}, credentials = world.bob): Promise<Body> =>
  world.post('/v2/node/verify_paywall', { headers, request: REQUEST, ...change }, credentials);
const proofOf = (paywall: Body, dialect: DialectName, preimage: string) =>
  proofFor(paywall, { dialect, url: URL_SOLD, preimage });

/** Creates a paywall and pays it. */
async function bought(dialect: DialectName, change: object = {}) {
  const paywall = await create(change);
  const preimage = await pay(paywall);
  return { paywall, preimage, headers: proofOf(paywall, dialect, preimage) };
}

describe.each(DIALECTS)('a paywall that is paid by %s', (dialect) => {
  test(`is proven once, and told with its payment: ${dialect}`, async () => {
    const { paywall, headers } = await bought(dialect);
    const { paymentHash } = decodeBolt11(paywall.invoice);
    const proven = await verify(headers);
    const { index } = paywall;
    expect(proven).toMatchObject({ valid: true, index, payment_hash: paymentHash });
    expect(await verify(headers)).toEqual(NOTHING);
    const payment = await world.get('/v2/node/payment', { index }, world.bob);
    expect(payment).toMatchObject({ status: 'completed', amount: '25', description: 'Report' });
  });

  test(`is proven to one of several who ask side by side: ${dialect}`, async () => {
    const { headers } = await bought(dialect);
    const told = await Promise.all(Array.from({ length: 8 }, () => verify(headers)));
    expect(told.filter(({ valid }) => valid)).toHaveLength(1);
  });

  test(`is proven to nobody with the preimage of another payment: ${dialect}`, async () => {
    const [paid, other] = [await bought(dialect), await create()];
    expect(await verify(proofOf(other, dialect, paid.preimage))).toEqual(NOTHING);
    expect(await verify(proofOf(other, dialect, 'ab'.repeat(32)))).toEqual(NOTHING);
    expect((await verify(paid.headers)).valid).toBe(true);
  });

  test(`is good for the request that it was made for, and kept until that comes: ${dialect}`, async () => {
    const { headers } = await bought(dialect);
    for (const request of [
      { ...REQUEST, url: 'https://shop.example/dear' },
      { ...REQUEST, method: 'POST' },
      { ...REQUEST, body_hash: 'ab'.repeat(32) },
    ]) {
      expect(await verify(headers, { request })).toEqual(NOTHING);
    }
    expect(await verify(headers, { request: null, request_hash: 'cd'.repeat(32) })).toEqual(
      NOTHING,
    );
    const bare = await verify(headers, { request: null });
    expect(bare.valid).toBe(dialect !== 'x402');
    expect((await verify(headers)).valid).toBe(dialect === 'x402');
  });

  test(`is not proven to another wallet, nor to another client of the wallet: ${dialect}`, async () => {
    const { headers } = await bought(dialect);
    const { client_credentials } = await world.post(
      '/v2/node/create_client',
      { scopes: ['receive'] },
      world.bob,
    );
    expect(await verify(headers, {}, client_credentials)).toEqual(NOTHING);
    const other = await world.call('POST', '/v2/node/verify_paywall', {
      body: { headers, request: REQUEST },
    });
    expect(other.body).toEqual(NOTHING);
    expect((await verify(headers)).valid).toBe(true);
  });

  test(`is not proven by a challenge that somebody has changed: ${dialect}`, async () => {
    const { headers } = await bought(dialect);
    const name = WAYS[dialect];
    const [scheme = '', token = ''] = (headers[name] ?? '').split(/ (?!.* )/);
    const forged = [...token.matchAll(/./g)].map(({ index }) => {
      const other = token[index] === 'A' ? 'Q' : 'A';
      return `${scheme} ${token.slice(0, index)}${other}${token.slice(index + 1)}`.trim();
    });
    // Every place of a macaroon and its preimage; of the longer JSON, a sample.
    const step = Math.ceil(forged.length / 240);
    for (const value of forged.filter((_, at) => at % step === 0)) {
      const { valid } = await verify({ [name]: value });
      if (valid) throw new Error(`taken: ${value}`);
    }
    expect((await verify(headers)).valid).toBe(true);
  });
});

test('an answer of verify_paywall is told again to its Idempotency-Key, and to no other', async () => {
  const { headers } = await bought('payment');
  const ask = (key: string) =>
    world.call('POST', '/v2/node/verify_paywall', {
      body: { headers, request: REQUEST },
      headers: { 'idempotency-key': key },
      credentials: world.bob,
    });
  const first = await ask('buyer 1');
  expect(first.body.valid).toBe(true);
  await world.restart();
  expect((await ask('buyer 1')).body).toEqual(first.body);
  expect((await ask('buyer 2')).body).toEqual(NOTHING);
  expect(await verify(headers)).toEqual(NOTHING);
});

test('a proof is taken after a restart, and with the permission create_invoice alone', async () => {
  const { client_credentials } = await world.post(
    '/v2/node/create_client',
    { scopes: [], permissions: ['create_invoice'] },
    world.bob,
  );
  const paywall = await create({}, client_credentials);
  const headers = proofOf(paywall, 'l402', await pay(paywall));
  await world.restart();
  expect((await verify(headers, {}, client_credentials)).valid).toBe(true);
  const { client_credentials: reader } = await world.post(
    '/v2/node/create_client',
    { scopes: ['read_payments'] },
    world.bob,
  );
  for (const [path, body] of [
    ['create_paywall', { amount: '1', description: 'x' }],
    ['verify_paywall', { headers }],
  ] as const) {
    const answer = await world.call('POST', `/v2/node/${path}`, { body, credentials: reader });
    expectError(answer, 'forbidden');
    expect(answer.body.data).toEqual({ permission: 'create_invoice' });
  }
});

test('a repeat of create_paywall with its key makes no second invoice', async () => {
  const ask = () =>
    world.call('POST', '/v2/node/create_paywall', {
      body: { amount: '25', description: 'Report' },
      headers: { 'idempotency-key': 'paywall' },
      credentials: world.bob,
    });
  const first = await ask();
  expect(first.status).toBe(200);
  expect((await ask()).body).toEqual(first.body);
});

test('the invoice has the price and the expiry, and with a request its hash', async () => {
  const { invoice, challenges } = await create({ expiration_secs: 77 });
  const hash = createHash('sha256')
    .update(
      `{"bodyHash":"${createHash('sha256').digest('hex')}","domain":"x402:exact:lnbtc:bolt11:http:1","headers":[],"method":"GET","url":"${URL_SOLD}"}`,
    )
    .digest('hex');
  expect(decodeBolt11(invoice)).toMatchObject({
    amountMsat: 25_000n,
    expirySecs: 77,
    descriptionHash: hash,
  });
  expect(challenges.x402).toHaveLength(1);
  const any = await create({ request: null });
  expect(decodeBolt11(any.invoice)).toMatchObject({ description: 'Report', expirySecs: 3600 });
  expect(any.challenges.x402).toBeNull();
  const [value] = any.challenges.l402;
  expect(value).toMatch(/^WWW-Authenticate: L402 macaroon="[\w+/=]+", invoice="lnbcrt/);
  expect(headersOf(any.challenges.payment).get('cache-control')).toBe('no-store');
  const wrong = await world.call('POST', '/v2/node/create_paywall', {
    body: { amount: '1', description: 'x', request: REQUEST, request_hash: 'ab'.repeat(32) },
  });
  expectError(wrong, 'rejected', /^request_hash: must be the hash of the request/);
});

test('the hash of a request alone binds the proof as well', async () => {
  const { paywall, headers } = await bought('l402', {
    request: null,
    request_hash: 'ab'.repeat(32),
  });
  expect(paywall.challenges.x402).toBeNull();
  expect(await verify(headers)).toEqual(NOTHING);
  const same = { request: null, request_hash: 'ab'.repeat(32) };
  expect((await verify(headers, same)).valid).toBe(true);
});

if (CONFORMANCE_NODE === 'cln') {
  test('Core Lightning needs the request itself', async () => {
    const body = { amount: '1', description: 'x', request_hash: 'ab'.repeat(32) };
    const answer = await world.call('POST', '/v2/node/create_paywall', { body });
    expectError(answer, 'unsupported', /`request` of a paywall/);
  });
}

test('a price with parts of a satoshi is asked without the scheme that has none', async () => {
  const { challenges } = await create({ amount: '0.5' });
  expect(challenges).toMatchObject({ payment: null, l402: [expect.anything()] });
  expect(challenges.x402).toHaveLength(1);
});

test('an invoice that has expired proves nothing', async () => {
  const paywall = await create({ expiration_secs: 1 });
  const { index } = paywall;
  const status = async () => (await world.get('/v2/node/payment', { index }, world.bob)).status_msg;
  await until(async () => (await status()) === 'expired', 'it has expired');
  expect(await verify(proofOf(paywall, 'l402', 'ab'.repeat(32)))).toEqual(NOTHING);
});

test('headers may have names in any case and lists of values; the proof among others is found', async () => {
  const { headers } = await bought('l402');
  const [proof = ''] = Object.values(headers);
  const lsat = proof.replace('L402', 'lsat');
  const given = { Cookie: 'a=b', AUTHORIZATION: ['Bearer x', 'Basic eA==', lsat], __proto__x: [] };
  const answer = await world.call('POST', '/v2/node/verify_paywall', {
    body: { headers: given },
    credentials: world.bob,
  });
  expect(answer.body.valid).toBe(true);
  expect(answer.headers.get('x-ignored-fields')).toBeNull();
});

test('headers that are no proof prove nothing, whatever they hold', async () => {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const hostile = [
    ...['', 'L402', 'L402 :', `L402 ${'A'.repeat(60)}:${'a'.repeat(64)}`, 'Payment', 'Payment e30'],
    ...['null', '[]', '{"challenge":null}', '{"challenge":{"id":{}},"payload":[]}'].map(
      (json) => `Payment ${Buffer.from(json).toString('base64url')}`,
    ),
    `Payment ${base64('['.repeat(9000)).replace(/=/g, '')}`,
    `L402 ${'A'.repeat(200_000)}:${'a'.repeat(64)}`,
  ];
  for (const authorization of hostile) {
    expect(await verify({ authorization })).toEqual(NOTHING);
  }
  for (const json of ['null', '{"accepted":{"extra":{"invoice":[],"id":""}}}', '{"accepted":1}']) {
    expect(await verify({ 'Payment-Signature': base64(json) })).toEqual(NOTHING);
  }
  expect(await verify({})).toEqual(NOTHING);
  for (const headers of [undefined, [], 'x', { authorization: 1 }, { a: [1] }]) {
    const answer = await world.call('POST', '/v2/node/verify_paywall', { body: { headers } });
    expectError(answer, 'rejected', /headers/);
  }
  for (const url of [
    '/report',
    'ftp://a.example/',
    'https://u:p@a.example/',
    'https://a/#b',
    'x',
  ]) {
    const body = { amount: '1', description: 'x', request: { url } };
    const answer = await world.call('POST', '/v2/node/create_paywall', { body });
    expectError(answer, 'rejected', /request\.url: must be an absolute/);
  }
});

if (CONFORMANCE_NODE === 'sandbox') {
  // The shop is on this machine, where a sidecar of a real node asks nobody.
  describe.each([...DIALECTS, DIALECTS.join(' ')])('a shop that asks by %s', (ways) => {
    test(`sells to fetch, once for each payment: ${ways}`, async () => {
      const shop = openShop(world, ways.split(' ') as DialectName[]);
      const get = (key: string) =>
        world.call('POST', '/v2/node/fetch', {
          body: { url: `${shop.url}/report?x=ä`, method: 'POST', body: 'ü', max_cost: '100' },
          headers: { 'idempotency-key': `${ways} ${key}` },
        });
      const first = await get('1');
      expect(first.body).toMatchObject({
        status: 200,
        body: 'the resource /report',
        payment: { status: 'completed', amount: '25' },
      });
      const { invoice, index } = shop.paywalls[0];
      expect(first.body.payment.invoice).toBe(invoice);
      expect(shop.verified[0]).toMatchObject({ valid: true, index });
      expect((await get('2')).body.payment.amount).toBe('25');
      expect(shop.verified.filter(({ valid }) => valid)).toHaveLength(2);
      shop.stop();
    });
  });
}
