import { afterAll, beforeAll, describe, expect } from 'bun:test';
import type { Route } from '../../src/http/route.ts';
import { ROUTES } from '../../src/http/routes/index.ts';
import { PERMISSIONS, type Permission, SCOPES, type Scope } from '../../src/model/permissions.ts';
import { test } from './node-test.ts';
import { type Body, expectError } from './request.ts';
import { type ConformanceWorld, openConformanceWorld } from './world.ts';

let world: ConformanceWorld;
beforeAll(async () => {
  world = await openConformanceWorld();
});
afterAll(() => world.close());

const create = (body: object, credentials?: string) =>
  world.post('/v2/node/create_client', body, credentials);
const grant = async (...scopes: Scope[]) => (await create({ scopes })).client_credentials as string;

describe('every endpoint against every scope', () => {
  for (const scope of Object.keys(SCOPES) as Scope[]) {
    test(`${scope} reaches exactly what its permissions allow`, async () => {
      const credentials = await grant(scope);
      const held = new Set<Permission>(SCOPES[scope]);
      for (const route of ROUTES) {
        const needed = neededPermissions(route);
        if (needed === null || route.group === 'events') continue;
        const answer = await world.call(route.method.toUpperCase(), route.path, {
          credentials,
          ...(route.body ? { body: { scopes: 1 } } : {}),
        });
        if (needed.some((permission) => held.has(permission))) {
          expect(`${route.path} ${answer.status}`).not.toBe(`${route.path} 403`);
        } else {
          expect(`${route.path} ${answer.body.code}`).toBe(`${route.path} 108`);
          expect(needed).toContain(answer.body.data.permission);
        }
      }
    });
  }

  test('read_info, read_payments and receive give the permissions of the contract and cancel_payment', async () => {
    const made = await create({ scopes: ['read_info', 'read_payments', 'receive'] });
    expect([...made.effective_permissions].toSorted()).toEqual(
      [
        'node_info',
        'list_channels',
        'get_human_bitcoin_address',
        'get_payments_by_indexes',
        'get_new_payments',
        'get_updated_payments',
        'get_payment_by_id',
        'list_broadcasted_txs',
        'get_next_unused_address',
        'create_invoice',
        'create_offer',
        'resync',
        'cancel_payment',
      ].toSorted(),
    );
  });
});

describe('client_info', () => {
  test('with the root seed is kind root_seed, scope full, and null where it does not apply', async () => {
    expect(await world.get('/v2/node/client_info')).toEqual({
      kind: 'root_seed',
      client_pk: null,
      created_at: null,
      expires_at: null,
      label: null,
      scopes: ['full'],
      permissions: [],
      effective_permissions: [...PERMISSIONS],
      budget: null,
    });
  });

  test('with client credentials is the client', async () => {
    const made = await create({
      scopes: ['read_info'],
      permissions: ['create_invoice'],
      label: 'Shop',
    });
    expect(await world.get('/v2/node/client_info', {}, made.client_credentials)).toMatchObject({
      kind: 'client_credentials',
      client_pk: made.client_pk,
      created_at: made.created_at,
      label: 'Shop',
      expires_at: null,
      scopes: ['read_info'],
      permissions: ['create_invoice'],
      effective_permissions: [
        'node_info',
        'list_channels',
        'get_human_bitcoin_address',
        'create_invoice',
      ],
    });
  });
});

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
    test(`refuses ${what}`, async () => {
      expectError(await world.call('POST', '/v2/node/create_client', { body }), 'rejected');
    });
  }

  test('takes a label of 64 bytes, and permissions without scopes', async () => {
    expect(
      (await create({ scopes: [], permissions: ['node_info'], label: 'x'.repeat(64) })).client_pk,
    ).toMatch(/^[0-9a-f]{64}$/);
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
    test(`refuses ${what}`, async () => {
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
    const good = await grant('full');
    const decoded = JSON.parse(Buffer.from(good, 'base64url').toString()) as { secret: string };
    const forged = Buffer.from(JSON.stringify({ ...decoded, secret: '00'.repeat(32) })).toString(
      'base64url',
    );
    expectError(
      await world.call('GET', '/v2/node/node_info', { credentials: forged }),
      'unauthenticated',
    );
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
    const { invoice, payment_hash } = await world.post('/sandbox/invoice', {
      amount: '70',
      behavior: 'hold',
    });
    const paying = world.call('POST', '/v2/node/pay_invoice', {
      body: { invoice },
      credentials: made.client_credentials,
    });
    await Bun.sleep(200);
    await world.post('/v2/node/revoke_client', { client_pk: made.client_pk });
    expectError(await paying, 'unauthenticated');
    await world.post('/sandbox/holds', { payment_hash, settle: true });
    const { payments } = await world.get('/v2/node/updated_payments', { limit: '100' });
    expect(payments.find(({ hash }: Body) => hash === payment_hash)).toMatchObject({
      status: 'completed',
    });
  });
});

