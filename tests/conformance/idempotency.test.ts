import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test';
import { expectError } from '../support/requests.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { test } from './node-test.ts';
import { fullClient, onItsWay, underWay } from './wallet-steps.ts';
import { openWebhookWorld, type WebhookWorld } from './webhook-world.ts';
import type { ConformanceWorld } from './world.ts';

setDefaultTimeout(SLOW_TEST_MS);

let hooks: WebhookWorld;
let world: ConformanceWorld;
beforeAll(async () => {
  hooks = await openWebhookWorld();
  world = hooks.world;
});
afterAll(() => hooks.close());

describe('idempotency keys', () => {
  const once = (
    key: string,
    body: object,
    path = '/v2/node/create_invoice',
    credentials?: string,
  ) =>
    world.call('POST', path, {
      body,
      headers: { 'idempotency-key': key },
      credentials,
    });

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

  describe('an error before the request is understood speaks of every request with the key (docs/decisions.md 174)', () => {
    const PAY = '/v2/node/pay_invoice';
    const client = () => world.post('/v2/node/create_client', { scopes: ['send'] });
    const rejections = async (key: string, client_pk: string, credentials: string) => {
      const headers = { 'idempotency-key': key };
      const told = async (options: object) => {
        const sent = { body: {}, headers, credentials, ...options };
        return (await world.call('POST', PAY, sent)).body.data.sent;
      };
      const field = await told({ body: { invoice: 5 } });
      const json = await told({ body: undefined, rawBody: '{bad' });
      const query = (await world.call('POST', `${PAY}?a=1&a=2`, { body: {}, headers, credentials }))
        .body.data.sent;
      const page = await told({ headers: { ...headers, origin: 'http://evil.example' } });
      const stranger = await told({ credentials: 'unknown' });
      await world.put('/v2/node/update_client', { client_pk, scopes: ['read_info'] });
      const narrowed = await told({});
      await world.post('/v2/node/revoke_client', { client_pk });
      const revoked = await told({});
      return { field, json, query, page, stranger, narrowed, revoked };
    };

    test('nobody says that nothing was sent while a payment of the key is on its way', async () => {
      const { client_pk, client_credentials } = await client();
      const { invoice, payment_hash } = await world.post('/sandbox/invoice', {
        amount: '10',
        behavior: 'hold',
      });
      const paid = await world.call('POST', PAY, {
        body: { invoice },
        headers: { 'idempotency-key': 'used', prefer: 'respond-async' },
        credentials: client_credentials,
      });
      expect(paid.body.status).toBe('pending');
      const told = await rejections('used', client_pk, client_credentials);
      expect(new Set(Object.values(told))).toEqual(new Set(['unknown']));
      await world.post('/sandbox/holds', { payment_hash, settle: false });
      // The balance, which another test reads, has the money again only then.
      const { index } = paid.body;
      await world.get('/v2/node/wait_for_payment', { index, timeout_secs: '60' });
    });

    test('a key that its caller has not used sent nothing; of a caller who is not known, it is not known', async () => {
      const { client_pk, client_credentials } = await client();
      expect(await rejections('unused', client_pk, client_credentials)).toEqual({
        field: 'no',
        json: 'no',
        query: 'no',
        page: 'unknown',
        stranger: 'unknown',
        narrowed: 'no',
        revoked: 'unknown',
      });
    });
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
    const client = await fullClient(world);
    const pay = () => once('key-5', { invoice }, '/v2/node/pay_invoice', client);
    const begun = await onItsWay(world, () => pay().catch(() => null));
    const info = await world.get('/v2/node/node_info');
    await world.restart();
    expectError(
      (await begun.answer) ?? {
        status: 503,
        headers: new Headers(),
        body: { code: 8, msg: 'x', data: null, sensitive: false },
      },
      'overCapacity',
    );
    expect(await world.get('/v2/node/node_info')).toEqual(info);
    expect((await once('key-4', { amount: '9' })).body).toEqual(first.body);
    const resumed = await underWay(world, client, pay);
    await world.post('/sandbox/holds', { payment_hash, settle: true });
    expect((await resumed.answer).body).toMatchObject({ status: 'completed', hash: payment_hash });
    await until(() => hooks.received.some(({ body }) => body.includes(payment_hash)));
  });
});
