import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test';
import { expectError } from '../support/requests.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { sandboxTest, test } from './node-test.ts';
import { openPaidService, type PaidService } from './paid-services.ts';
import { type ConformanceWorld, openConformanceWorld } from './world.ts';

setDefaultTimeout(SLOW_TEST_MS);

let world: ConformanceWorld;
let keys = 0;
beforeAll(async () => {
  world = await openConformanceWorld();
});
afterAll(() => world.close());

const A = 'https://a.example';
const B = 'https://b.example:8443';
const create = (body: object, by?: string) => world.post('/v2/node/create_client', body, by);
const creating = (body: object, credentials?: string) =>
  world.call('POST', '/v2/node/create_client', { body, credentials });
const updating = (body: object, credentials?: string) =>
  world.call('PUT', '/v2/node/update_client', { body, credentials });
const originsOf = async (credentials: string) =>
  (await world.get('/v2/node/client_info', {}, credentials)).origins;
const fetching = (url: string, credentials: string, key = `origins ${keys++}`) =>
  world.call('POST', '/v2/node/fetch', {
    body: { url, max_cost: '100' },
    headers: { 'idempotency-key': key },
    credentials,
  });
const agent = (origins?: readonly string[]) =>
  create({ scopes: ['send', 'read_info'], ...(origins && { origins }) });

describe('origins of a client', () => {
  test('are shown, changed and removed by the owner, also over a restart', async () => {
    const { client_pk, client_credentials } = await agent([A, B, A]);
    expect(await originsOf(client_credentials)).toEqual([A, B]);
    await updating({ client_pk, origins: [B] });
    await world.restart();
    expect(await originsOf(client_credentials)).toEqual([B]);
    await updating({ client_pk, label: 'other' });
    const { clients } = await world.get('/v2/node/list_clients');
    expect(clients[client_pk]).toMatchObject({ label: 'other', origins: [B] });
    const both = await updating({ client_pk, origins: [A], clear_origins: true });
    expectError(both, 'rejected', /conflicts with origins/);
    const { body } = await updating({ client_pk, clear_origins: true });
    expect(body.client.origins).toBeNull();
    expect(await originsOf((await agent()).client_credentials)).toBeNull();
    expect((await world.get('/v2/node/client_info')).origins).toBeNull();
  });

  test('are origins in the form in which browsers write them, 1 to 20', async () => {
    const { client_pk } = await agent();
    const many = (count: number) => Array.from({ length: count }, (_, at) => `https://a${at}.com`);
    const wrong = [
      ...[
        'https://a.example/',
        'https://a.example/v1',
        'https://A.example',
        'https://a.example:443',
      ],
      ...['https://u@a.example', 'http://a.example', 'ftp://a.example', 'a.example', '', 'null'],
      ...['https://*.example', 'https://ä.example', 'https://a.example ', 'https://a.example\n'],
      `https://${'a.'.repeat(130)}example`,
    ];
    for (const origins of [...wrong.map((one) => [one]), [], many(21)]) {
      expectError(await creating({ scopes: ['send'], origins }), 'rejected');
      expectError(await updating({ client_pk, origins }), 'rejected');
    }
    const right = [
      ...many(17),
      'http://127.0.0.1:8080',
      'http://localhost',
      'https://[2001:db8::1]:9',
    ];
    expect((await updating({ client_pk, origins: right })).body.client.origins).toEqual(right);
  });

  test('are widened neither by the client itself nor for one that it makes', async () => {
    const { client_pk, client_credentials } = await create({ scopes: ['full'], origins: [A, B] });
    const update = (body: object) => updating(body, client_credentials);
    for (const wider of [{ origins: [A, 'https://c.example'] }, { clear_origins: true }]) {
      expectError(await update({ client_pk, ...wider }), 'forbidden', /origins/);
    }
    const made = await creating(
      { scopes: ['send'], origins: ['https://c.example'] },
      client_credentials,
    );
    expectError(made, 'forbidden', /origins/);
    expect(made.body.data).toEqual({ origins: [A, B] });
    const heir = await create({ scopes: ['send', 'read_info'] }, client_credentials);
    expect(await originsOf(heir.client_credentials)).toEqual([A, B]);
    const child = await create({ scopes: ['send'], origins: [B] }, client_credentials);
    expectError(await update({ client_pk: child.client_pk, clear_origins: true }), 'forbidden');
    expect((await update({ client_pk: child.client_pk, origins: [A] })).status).toBe(200);
    const free = await create({ scopes: ['send'] });
    expectError(await update({ client_pk: free.client_pk, label: 'mine' }), 'forbidden');
    expect((await update({ client_pk, origins: [B] })).status).toBe(200);
    expectError(await update({ client_pk, origins: [A, B] }), 'forbidden');
  });

  test('of a parent bound those of its descendants, also where they have none in common', async () => {
    const parent = await create({ scopes: ['full'] });
    const child = await create({ scopes: ['full'], origins: [A, B] }, parent.client_credentials);
    const grandchild = await create({ scopes: ['send'], origins: [A] }, child.client_credentials);
    const any = await create({ scopes: ['send'] }, parent.client_credentials);
    await updating({ client_pk: parent.client_pk, origins: [B, 'https://c.example'] });
    const { clients } = await world.get('/v2/node/list_clients');
    const shown = [parent, child, grandchild, any].map(
      ({ client_pk }) => clients[client_pk].origins,
    );
    expect(shown).toEqual([[B, 'https://c.example'], [B], [], [B, 'https://c.example']]);
    // What is lifted from the parent is not given to the others.
    await updating({ client_pk: parent.client_pk, clear_origins: true });
    const later = (await world.get('/v2/node/list_clients')).clients;
    expect([later[parent.client_pk].origins, later[child.client_pk].origins]).toEqual([null, [B]]);
  });
});