describe('budgets', () => {
  const pay = async (credentials: string, amount: string, behavior = 'settle') => {
    const { invoice } = await world.post('/sandbox/invoice', { amount, behavior });
    return world.call('POST', '/v2/node/pay_invoice', {
      body: { invoice, max_fee: '10' },
      credentials,
    });
  };
  const info = async (credentials: string) =>
    (await world.get('/v2/node/client_info', {}, credentials)).budget;

  test('outgoing amounts with fees count, and what is beyond is error 109', async () => {
    const { client_credentials } = await create({
      scopes: ['full'],
      budget: { amount: '1000', period: 'total' },
    });
    expect((await pay(client_credentials, '500')).body.status).toBe('completed');
    expect(await info(client_credentials)).toMatchObject({
      amount: '1000',
      period: 'total',
      spent: '501.5',
      resets_at: null,
    });
    const beyond = await pay(client_credentials, '490');
    expectError(beyond, 'overBudget');
    expect(beyond.body.data).toEqual({ remaining: '498.5' });
    expect(await info(client_credentials)).toMatchObject({ spent: '501.5' });
  });

  test('what fails is given back', async () => {
    const { client_credentials } = await create({
      scopes: ['full'],
      budget: { amount: '600', period: 'day' },
    });
    expect((await pay(client_credentials, '500', 'fail')).body.status).toBe('failed');
    expect(await info(client_credentials)).toMatchObject({ spent: '0' });
    expect((await pay(client_credentials, '500')).body.status).toBe('completed');
  });

  test('max_payment bounds each payment', async () => {
    const budget = { amount: '1000', period: 'week', max_payment: '100' };
    const { client_credentials } = await create({ scopes: ['full'], budget });
    expectError(await pay(client_credentials, '95'), 'overBudget', /at most 100/);
    expect((await pay(client_credentials, '90')).body.status).toBe('completed');
  });

  test('concurrent payments never exceed it together', async () => {
    const { client_credentials } = await create({
      scopes: ['full'],
      budget: { amount: '1000', period: 'month' },
    });
    const all = await Promise.all(Array.from({ length: 20 }, () => pay(client_credentials, '100')));
    const done = all.filter(({ body }) => body.status === 'completed').length;
    expect(done).toBeGreaterThanOrEqual(1);
    expect(done).toBeLessThanOrEqual(9);
    expect(Number((await info(client_credentials)).spent)).toBeCloseTo(done * 101.1, 3);
  });

  test('renews with its period by the clock of the node', async () => {
    const { client_credentials } = await create({
      scopes: ['full'],
      budget: { amount: '200', period: 'day' },
    });
    await pay(client_credentials, '150');
    expectError(await pay(client_credentials, '150'), 'overBudget');
    await world.post('/sandbox/clock', { advance_secs: 86_400 });
    expect((await pay(client_credentials, '150')).body.status).toBe('completed');
  });

  test('on-chain sends count with their fee', async () => {
    const { client_credentials } = await create({
      scopes: ['full'],
      budget: { amount: '20000', period: 'total' },
    });
    const address = (await world.post('/v2/node/get_next_unused_address', {}, world.bob)).address;
    const sent = await world.post(
      '/v2/node/pay_onchain',
      { address, amount: '5000' },
      client_credentials,
    );
    expect(sent.status).toBe('pending');
    await world.post('/sandbox/blocks', { count: 6 });
    await world.get('/v2/node/wait_for_payment', { index: sent.index });
    const spent = Number((await info(client_credentials)).spent);
    expect(spent).toBe(5000 + Number(sent.fees));
  });

  test('survives a restart and can be changed and removed', async () => {
    const { client_credentials, client_pk } = await create({
      scopes: ['full'],
      budget: { amount: '300', period: 'total' },
    });
    await pay(client_credentials, '100');
    const before = await info(client_credentials);
    await world.restart();
    expect(await info(client_credentials)).toEqual(before);
    const raised = await world.put('/v2/node/update_client', {
      client_pk,
      budget: { amount: '900', period: 'total' },
    });
    expect(raised.client.budget).toMatchObject({ amount: '900', spent: before.spent });
    const free = await world.put('/v2/node/update_client', { client_pk, clear_budget: true });
    expect(free.client.budget).toBeNull();
  });
});

function neededPermissions(route: Route): readonly Permission[] | null {
  const { access } = route;
  if (access === 'public' || access === 'authenticated' || access === 'root_seed') return null;
  return typeof access === 'string' ? [access] : access;
}
