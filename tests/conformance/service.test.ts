import { afterAll, beforeAll, describe, expect } from 'bun:test';
import { request } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { ROUTES, SANDBOX_ROUTES } from '../../src/http/routes/index.ts';
import { test } from './node-test.ts';
import { type Body, expectError } from './request.ts';
import { type ConformanceWorld, openConformanceWorld } from './world.ts';

let world: ConformanceWorld;
const received: { headers: Headers; body: string }[] = [];
let answerWith = 200;
const receiver = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(incoming) {
    received.push({ headers: incoming.headers, body: await incoming.text() });
    return new Response(null, { status: answerWith });
  },
});
const SECRET = Buffer.alloc(32, 9).toString('base64');

beforeAll(async () => {
  process.env.SERVICE_WEBHOOK_SECRET = `whsec_${SECRET}`;
  world = await openConformanceWorld(receiver.url.href);
});
afterAll(async () => {
  delete process.env.SERVICE_WEBHOOK_SECRET;
  await world.close();
  await receiver.stop(true);
});

describe('health and errors', () => {
  test('health is 200 and ok', async () => {
    expect(await world.get('/v2/health')).toEqual({ status: 'ok' });
  });

  test('an unknown path is 404 with code 107, a wrong method 405 with code 7', async () => {
    expectError(await world.call('GET', '/v2/node/nothing'), 'notFound');
    expectError(await world.call('GET', '/'), 'notFound');
    expectError(
      await world.call('POST', '/v2/node/node_info', { body: {} }),
      'rejected',
      /POST/,
      405,
    );
    expectError(await world.call('DELETE', '/v2/node/pay'), 'rejected', /DELETE/, 405);
  });

  test('malformed JSON, other content types, other JSON than objects and bodies over 256 KiB are refused', async () => {
    const post = (rawBody: string, headers = {}) =>
      world.call('POST', '/v2/node/create_invoice', { rawBody, headers });
    expectError(await post('{'), 'rejected', /JSON/);
    expectError(
      await post('{}', { 'content-type': 'text/plain' }),
      'rejected',
      /application\/json/,
      415,
    );
    expectError(
      await post('a=b', { 'content-type': 'application/x-www-form-urlencoded' }),
      'rejected',
      /json/,
      415,
    );
    for (const raw of ['[]', '"x"', '1', 'null']) expectError(await post(raw), 'rejected');
    expectError(
      await post(JSON.stringify({ description: 'x'.repeat(262_200) })),
      'rejected',
      /256 KiB/,
      413,
    );
    expect((await post('{}', { 'content-type': 'application/json; charset=utf-8' })).status).toBe(
      200,
    );
  });

  test('data of a rejected request names path and message of each issue', async () => {
    const answer = await world.call('POST', '/v2/node/create_invoice', {
      body: { amount: 'x', expiration_secs: 0 },
    });
    expect(answer.body.data.issues.map(({ path }: Body) => path).toSorted()).toEqual([
      'amount',
      'expiration_secs',
    ]);
  });

  test('a foreign Host, Origin or Sec-Fetch-Site is error 112, and no CORS header is ever sent', async () => {
    for (const headers of [
      { host: 'evil.example' },
      { host: `127.0.0.1.evil.example:${world.port}` },
    ]) {
      expect(await rawStatus(headers)).toBe(403);
    }
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ]) {
      const answer = await world.call('GET', '/v2/node/node_info', { headers });
      expectError(answer, 'hostNotAllowed');
      expect(
        [...answer.headers.keys()].filter((name) => name.startsWith('access-control')),
      ).toEqual([]);
    }
    const own = await world.call('GET', '/v2/node/node_info', {
      headers: { origin: world.baseUrl, 'sec-fetch-site': 'same-origin' },
    });
    expect(own.status).toBe(200);
  });

  test('the log names each refused request by an id and shows no secret', async () => {
    await world.call('GET', '/v2/node/node_info', { credentials: 'not-a-credential-marker' });
    const log = world.sidecar().log();
    expect(log).toMatch(/request_id=[0-9a-f]{6}-\d+/);
    expect(log).not.toContain('not-a-credential-marker');
    expect(log).not.toContain(world.bob);
    expect(log).not.toContain(SECRET);
  });
});

