import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test';
import { once } from 'node:events';
import { request } from 'node:http';
import { Readable } from 'node:stream';
import { type Body, expectError } from '../support/requests.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { test } from './node-test.ts';
import { type ConformanceWorld, openConformanceWorld } from './world.ts';

setDefaultTimeout(SLOW_TEST_MS);

let world: ConformanceWorld;
beforeAll(async () => {
  world = await openConformanceWorld();
});
afterAll(() => world.close());

const create = (body: object, credentials?: string) =>
  world.post('/v2/node/create_client', body, credentials);

describe('create_client and update_client', () => {
  const bad: readonly (readonly [string, object])[] = [
    ['an empty grant', { scopes: [] }],
    ['missing scopes', {}],
    ['an unknown scope', { scopes: ['everything'] }],
    ['an unknown permission', { scopes: [], permissions: ['fly'] }],
    ['a label of 65 bytes', { scopes: ['read_info'], label: 'x'.repeat(65) }],
    ['a label of 64 characters but more bytes', { scopes: ['read_info'], label: 'é'.repeat(33) }],
    ['an expiry in the past', { scopes: ['read_info'], expires_at: 1000 }],
    ['a budget of zero', { scopes: ['send'], budget: { amount: '0', period: 'day' } }],
    [
      'a budget of an unknown period',
      { scopes: ['send'], budget: { amount: '1', period: 'year' } },
    ],
  ];
  for (const [what, body] of bad) {
    test(`rejects ${what}`, async () => {
      expectError(await world.call('POST', '/v2/node/create_client', { body }), 'rejected');
    });
  }

  test('takes a label of 64 bytes, and permissions without scopes', async () => {
    expect(
      (await create({ scopes: [], permissions: ['node_info'], label: 'x'.repeat(64) })).client_pk,
    ).toMatch(/^[0-9a-f]{64}$/);
  });

  test('scopes and permissions given twice are stored and shown once', async () => {
    const twice = {
      scopes: ['read_info', 'receive', 'read_info'],
      permissions: ['pay_invoice', 'pay_invoice'],
    };
    const once = { scopes: ['read_info', 'receive'], permissions: ['pay_invoice'] };
    const { client_pk } = await create(twice);
    const stored = async () => (await world.get('/v2/node/list_clients')).clients[client_pk];
    expect(await stored()).toMatchObject(once);
    const { client } = await world.put('/v2/node/update_client', { client_pk, ...twice });
    expect(client).toMatchObject(once);
    expect(await stored()).toEqual(client);
  });

  test('omitted fields stay, given scopes and permissions replace the whole grant', async () => {
    const { client_pk } = await create({
      scopes: ['read_info'],
      permissions: ['create_invoice'],
      label: 'a',
    });
    const renamed = await world.put('/v2/node/update_client', { client_pk, label: 'b' });
    expect(renamed.client).toMatchObject({
      label: 'b',
      scopes: ['read_info'],
      permissions: ['create_invoice'],
    });
    const narrowed = await world.put('/v2/node/update_client', {
      client_pk,
      permissions: ['node_info'],
    });
    expect(narrowed.client).toMatchObject({ label: 'b', scopes: [], permissions: ['node_info'] });
    const cleared = await world.put('/v2/node/update_client', { client_pk, clear_label: true });
    expect(cleared.client.label).toBeNull();
    const soon = Date.now() + 1_000_000;
    expect(
      (await world.put('/v2/node/update_client', { client_pk, expires_at: soon })).client
        .expires_at,
    ).toBe(soon);
    const never = await world.put('/v2/node/update_client', { client_pk, clear_expiration: true });
    expect(never.client.expires_at).toBeNull();
  });

  test('a changed grant is in force for the very next request', async () => {
    const { client_pk, client_credentials } = await create({ scopes: ['read_info'] });
    await world.get('/v2/node/node_info', {}, client_credentials);
    await world.put('/v2/node/update_client', { client_pk, scopes: ['annotate'] });
    expectError(
      await world.call('GET', '/v2/node/node_info', { credentials: client_credentials }),
      'forbidden',
    );
  });

  const conflicts: readonly (readonly [string, object])[] = [
    ['label and clear_label', { label: 'x', clear_label: true }],
    ['expires_at and clear_expiration', { expires_at: 9_999_999_999_999, clear_expiration: true }],
    ['budget and clear_budget', { budget: { amount: '1', period: 'day' }, clear_budget: true }],
    ['a resulting empty grant', { scopes: [], permissions: [] }],
  ];
  for (const [what, change] of conflicts) {
    test(`rejects ${what}`, async () => {
      const { client_pk } = await create({ scopes: ['read_info'] });
      expectError(
        await world.call('PUT', '/v2/node/update_client', { body: { client_pk, ...change } }),
        'rejected',
      );
    });
  }

  test('an unknown client is error 107', async () => {
    const body = { client_pk: '00'.repeat(32) };
    expectError(await world.call('PUT', '/v2/node/update_client', { body }), 'notFound');
    expectError(await world.call('POST', '/v2/node/revoke_client', { body }), 'notFound');
  });

  test('a client can neither grant more than it has nor outlive itself', async () => {
    const expires_at = Date.now() + 3_600_000;
    const manager = (await create({ scopes: ['read_info', 'manage_clients'], expires_at }))
      .client_credentials;
    const beyond = await world.call('POST', '/v2/node/create_client', {
      body: { scopes: ['send'], expires_at },
      credentials: manager,
    });
    expectError(beyond, 'forbidden');
    expect(beyond.body.data.permission).toBe('pay_invoice');
    for (const longer of [{}, { expires_at: expires_at + 1 }]) {
      const body = { scopes: ['read_info'], ...longer };
      expectError(
        await world.call('POST', '/v2/node/create_client', { body, credentials: manager }),
        'forbidden',
        /outlive/,
      );
    }
    const child = await create({ scopes: ['read_info'], expires_at }, manager);
    const body = { client_pk: child.client_pk, scopes: ['full'] };
    expectError(
      await world.call('PUT', '/v2/node/update_client', { body, credentials: manager }),
      'forbidden',
    );
  });

  test('a client with a budget can grant nothing that spends', async () => {
    const rich = await create({ scopes: ['full'], budget: { amount: '10', period: 'total' } });
    const body = { scopes: ['send'], budget: { amount: '10', period: 'total' } };
    expectError(
      await world.call('POST', '/v2/node/create_client', {
        body,
        credentials: rich.client_credentials,
      }),
      'forbidden',
    );
    const own = { client_pk: rich.client_pk, clear_budget: true };
    expectError(
      await world.call('PUT', '/v2/node/update_client', {
        body: own,
        credentials: rich.client_credentials,
      }),
      'forbidden',
    );
  });

  test('a wallet has at most 100 active clients; revoking makes room', async () => {
    const other = (await world.post('/sandbox/wallets')).client_credentials;
    for (let count = 1; count < 100; count++) await create({ scopes: ['read_info'] }, other);
    const full = await world.call('POST', '/v2/node/create_client', {
      body: { scopes: ['read_info'] },
      credentials: other,
    });
    expectError(full, 'refused', /100/);
    const { clients } = await world.get('/v2/node/list_clients', {}, other);
    expect(Object.keys(clients)).toHaveLength(100);
    const victim = Object.values<Body>(clients).find(({ label }) => label !== 'sandbox');
    await world.post('/v2/node/revoke_client', { client_pk: victim?.client_pk }, other);
    await create({ scopes: ['read_info'] }, other);
  });
});

