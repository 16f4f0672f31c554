import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { type Body, expectError } from '../support/requests.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { sandboxTest } from './node-test.ts';
import { type Behaviour, DIALECTS, openPaidService, type PaidService } from './paid-services.ts';
import { type ConformanceWorld, openConformanceWorld } from './world.ts';

setDefaultTimeout(SLOW_TEST_MS);

let world: ConformanceWorld;
let keys = 0;
beforeAll(async () => {
  world = await openConformanceWorld();
});
afterAll(() => world.close());

const newKey = () => `fetch ${keys++}`;
const get = (url: string, body: object = {}, key = newKey(), credentials?: string) =>
  world.call('POST', '/v2/node/fetch', {
    body: { url, max_cost: '100', ...body },
    headers: { 'idempotency-key': key },
    credentials,
  });
const balance = async (): Promise<number> =>
  Number((await world.get('/v2/node/node_info')).lightning_balance);
const statusOf = async (invoice: string): Promise<string> =>
  (await world.call('POST', '/v2/node/pay_invoice', { body: { invoice } })).body.status;

describe.each(DIALECTS)('a resource that asks for payment by %s', (dialect) => {
  let service: PaidService;
  beforeAll(() => {
    service = openPaidService(world, dialect);
  });
  afterEach(() => {
    service.behaviour = {};
    service.requests.length = 0;
    service.invoices.length = 0;
  });
  afterAll(() => service.stop());

  const behaving = (behaviour: Behaviour) => {
    service.behaviour = behaviour;
  };

  sandboxTest(`is paid and given, and named by its URL without query: ${dialect}`, async () => {
    const { status, body } = await get(`${service.url}/report?x=1`, { method: 'POST', body: 'ä' });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      status: 200,
      body: 'the resource /report',
      body_encoding: 'text',
      payment: { status: 'completed', amount: '25', direction: 'outbound' },
    });
    expect(body.payment.personal_note).toBe(`${service.url}/report`);
    expect(service.requests.map(({ proof }) => proof !== null)).toEqual([false, true]);
  });

  sandboxTest(`is paid once for a key, and a repeat has the same answer: ${dialect}`, async () => {
    const key = newKey();
    const first = await get(`${service.url}/once-${key.length}-${dialect}-new`, {}, key);
    const asked = service.requests.length;
    expect((await get(`${service.url}/once-${key.length}-${dialect}-new`, {}, key)).body).toEqual(
      first.body,
    );
    expect(service.requests).toHaveLength(asked);
    expectError(await get(`${service.url}/other`, {}, key), 'idempotencyConflict');
  });

  sandboxTest(
    `that fails after payment is told as paid, and a repeat pays nothing more: ${dialect}`,
    async () => {
      // A token of an earlier request must not take the place of the payment.
      const credentials = (await world.post('/v2/node/create_client', { scopes: ['full'] }))
        .client_credentials;
      for (const status of [500, 402, 401]) {
        const key = newKey();
        behaving({ paid: () => new Response('broken', { status }) });
        const broken = await get(`${service.url}/late-${status}`, {}, key, credentials);
        expectError(broken, 'serviceFailed', /was paid/);
        expect(broken.body.data).toMatchObject({ sent: 'yes', index: expect.any(String) });
        const before = await balance();
        const invoices = service.invoices.length;
        expectError(
          await get(`${service.url}/late-${status}`, {}, key, credentials),
          'serviceFailed',
        );
        behaving({});
        const { body } = await get(`${service.url}/late-${status}`, {}, key, credentials);
        expect(body).toMatchObject({
          body: `the resource /late-${status}`,
          payment: { index: broken.body.data.index },
        });
        expect(await balance()).toBe(before);
        expect(service.invoices).toHaveLength(invoices);
      }
    },
  );

  sandboxTest(`is not paid beyond max_cost, fees included: ${dialect}`, async () => {
    const url = `${service.url}/dear`;
    const credentials = (await world.post('/v2/node/create_client', { scopes: ['full'] }))
      .client_credentials;
    const before = await balance();
    const dear = await get(url, { max_cost: '24.999' }, newKey(), credentials);
    expectError(dear, 'refused', /max_cost/);
    expect(dear.body.data.sent).toBe('no');
    const tight = await get(url, { max_cost: '25' }, newKey(), credentials);
    // Fees have no room, so it depends on the way whether it is paid; never more than the bound.
    expect([200, 400]).toContain(tight.status);
    expect(before - (await balance())).toBeLessThanOrEqual(25);
  });

  sandboxTest(`is not paid beyond the budget: ${dialect}`, async () => {
    const budget = { amount: '30', period: 'total' };
    const { client_credentials } = await world.post('/v2/node/create_client', {
      scopes: ['send'],
      budget,
    });
    const refused = await get(`${service.url}/b`, {}, newKey(), client_credentials);
    expectError(refused, 'overBudget');
    expect(refused.body.data.sent).toBe('no');
    const room = await get(`${service.url}/b`, { max_cost: '29' }, newKey(), client_credentials);
    expect(room.body.payment.status).toBe('completed');
  });
});