describe('webhooks', () => {
  test('a finalized payment is posted with the Payment, type, timestamp and user_pk, and its signature verifies', async () => {
    const made = await world.post('/v2/node/create_invoice', { amount: '5' });
    const paid = await world.post('/v2/node/pay_invoice', { invoice: made.invoice }, world.bob);
    const inbound = await notice(made.index, 'inbound');
    const payload = new Webhook(SECRET).verify(
      inbound.body,
      Object.fromEntries(inbound.headers),
    ) as Body;
    const { user_pk } = await world.get('/v2/node/node_info');
    expect(payload).toMatchObject({
      type: 'payment.finalized',
      user_pk,
      status: 'completed',
      amount: '5',
    });
    expect(new Date(payload.timestamp).toISOString()).toBe(payload.timestamp);
    const { type, timestamp, user_pk: _, ...payment } = payload;
    expect(payment).toEqual(await world.get('/v2/node/payment', { index: made.index }));
    expect([type, typeof timestamp]).toEqual(['payment.finalized', 'string']);
    const outbound = JSON.parse((await notice(paid.index, 'outbound')).body);
    expect(outbound.user_pk).not.toBe(user_pk);
  });

  test('payments on offers, addresses and names issued here are announced too, failures as well', async () => {
    const { offer } = await world.post('/v2/node/create_offer');
    const sent = await world.post('/v2/node/pay_offer', { offer, amount: '3' }, world.bob);
    await until(() =>
      received.some(({ body }) => body.includes(sent.hash) && body.includes('inbound')),
    );
    const { address } = await world.post('/v2/node/get_next_unused_address');
    await world.post('/sandbox/pay', { payable: address, amount: '4000' });
    await world.post('/sandbox/blocks', { count: 6 });
    await until(() =>
      received.some(({ body }) => body.includes(address) && body.includes('completed')),
    );
    await world.put('/v2/node/human_bitcoin_address', { username: 'hookname' });
    const named = await world.post(
      '/v2/node/pay',
      { payable: `hookname@127.0.0.1:${world.port}`, amount: '6' },
      world.bob,
    );
    await notice(named.index.slice(20), 'inbound');
    const expiring = await world.post('/v2/node/create_invoice', {
      amount: '1',
      expiration_secs: 30,
    });
    await world.post('/sandbox/clock', { advance_secs: 31 });
    expect(JSON.parse((await notice(expiring.index, 'inbound')).body)).toMatchObject({
      status: 'failed',
      status_msg: 'expired',
    });
  });

  test('a receiver that fails is tried again with the same id, and the log tells how it stands', async () => {
    answerWith = 500;
    const made = await world.post('/v2/node/create_invoice', { amount: '2' });
    await world.post('/v2/node/cancel_payment', { index: made.index });
    const first = await notice(made.index, 'inbound');
    await until(async () => (await delivery(made.index))?.attempts === 1);
    expect(await delivery(made.index)).toMatchObject({
      state: 'pending',
      last_error: 'answered 500',
    });
    answerWith = 200;
    await until(async () => (await delivery(made.index))?.state === 'delivered');
    const ids = received
      .filter(({ body }) => body.includes(made.index))
      .map(({ headers }) => headers.get('webhook-id'));
    expect(new Set(ids).size).toBe(1);
    const again = await world.post('/v2/webhooks/redeliver', {
      id: first.headers.get('webhook-id'),
    });
    expect(again).toEqual({ redelivered: 1 });
    await until(() => received.filter(({ body }) => body.includes(made.index)).length > ids.length);
    expectError(
      await world.call('POST', '/v2/webhooks/redeliver', { body: { id: 'msg_none' } }),
      'notFound',
    );
    expectError(await world.call('POST', '/v2/webhooks/redeliver', { body: {} }), 'rejected');
    expect(
      (await world.get('/v2/webhooks/deliveries', {}, world.bob)).deliveries.map(
        ({ index }: Body) => index,
      ),
    ).not.toContain(made.index);
  });
});

