import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test';
import { createHash, randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { type Body, expectError } from '../support/requests.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { test } from './node-test.ts';
import { openWebhookWorld, type WebhookWorld } from './webhook-world.ts';
import type { ConformanceWorld } from './world.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** A receiver that tests answer for. */
interface Receiver {
  readonly url: string;
  readonly received: { readonly headers: Record<string, string>; readonly body: string }[];
  answer: () => Response | Promise<Response>;
  stop(): Promise<void>;
}

let hooks: WebhookWorld;
let world: ConformanceWorld;
const receivers: Receiver[] = [];
beforeAll(async () => {
  hooks = await openWebhookWorld();
  world = hooks.world;
});
afterAll(async () => {
  for (const receiver of receivers) await receiver.stop();
  await hooks.close();
});

function openReceiver(): Receiver {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      receiver.received.push({
        headers: Object.fromEntries(request.headers),
        body: await request.text(),
      });
      return receiver.answer();
    },
  });
  const receiver: Receiver = {
    url: `http://127.0.0.1:${server.port}/hook`,
    received: [],
    answer: () => new Response('taken'),
    stop: () => server.stop(true),
  };
  receivers.push(receiver);
  return receiver;
}

const add = (body: Body): Promise<Body> => world.post('/v2/webhooks/endpoints', body);
const remove = (id: string) => world.post('/v2/webhooks/endpoints/delete', { id });
const list = async (): Promise<Body[]> => (await world.get('/v2/webhooks/endpoints')).endpoints;

/** Makes an invoice fail, which is an event on every kind of node. Returns the payment's index. */
async function cancelInvoice(credentials?: string): Promise<string> {
  const { index } = await world.post('/v2/node/create_invoice', { amount: '2' }, credentials);
  await world.post('/v2/node/cancel_payment', { index }, credentials);
  return index;
}

const heardBy = (receiver: Receiver, index: string) =>
  receiver.received.find(({ body }) => body.includes(index));