describe('a service that contradicts itself is not paid', () => {
  const foreign = { invoice: 'lnbcrt1nonsense' };
  const rows: readonly [
    (typeof DIALECTS)[number],
    string,
    () => Promise<Behaviour['challenge']>,
  ][] = [
    ['l402', 'a token for another invoice', async () => ({ tokenHash: '11'.repeat(32) })],
    ['l402', 'an invoice that cannot be read', async () => foreign],
    ['payment', 'another amount than its invoice', async () => ({ sats: '24' })],
    [
      'payment',
      'another payment hash than its invoice',
      async () => ({ hashSaid: '22'.repeat(32) }),
    ],
    ['payment', 'another network', async () => ({ network: 'mainnet' })],
    ['payment', 'an invoice that cannot be read', async () => foreign],
    ['x402', 'another amount than its invoice', async () => ({ msat: '24000' })],
    [
      'x402',
      'another network',
      async () => ({ network: 'lnbtc:000000000019d6689c085ae165831e93' }),
    ],
    ['x402', 'another receiver', async () => ({ payTo: `02${'33'.repeat(32)}` })],
    ['x402', 'another resource', async () => ({ url: 'http://127.0.0.1/other' })],
    ['x402', 'another request', async () => ({ hash: '44'.repeat(32) })],
    [
      'x402',
      'an invoice for another request',
      async () => ({
        invoice: (
          await world.post(
            '/v2/node/create_invoice',
            { amount: '25', expiration_secs: 300, description_hash: '55'.repeat(32) },
            world.bob,
          )
        ).invoice,
      }),
    ],
  ];
  for (const [dialect, what, challenge] of rows) {
    sandboxTest(`${dialect}: ${what}`, async () => {
      const service = openPaidService(world, dialect);
      const before = await balance();
      service.behaviour = { challenge: (await challenge()) ?? {} };
      const answer = await get(`${service.url}/x`);
      expectError(answer, 'serviceFailed', /Nothing was paid|no way/);
      expect(answer.body.data.sent).toBe('no');
      expect(await balance()).toBe(before);
      service.stop();
    });
  }
});

sandboxTest('a token that was paid for by L402 is used again, until it is refused', async () => {
  const service = openPaidService(world, 'l402');
  const first = await get(`${service.url}/one`);
  expect(first.body.payment.amount).toBe('25');
  const second = await get(`${service.url}/two`);
  expect(second.body).toMatchObject({ body: 'the resource /two', payment: null });
  const { client_credentials } = await world.post('/v2/node/create_client', { scopes: ['full'] });
  const other = await get(`${service.url}/three`, {}, newKey(), client_credentials);
  expect(other.body.payment.amount).toBe('25');
  await world.restart();
  service.requests.length = 0;
  expect((await get(`${service.url}/four`)).body.payment).toBeNull();
  service.behaviour = { paid: () => new Response('no more', { status: 401 }) };
  const again = await get(`${service.url}/five`);
  expectError(again, 'serviceFailed', /was paid/);
  service.stop();
});

sandboxTest(
  'a resource that asks for nothing is given as it is: text, bytes, errors, redirects',
  async () => {
    const free = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch(request) {
        const { pathname } = new URL(request.url);
        if (pathname === '/bytes') return new Response(Uint8Array.of(255, 254, 0));
        if (pathname === '/moved') {
          return new Response(null, { status: 302, headers: { location: 'http://127.0.0.1:1/' } });
        }
        if (pathname === '/large') return new Response('x'.repeat(300 * 1024));
        if (pathname === '/echo') return Response.json(Object.fromEntries(request.headers));
        return new Response('nothing here', { status: 404 });
      },
    });
    const url = `http://127.0.0.1:${free.port}`;
    expect((await get(`${url}/bytes`)).body).toMatchObject({
      body: '//4A',
      body_encoding: 'base64',
      payment: null,
    });
    expect((await get(`${url}/moved`)).body).toMatchObject({
      status: 302,
      headers: { location: 'http://127.0.0.1:1/' },
    });
    expect((await get(`${url}/none`)).body).toMatchObject({ status: 404, body: 'nothing here' });
    expectError(await get(`${url}/large`), 'serviceFailed', /larger than 256 KiB/);
    const echoed: Body = JSON.parse(
      (await get(`${url}/echo`, { headers: { 'X-A': 'b' } })).body.body,
    );
    expect(echoed).toMatchObject({ 'x-a': 'b' });
    expect(Object.keys(echoed)).not.toContain('authorization');
    free.stop(true);
  },
);