describe('idempotency keys', () => {
  const once = (key: string, body: object, path = '/v2/node/create_invoice') =>
    world.call('POST', path, { body, headers: { 'idempotency-key': key } });

  test('the same key and request give the first outcome again; another request is error 111', async () => {
    const first = await once('key-1', { amount: '5' });
    expect((await once('key-1', { amount: '5' })).body).toEqual(first.body);
    expectError(await once('key-1', { amount: '6' }), 'idempotencyConflict');
    expectError(await once('key-1', {}, '/v2/node/create_offer'), 'idempotencyConflict');
    const other = await world.call('POST', '/v2/node/create_invoice', {
      body: { amount: '5' },
      headers: { 'idempotency-key': 'key-1' },
      credentials: world.bob,
    });
    expect(other.body.index).not.toBe(first.body.index);
  });

  test('holds while the first is still running, and for a payment to an offer that could be paid again', async () => {
    const { offer } = await world.post('/sandbox/offer', {});
    const before = Number((await world.get('/v2/node/node_info')).balance);
    const all = await Promise.all(
      Array.from({ length: 6 }, () =>
        once('key-2', { offer, amount: '100' }, '/v2/node/pay_offer'),
      ),
    );
    expect(new Set(all.map(({ body }) => body.index)).size).toBe(1);
    expect(Number((await world.get('/v2/node/node_info')).balance)).toBe(
      before - 100 - Number(all[0]?.body.fees),
    );
  });

  test('an error before anything was sent may be tried again with the same key', async () => {
    const body = { address: 'bcrt1qq', amount: '5' };
    expectError(await once('key-3', body, '/v2/node/pay_onchain'), 'rejected');
    expectError(await once('key-3', body, '/v2/node/pay_onchain'), 'rejected');
    expect((await once('key-3', { amount: '7' })).status).toBe(200);
  });

  test('keys are 1 to 255 printable characters', async () => {
    expectError(await once('x'.repeat(256), { amount: '5' }), 'rejected', /Idempotency-Key/);
    expect((await once('x'.repeat(255), { amount: '5' })).status).toBe(200);
  });

  test('outcomes and everything else are found after a restart, and a held payment is still waited for', async () => {
    const first = await once('key-4', { amount: '9' });
    const { invoice, payment_hash } = await world.post('/sandbox/invoice', {
      amount: '90',
      behavior: 'hold',
    });
    const begun = world
      .call('POST', '/v2/node/pay_invoice', {
        body: { invoice },
        headers: { 'idempotency-key': 'key-5' },
      })
      .catch(() => null);
    await Bun.sleep(150);
    const info = await world.get('/v2/node/node_info');
    await world.restart();
    expectError(
      (await begun) ?? {
        status: 503,
        headers: new Headers(),
        body: { code: 8, msg: 'x', data: null, sensitive: false },
      },
      'overCapacity',
    );
    expect(await world.get('/v2/node/node_info')).toEqual(info);
    expect((await once('key-4', { amount: '9' })).body).toEqual(first.body);
    const resumed = once('key-5', { invoice }, '/v2/node/pay_invoice');
    await Bun.sleep(100);
    await world.post('/sandbox/holds', { payment_hash, settle: true });
    expect((await resumed).body).toMatchObject({ status: 'completed', hash: payment_hash });
    await until(() => received.some(({ body }) => body.includes(payment_hash)));
  });
});

test('a stop ends waits with error 8 and Retry-After', async () => {
  const { index } = await world.post('/v2/node/create_invoice', { amount: '1' });
  const waiting = world.call('GET', '/v2/node/wait_for_payment', { query: { index } });
  await Bun.sleep(100);
  await world.restart();
  const answer = await waiting;
  expectError(answer, 'overCapacity');
  expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
});

test('the documentation is served, and lists every endpoint', async () => {
  const document = await world.get('/v2/openapi.json');
  expect(document.openapi).toBe('3.1.0');
  for (const route of [...ROUTES, ...SANDBOX_ROUTES]) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    expect(document.paths[path]?.[route.method]?.summary).toBe(route.summary);
  }
  const page = await fetch(`${world.baseUrl}/docs`);
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(await page.text()).toContain('/v2/node/pay_offer');
});

test('every example of the documentation fits its schemas', () => {
  for (const route of [...ROUTES, ...SANDBOX_ROUTES]) {
    if (!route.path.includes('lnurl')) route.response.parse(route.example.response);
    if (route.query && route.example.query) route.query.parse(route.example.query);
    if (route.body) route.body.parse(route.example.body ?? {});
  }
});

async function notice(index: string, direction: string) {
  const find = () =>
    received.find(
      ({ body }) => body.includes(index) && body.includes(`"direction":"${direction}"`),
    );
  await until(() => find() !== undefined);
  return find() ?? { headers: new Headers(), body: '' };
}

async function delivery(index: string): Promise<Body> {
  const { deliveries } = await world.get('/v2/webhooks/deliveries', { limit: '500' });
  return deliveries.find((one: Body) => one.index === index);
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let round = 0; round < 500; round++) {
    if (await holds()) return;
    await Bun.sleep(20);
  }
  throw new Error('it did not happen within 10 seconds');
}

/** fetch does not send another Host header. */
function rawStatus(headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    request(
      { host: '127.0.0.1', port: world.port, path: '/v2/node/node_info', headers },
      (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      },
    )
      .on('error', reject)
      .end();
  });
}