describe('webhook endpoints', () => {
  test('two endpoints of one receiver have secrets of their own, so that a secret can be changed without a gap', async () => {
    const receiver = openReceiver();
    const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
    const old = await add({ url: receiver.url, secret, description: 'old' });
    expect(old).toMatchObject({ url: receiver.url, secret, signed: true, expires_at: null });
    const fresh = await add({ url: receiver.url });
    expect(fresh.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const index = await cancelInvoice();
    await until(() => receiver.received.length === 2);
    const signedBy = ({ secret: key }: Body) =>
      receiver.received.filter(({ headers, body }) => {
        try {
          new Webhook(key).verify(body, headers);
          return true;
        } catch {
          return false;
        }
      });
    expect([signedBy(old).length, signedBy(fresh).length]).toEqual([1, 1]);
    const configured = await hooks.notice(index, 'inbound');
    const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
    expect(new Set([...ids, configured.headers.get('webhook-id')]).size).toBe(1);
    await remove(old.id);
    const next = await cancelInvoice();
    await until(() => heardBy(receiver, next));
    expect(signedBy(fresh)).toHaveLength(2);
    expect(receiver.received).toHaveLength(3);
    await remove(fresh.id);
  });

  test('are listed without their secrets, the configured one first, which cannot be deleted or renewed', async () => {
    const made = await add({ url: 'https://shop.example/hook', events: ['payment.held'] });
    const [configured, ...others] = await list();
    expect(configured).toMatchObject({
      id: 'configured',
      url: expect.stringContaining(hooks.receiverHost),
      signed: true,
      created_at: null,
    });
    const { secret, ...shown } = made;
    expect(others).toContainEqual(shown);
    const text = JSON.stringify([configured, ...others]);
    expect([text.includes(secret.slice(6)), text.includes(hooks.secret)]).toEqual([false, false]);
    expect(world.sidecar().log()).not.toContain(secret.slice(6));
    for (const verb of ['delete', 'renew']) {
      const body = { id: 'configured', lease_secs: 60 };
      const answer = await world.call('POST', `/v2/webhooks/endpoints/${verb}`, { body });
      expectError(answer, 'rejected', /--webhook-url/);
    }
    await remove(made.id);
    expect(await list()).toHaveLength(1);
    for (const verb of ['delete', 'renew', 'test']) {
      const body = { id: made.id, lease_secs: 60 };
      const answer = await world.call('POST', `/v2/webhooks/endpoints/${verb}`, { body });
      expectError(answer, 'notFound', /endpoint not found/);
    }
  });

  test('hear of the events that they name', async () => {
    const [all, held] = [openReceiver(), openReceiver()];
    const ids = [
      await add({ url: all.url, events: ['payment.finalized', 'payment.held'] }),
      await add({ url: held.url, events: ['payment.held'] }),
    ];
    const index = await cancelInvoice();
    await until(() => heardBy(all, index));
    const { deliveries } = await world.get('/v2/webhooks/deliveries', { limit: '500' });
    const of = deliveries.filter((one: Body) => one.index === index);
    expect(of.map(({ endpoint }: Body) => endpoint).toSorted()).toEqual(
      ['configured', ids[0]?.id].toSorted(),
    );
    expect(held.received).toEqual([]);
    for (const { id } of ids) await remove(id);
  });

  test('get payment.held where they ask for it, and --webhook-url only with --webhook-events', async () => {
    const preimage = randomBytes(32);
    const payment_hash = createHash('sha256').update(preimage).digest('hex');
    const receiver = openReceiver();
    const { id } = await add({ url: receiver.url, events: ['payment.held'] });
    const { index, invoice } = await world.post('/v2/node/create_invoice', {
      amount: '21',
      payment_hash,
    });
    await world.call('POST', '/v2/node/pay_invoice', {
      body: { invoice },
      credentials: world.bob,
      headers: { prefer: 'respond-async' },
    });
    await until(() => heardBy(receiver, index));
    await world.post('/v2/node/settle_invoice', { index, preimage: preimage.toString('hex') });
    await hooks.notice(index, 'inbound');
    const types = hooks.received
      .map(({ body }) => JSON.parse(body))
      .flatMap((one) => (one.index === index && one.direction === 'inbound' ? [one.type] : []));
    expect(types).toEqual(['payment.finalized']);
    const [configured] = await list();
    expect(configured).toMatchObject({ id: 'configured', events: ['payment.finalized'] });
    await remove(id);
  });

  test("hear of their own wallet's payments only", async () => {
    const receiver = openReceiver();
    const { id } = await add({ url: receiver.url });
    const bobs = await cancelInvoice(world.bob);
    // The configured one hears of every wallet, so Bob's notice has been written when it is there.
    await hooks.notice(bobs, 'inbound');
    const own = await cancelInvoice();
    await until(() => heardBy(receiver, own));
    expect(heardBy(receiver, bobs)).toBeUndefined();
    const { deliveries } = await world.get('/v2/webhooks/deliveries', {}, world.bob);
    expect(deliveries.map(({ endpoint }: Body) => endpoint)).not.toContain(id);
    await remove(id);
  });

  test('and sending again are for the owner and holders of manage_webhooks, attempts for the owner alone', async () => {
    const grant = { scopes: ['read_payments', 'read_info', 'receive', 'send', 'manage_clients'] };
    const reader = (await world.post('/v2/node/create_client', grant)).client_credentials;
    const managed = [
      ['GET', '/v2/webhooks/endpoints'],
      ['POST', '/v2/webhooks/endpoints', { url: 'https://shop.example/hook' }],
      ['POST', '/v2/webhooks/endpoints/delete', { id: 'ep_1' }],
      ['POST', '/v2/webhooks/endpoints/renew', { id: 'ep_1', lease_secs: 60 }],
      ['POST', '/v2/webhooks/endpoints/test', { id: 'configured' }],
      ['POST', '/v2/webhooks/redeliver', { since: 0 }],
    ] as const;
    for (const [method, path, body] of managed) {
      const answer = await world.call(method, path, { body, credentials: reader });
      expectError(
        answer,
        'forbidden',
        /manage_webhooks: ask the wallet's owner to grant a scope that holds it, or the permission itself\.$/,
      );
      expect(answer.body.data.permission).toBe('manage_webhooks');
    }
    const full = (await world.post('/v2/node/create_client', { scopes: ['full'] }))
      .client_credentials;
    const answer = await world.call('GET', '/v2/webhooks/attempts', { credentials: full });
    expectError(answer, 'forbidden', /owner/);
  });

  test('of a client need a lease, end when it is revoked, and their test shows no answer', async () => {
    const { client_pk, client_credentials: credentials } = await world.post(
      '/v2/node/create_client',
      { scopes: ['read_info'], permissions: ['manage_webhooks'] },
    );
    const receiver = openReceiver();
    receiver.answer = () => new Response('an inner page');
    const body = { url: receiver.url };
    const endless = await world.call('POST', '/v2/webhooks/endpoints', { body, credentials });
    expectError(endless, 'rejected', /^lease_secs: is required of a client/);
    const made = await world.post(
      '/v2/webhooks/endpoints',
      { ...body, lease_secs: 60 },
      credentials,
    );
    const test = (by?: string) => world.post('/v2/webhooks/endpoints/test', { id: made.id }, by);
    expect(await test(credentials)).toMatchObject({ http_status: 200, answer: null });
    expect(await test()).toMatchObject({ http_status: 200, answer: 'an inner page' });
    await world.post('/v2/webhooks/endpoints/renew', { id: made.id, lease_secs: 90 }, credentials);
    await world.post('/v2/node/revoke_client', { client_pk });
    const late = await world.call('POST', '/v2/webhooks/endpoints/renew', {
      body: { id: made.id, lease_secs: 90 },
      credentials,
    });
    expectError(late, 'unauthenticated');
    const again = await world.call('POST', '/v2/webhooks/endpoints/delete', {
      body: { id: made.id },
    });
    expectError(again, 'notFound');
  });

  test('are called again by a client a few times at once only, by the owner as often as it likes', async () => {
    const { client_credentials } = await world.post('/v2/node/create_client', {
      scopes: ['full'],
    });
    const again = (body: Body, credentials?: string) =>
      world.call('POST', '/v2/webhooks/redeliver', { body, credentials });
    const since = { since: Date.now() + 60_000 };
    for (let times = 0; times < 3; times++) {
      expect((await again(since, client_credentials)).status).toBe(200);
    }
    const refused = await again(since, client_credentials);
    expectError(refused, 'overCapacity', /in a minute/);
    expect(refused.headers.get('retry-after')).not.toBeNull();
    expectError(await again({ id: 'msg_none' }, client_credentials), 'notFound');
    for (let times = 0; times < 5; times++) expect((await again(since)).status).toBe(200);
  });

  test('a URL or secret that the settings would not take is rejected, and the secret is not repeated', async () => {
    const refusedWith = async (body: Body, words: RegExp) => {
      const answer = await world.call('POST', '/v2/webhooks/endpoints', { body });
      expectError(answer, 'rejected', words);
      return JSON.stringify(answer.body);
    };
    await refusedWith({}, /url/);
    await refusedWith({ url: 'ftp://shop.example' }, /http or https URL/);
    const url = 'https://shop.example';
    await refusedWith({ url, events: [] }, /events/);
    await refusedWith({ url, events: ['payment.lost'] }, /events/);
    await refusedWith({ url, lease_secs: 1 }, /lease_secs/);
    const short = Buffer.alloc(23, 5).toString('base64');
    expect(await refusedWith({ url, secret: short }, /24 to 64/)).not.toContain(short);
  });

  test('a wallet has 16 at most', async () => {
    const made: string[] = [];
    while ((await list()).length < 17) made.push((await add({ url: 'https://shop.example' })).id);
    const body = { url: 'https://shop.example' };
    const answer = await world.call('POST', '/v2/webhooks/endpoints', { body });
    expectError(answer, 'refused', /16 webhook endpoints/);
    for (const id of made) await remove(id);
  });

  test('one with a lease is kept by renewing it', async () => {
    const made = await add({ url: 'https://shop.example', lease_secs: 60 });
    expect(made.expires_at).toBe(made.created_at + 60_000);
    const renewed = await world.post('/v2/webhooks/endpoints/renew', {
      id: made.id,
      lease_secs: 600,
    });
    expect(renewed.expires_at).toBeGreaterThan(made.expires_at);
    await remove(made.id);
  });

  test('deleting one cancels what is pending for it, which cannot be sent again', async () => {
    const receiver = openReceiver();
    const removed = Promise.withResolvers<Response>();
    receiver.answer = () =>
      receiver.received.length > 1 ? removed.promise : new Response('later', { status: 503 });
    const { id } = await add({ url: receiver.url });
    const index = await cancelInvoice();
    const row = async () => {
      const query = { endpoint: id };
      const { deliveries } = await world.get('/v2/webhooks/deliveries', query);
      return deliveries.find((one: Body) => one.index === index);
    };
    await until(async () => (await row())?.attempts >= 1);
    expect(await remove(id)).toEqual({ canceled: 1 });
    removed.resolve(new Response('taken'));
    expect(await row()).toMatchObject({ state: 'canceled', next_attempt_at: null });
    const { id: webhookId } = await row();
    const body = { id: webhookId, endpoint: id };
    expectError(await world.call('POST', '/v2/webhooks/redeliver', { body }), 'notFound');
    expect(await world.post('/v2/webhooks/redeliver', { id: webhookId })).toEqual({
      redelivered: 1,
    });
  });
});

describe('attempts of a delivery', () => {
  test('show what was sent and what the receiver answered, without the secret', async () => {
    const receiver = openReceiver();
    receiver.answer = () =>
      receiver.received.length > 1
        ? new Response('ok')
        : new Response('no such order', { status: 422 });
    const { id: endpoint, secret } = await add({ url: receiver.url });
    const index = await cancelInvoice();
    const attempts = async () => (await world.get('/v2/webhooks/attempts', { endpoint })).attempts;
    await until(async () => (await attempts()).length === 2);
    const [first, second] = await attempts();
    const sent = receiver.received[0];
    expect(first).toMatchObject({
      endpoint,
      index,
      type: 'payment.finalized',
      http_status: 422,
      error: 'answered 422',
      answer: 'no such order',
      request: { body: sent?.body },
    });
    expect(sent?.headers).toMatchObject(first.request.headers);
    expect(second).toMatchObject({ id: first.id, http_status: 200, error: null, answer: 'ok' });
    expect(JSON.stringify([first, second])).not.toContain(secret.slice(6));
    const after = { id: first.id, endpoint, after: String(first.number) };
    expect((await world.get('/v2/webhooks/attempts', after)).attempts).toEqual([second]);
    const all = await world.get('/v2/webhooks/attempts', { after: String(first.number - 1) });
    expect(all.attempts).toContainEqual(second);
    await remove(endpoint);
  });

  test('the list of deliveries goes on with `next`, and leaves none out', async () => {
    const { id } = await add({ url: 'http://127.0.0.1:9' });
    await cancelInvoice();
    const newest = await cancelInvoice();
    const list = async (): Promise<Body[]> =>
      (await world.get('/v2/webhooks/deliveries', { limit: '500' })).deliveries;
    await until(async () => (await list()).some(({ index }) => index === newest));
    const all = await list();
    const seen: Body[] = [];
    for (let next: string | null = ''; next !== null; ) {
      const query = { limit: '3', ...(next === '' ? {} : { before: next }) };
      const page: Body = await world.get('/v2/webhooks/deliveries', query);
      seen.push(...page.deliveries);
      next = page.next;
    }
    const names = (rows: Body[]) => rows.map((row) => `${row.id} ${row.endpoint}`);
    expect(names(seen)).toEqual(names(all));
    const whole = await world.get('/v2/webhooks/deliveries', { limit: String(all.length) });
    expect(whole.next).toBeNull();
    await remove(id);
  });
});

describe('a test delivery', () => {
  test('is signed, is answered with what the receiver said, and tells of no payment', async () => {
    const receiver = openReceiver();
    const { id, secret } = await add({ url: receiver.url, events: ['payment.held'] });
    const tested = await world.post('/v2/webhooks/endpoints/test', { id });
    expect(tested).toMatchObject({
      delivered: true,
      http_status: 200,
      error: null,
      answer: 'taken',
    });
    const [sent] = receiver.received;
    const body = new Webhook(secret).verify(sent?.body ?? '', sent?.headers ?? {}) as Body;
    expect(body).toMatchObject({ type: 'webhook.test', status: 'failed', amount: '0' });
    expectError(
      await world.call('GET', '/v2/node/payment', { query: { index: body.index } }),
      'notFound',
    );
    receiver.answer = () => new Response('broken', { status: 500 });
    expect(await world.post('/v2/webhooks/endpoints/test', { id })).toMatchObject({
      delivered: false,
      http_status: 500,
      error: 'answered 500',
      answer: 'broken',
    });
    const log = await world.get('/v2/webhooks/deliveries', { endpoint: id });
    expect(log.deliveries).toEqual([]);
    expect(await world.post('/v2/webhooks/endpoints/test', { id: 'configured' })).toMatchObject({
      delivered: true,
    });
    // Deliveries of the tests before may still arrive.
    const tests = hooks.received.filter(
      ({ body: sent }) => JSON.parse(sent).type === 'webhook.test',
    );
    expect(tests).toHaveLength(1);
    await remove(id);
  });
});