describe('fetch by a client with origins', () => {
  const refused = (answer: Awaited<ReturnType<typeof fetching>>, origin: string) => {
    expectError(answer, 'forbidden', /"origins"/);
    expect(answer.body.msg).toContain(`from ${origin}:`);
  };
  const withService = async (
    work: (service: PaidService) => Promise<void>,
    dialect: 'l402' | 'payment' = 'l402',
  ) => {
    const service = openPaidService(world, dialect);
    try {
      await work(service);
    } finally {
      service.stop();
    }
  };

  sandboxTest('pays at an origin of the list, and asks nothing at any other', async () => {
    await withService(async (service) => {
      const own = await agent([A, service.url]);
      const given = await fetching(`${service.url}/one?x=1`, own.client_credentials);
      expect(given.body).toMatchObject({ body: 'the resource /one', payment: { amount: '25' } });
      service.requests.length = 0;
      const { port } = new URL(service.url);
      const others = await agent([
        A,
        `https://127.0.0.1:${port}`,
        'http://127.0.0.1',
        'http://127.0.0.1:1',
      ]);
      const answer = await fetching(`${service.url}/two`, others.client_credentials);
      refused(answer, service.url);
      expect(answer.body.data.sent).toBe('no');
      const named = await fetching(`http://localhost:${port}/two`, own.client_credentials);
      refused(named, `http://localhost:${port}`);
      expect(service.requests).toEqual([]);
    });
  });

  sandboxTest('uses no token that is kept for an origin which was taken away', async () => {
    await withService(async (service) => {
      const { client_pk, client_credentials } = await agent([service.url]);
      await fetching(`${service.url}/one`, client_credentials);
      await updating({ client_pk, origins: [A] });
      service.requests.length = 0;
      refused(await fetching(`${service.url}/two`, client_credentials), service.url);
      expect(service.requests).toEqual([]);
      await updating({ client_pk, clear_origins: true });
      expect((await fetching(`${service.url}/two`, client_credentials)).body.payment).toBeNull();
    });
  });

  sandboxTest(
    'repeats an answer that it has, and sends no proof to an origin that was taken away',
    async () => {
      await withService(async (service) => {
        const { client_pk, client_credentials } = await agent([service.url]);
        const first = await fetching(`${service.url}/one`, client_credentials, 'whole');
        service.behaviour = { paid: () => new Response('broken', { status: 500 }) };
        const broken = await fetching(`${service.url}/late`, client_credentials, 'late');
        expectError(broken, 'serviceFailed', /answered 500/);
        await updating({ client_pk, origins: [A] });
        service.requests.length = 0;
        expect((await fetching(`${service.url}/one`, client_credentials, 'whole')).body).toEqual(
          first.body,
        );
        const late = await fetching(`${service.url}/late`, client_credentials, 'late');
        refused(late, service.url);
        // It was asked before, and may have been paid.
        expect(late.body.data.sent).toBe('unknown');
        expect(service.requests).toEqual([]);
      }, 'payment');
    },
  );

  sandboxTest(
    'sends no proof to an origin that is taken away while its payment waits',
    async () => {
      await withService(async (service) => {
        const origins = [service.url];
        const grant = { scopes: ['send'], approve_above: '0', origins };
        const { client_pk, client_credentials } = await create(grant);
        const asked = fetching(`${service.url}/waits`, client_credentials);
        const index = await until(async () => {
          await world.put('/v2/node/sync_payments');
          const { payments } = await world.get('/v2/node/list_payments', { filter: 'awaiting' });
          return payments[0]?.index;
        });
        await updating({ client_pk, origins: [A] });
        await world.post('/v2/node/approve', { index });
        const answer = await asked;
        refused(answer, service.url);
        expect(answer.body.data).toMatchObject({ sent: 'yes', index });
        expect(service.requests).toEqual([{ path: '/waits', proof: null }]);
      });
    },
  );

  sandboxTest(
    'pays nothing where the origin is taken away while the service is asked',
    async () => {
      await withService(async (service) => {
        const { client_pk, client_credentials } = await agent([service.url]);
        const before = (await world.get('/v2/node/node_info')).lightning_balance;
        const reached = Promise.withResolvers<void>();
        const answers = Promise.withResolvers<void>();
        service.behaviour = {
          before: () => {
            reached.resolve();
            return answers.promise;
          },
        };
        const asked = fetching(`${service.url}/slow`, client_credentials);
        await reached.promise;
        await updating({ client_pk, origins: [A] });
        answers.resolve();
        const answer = await asked;
        refused(answer, service.url);
        expect(answer.body.data.sent).toBe('no');
        expect((await world.get('/v2/node/node_info')).lightning_balance).toEqual(before);
      });
    },
  );
});