sandboxTest(
  'a request without a key, to a private place, or with headers of the connection is refused',
  async () => {
    const keyless = { body: { url: 'https://api.example/', max_cost: '1' } };
    const rejected = await world.call('POST', '/v2/node/fetch', keyless);
    expectError(rejected, 'rejected', /Idempotency-Key/);
    expect(rejected.body.data.sent).toBe('no');
    for (const url of [
      'http://example.com/',
      'https://10.0.0.1/',
      'ftp://example.com/',
      'nothing',
    ]) {
      const answer = await get(url);
      expect([7, 113]).toContain(answer.body.code);
      expect(answer.body.data.sent).toBe('no');
    }
    for (const name of ['Host', 'content-length', 'payment-signature', 'bad name']) {
      expectError(await get('https://api.example/', { headers: { [name]: '1' } }), 'rejected');
    }
  },
);

sandboxTest(
  'a wait that Prefer ends leaves one request running, which a repeat joins',
  async () => {
    const service = openPaidService(world, 'payment');
    const slow = Promise.withResolvers<void>();
    service.behaviour = { before: () => slow.promise };
    const key = newKey();
    const call = (prefer: string) =>
      world.call('POST', '/v2/node/fetch', {
        body: { url: `${service.url}/slow`, max_cost: '100' },
        headers: { 'idempotency-key': key, prefer },
      });
    const before = await balance();
    for (const prefer of ['wait=1', 'respond-async']) {
      const late = await call(prefer);
      expectError(late, 'timeout', /goes on/);
      expect(late.body.data).toEqual({ sent: 'unknown' });
    }
    const joined = call('wait=60');
    slow.resolve();
    expect((await joined).body).toMatchObject({ status: 200, payment: { amount: '25' } });
    expect(service.invoices).toHaveLength(1);
    const { fees } = (await call('wait=60')).body.payment;
    expect(before - (await balance())).toBeCloseTo(25 + Number(fees), 3);
    service.stop();
  },
);

sandboxTest('an invoice that the wallet has paid before proves nothing to a service', async () => {
  const { invoice, payment_hash } = await world.post(
    '/v2/node/create_invoice',
    { amount: '25', expiration_secs: 300 },
    world.bob,
  );
  expect(await statusOf(invoice)).toBe('completed');
  const service = openPaidService(world, 'l402');
  service.behaviour = { challenge: { invoice, tokenHash: payment_hash } };
  const answer = await get(`${service.url}/oracle`);
  expectError(answer, 'refused', /told nothing/);
  expect(answer.body.data.sent).toBe('no');
  expect(service.requests.map(({ proof }) => proof)).toEqual([null]);
  service.stop();
});

sandboxTest('an answer that switches protocols is no answer', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
    );
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  expectError(await get(`http://127.0.0.1:${port}/`), 'serviceFailed', /cannot be reached/);
  server.close();
});

sandboxTest('the sidecar itself is not reached, under whatever name', async () => {
  const before = await balance();
  const { invoice } = await world.post('/sandbox/invoice', { amount: '10' });
  for (const host of ['127.0.0.1', 'localhost', '[::1]']) {
    for (const headers of [{}, { 'Sec-Fetch-Site': 'none' }]) {
      const body = JSON.stringify({ invoice });
      const given = { headers: { 'content-type': 'application/json', ...headers }, body };
      const url = `http://${host}:${world.port}/v2/node/pay_invoice`;
      const answer = await get(url, { method: 'POST', ...given });
      if (answer.status === 200) expect(answer.body).toMatchObject({ status: 403, payment: null });
      else expect([7, 113]).toContain(answer.body.code);
    }
  }
  expect(await balance()).toBe(before);
});

sandboxTest(
  'an invoice that was paid for a resource is not paid again by another way',
  async () => {
    const service = openPaidService(world, 'payment');
    await get(`${service.url}/x`);
    const before = await balance();
    expect(await statusOf(service.invoices[0] ?? '')).toBe('completed');
    expect(await balance()).toBe(before);
    service.stop();
  },
);

sandboxTest(
  'the note of a payment for a resource is that of the caller, where there is one',
  async () => {
    const service = openPaidService(world, 'payment');
    const { payment } = (await get(`${service.url}/report`, { personal_note: 'for Ana' })).body;
    expect(payment.personal_note).toBe('for Ana');
    service.stop();
  },
);