describe('the wallet owner', () => {
  test('can end tokens of clients that are not known any more, and no others', async () => {
    const made = await create({ scopes: ['read_info'] });
    expect(await world.post('/v2/node/prune_clients')).toEqual({ token_ids: [], removed: false });
    expect(await world.post('/v2/node/prune_clients', { remove: true })).toEqual({
      token_ids: [],
      removed: true,
    });
    await world.get('/v2/node/node_info', {}, made.client_credentials);
  });

  test('confirms budgets; where nothing was restored that changes nothing', async () => {
    expect(await world.post('/v2/node/confirm_budgets')).toEqual({});
  });

  test('a client may revoke itself', async () => {
    const made = await create({ scopes: ['manage_clients'] });
    const { client } = await world.post(
      '/v2/node/revoke_client',
      { client_pk: made.client_pk },
      made.client_credentials,
    );
    expect(client.client_pk).toBe(made.client_pk);
    expectError(
      await world.call('GET', '/v2/node/client_info', { credentials: made.client_credentials }),
      'unauthenticated',
    );
  });
});

describe('a request whose body is on its way', () => {
  /** Sends a request, but for the end of its body. The returned function sends that, and returns the code of the error. */
  async function held(path: string, credentials: string): Promise<() => Promise<number>> {
    const answered = Promise.withResolvers<number>();
    const headers = { authorization: `Bearer ${credentials}`, 'content-type': 'application/json' };
    const sent = request(`${world.baseUrl}${path}`, { method: 'POST', headers }, async (answer) => {
      const { code } = (await new Response(
        Readable.toWeb(answer) as ReadableStream,
      ).json()) as Body;
      answered.resolve(Number(code ?? 0));
    });
    sent.on('error', answered.reject);
    sent.write('{');
    // Its head is read, and its caller checked, before that of a request that comes later.
    await once(sent, 'socket');
    for (let at = 0; at < 5; at++) await world.get('/v2/node/client_info', {}, credentials);
    return () => {
      sent.end('}');
      return answered.promise;
    };
  }

  for (const path of ['/v2/node/clear_payments', '/v2/node/create_invoice']) {
    test(`is refused when its client is revoked meanwhile: ${path}`, async () => {
      const { client_pk, client_credentials } = await create({ scopes: ['full'] });
      const finish = await held(path, client_credentials);
      await world.post('/v2/node/revoke_client', { client_pk });
      expect(await finish()).toBe(104);
    });

    test(`is refused when its client may do less meanwhile: ${path}`, async () => {
      const { client_pk, client_credentials } = await create({ scopes: ['full'] });
      const finish = await held(path, client_credentials);
      await world.put('/v2/node/update_client', { client_pk, scopes: ['read_info'] });
      expect(await finish()).toBe(108);
    });
  }
});
