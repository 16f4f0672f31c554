import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test';
import { base64url } from '@scure/base';
import { type Body, expectError } from '../support/requests.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { test } from './node-test.ts';
import { newestUpdate, onItsWay } from './wallet-steps.ts';
import { type ConformanceWorld, openConformanceWorld } from './world.ts';

setDefaultTimeout(SLOW_TEST_MS);

let world: ConformanceWorld;
beforeAll(async () => {
  world = await openConformanceWorld();
});
afterAll(() => world.close());

const create = (body: object) => world.post('/v2/node/create_client', body);

describe('authentication', () => {
  const malformed = [
    'x',
    'Basic abc',
    'Bearer',
    'Bearer !!!',
    `Bearer ${btoa('{"v":1}')}`,
    'Bearer a b',
  ];
  for (const authorization of malformed) {
    test(`${authorization} is error 104`, async () => {
      const answer = await world.call('GET', '/v2/node/node_info', { headers: { authorization } });
      expectError(answer, 'unauthenticated');
    });
  }

  test('a changed secret is error 104', async () => {
    const good = (await create({ scopes: ['full'] })).client_credentials as string;
    const decoded = JSON.parse(Buffer.from(good, 'base64url').toString()) as { secret: string };
    const forged = Buffer.from(JSON.stringify({ ...decoded, secret: '00'.repeat(32) })).toString(
      'base64url',
    );
    expectError(
      await world.call('GET', '/v2/node/node_info', { credentials: forged }),
      'unauthenticated',
    );
  });

  test('a credentials string is accepted with its padding and without', async () => {
    const { client, secret } = JSON.parse(Buffer.from(world.bob, 'base64url').toString());
    const { user_pk } = await world.get('/v2/node/node_info', {}, world.bob);
    // This is the form of version 0.1, because the present form never needs padding.
    const json = JSON.stringify({ v: 1, node: { kind: 'sandbox' }, client, secret });
    const padded = base64url.encode(Buffer.from(json));
    expect(padded).toEndWith('=');
    for (const credentials of [padded, padded.replaceAll('=', '')]) {
      expect(await world.get('/v2/node/node_info', {}, credentials)).toMatchObject({ user_pk });
    }
  });

  test('the credentials string does not hold the root seed', async () => {
    const wallet = await world.post('/sandbox/wallets');
    expect(Buffer.from(wallet.client_credentials, 'base64url').toString()).not.toContain(
      wallet.root_seed,
    );
  });

  test('per-request credentials take precedence over default ones', async () => {
    const own = await world.get('/v2/node/node_info');
    const other = await world.get('/v2/node/node_info', {}, world.bob);
    expect(other.user_pk).not.toBe(own.user_pk);
  });

  test('signup and provision are idempotent and refuse an Authorization header', async () => {
    for (const path of ['/v2/node/signup', '/v2/node/provision']) {
      expect(await world.put(path)).toEqual({});
      expectError(
        await world.call('PUT', path, { credentials: world.bob }),
        'unauthenticated',
        /root seed/,
      );
    }
  });

  test('an expired client is refused and not listed', async () => {
    const expires_at = Date.now() + 100_000;
    const made = await create({ scopes: ['read_info'], expires_at });
    await world.get('/v2/node/node_info', {}, made.client_credentials);
    await world.post('/sandbox/clock', { advance_secs: 101 });
    expectError(
      await world.call('GET', '/v2/node/node_info', { credentials: made.client_credentials }),
      'unauthenticated',
    );
    expect((await world.get('/v2/node/list_clients')).clients).not.toHaveProperty(made.client_pk);
  });
});

describe('revocation', () => {
  test('is immediate, irreversible, and ends waits and streams', async () => {
    const made = await create({ scopes: ['full'] });
    const credentials = made.client_credentials as string;
    const waiting = world.call('GET', '/v2/node/wait_for_next_payment', {
      credentials,
      query: {
        start_index: `u9000000000000000000-ln_${'0'.repeat(64)}`.replace(
          'u9000000000000000000',
          'u0009000000000000000',
        ),
      },
    });
    const stream = fetch(`${world.baseUrl}/v2/node/events`, {
      headers: { authorization: `Bearer ${credentials}` },
    });
    await (await stream).body?.getReader().read();
    const { client } = await world.post('/v2/node/revoke_client', { client_pk: made.client_pk });
    expect(client.client_pk).toBe(made.client_pk);
    expectError(await waiting, 'unauthenticated');
    expectError(await world.call('GET', '/v2/node/node_info', { credentials }), 'unauthenticated');
    expect((await world.get('/v2/node/list_clients')).clients).not.toHaveProperty(made.client_pk);
    expectError(
      await world.call('POST', '/v2/node/revoke_client', { body: { client_pk: made.client_pk } }),
      'notFound',
    );
  });

  test('while a payment is on its way ends the request, and the payment ends normally and is recorded', async () => {
    const made = await create({ scopes: ['full'] });
    const start_index = await newestUpdate(world);
    const { invoice, payment_hash } = await world.post('/sandbox/invoice', {
      amount: '70',
      behavior: 'hold',
    });
    const paying = await onItsWay(world, () =>
      world.call('POST', '/v2/node/pay_invoice', {
        body: { invoice },
        credentials: made.client_credentials,
      }),
    );
    await world.post('/v2/node/revoke_client', { client_pk: made.client_pk });
    expectError(await paying.answer, 'unauthenticated');
    await world.post('/sandbox/holds', { payment_hash, settle: true });
    // A real node tells of the end a moment later.
    const ended = await until(async () => {
      const query = { ...(start_index && { start_index }) };
      const { payments } = await world.get('/v2/node/updated_payments', query);
      const payment = payments.find(({ hash }: Body) => hash === payment_hash);
      return payment?.status !== 'pending' && payment;
    }, 'the payment has ended');
    expect(ended).toMatchObject({ status: 'completed' });
  });
});
