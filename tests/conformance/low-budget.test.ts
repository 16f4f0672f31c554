import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test';
import { expectError } from '../support/requests.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { sandboxTest, test } from './node-test.ts';
import { toNoonOfTenth } from './wallet-steps.ts';
import { openWebhookWorld, type WebhookWorld } from './webhook-world.ts';
import type { ConformanceWorld } from './world.ts';

setDefaultTimeout(SLOW_TEST_MS);

let hooks: WebhookWorld;
let world: ConformanceWorld;
beforeAll(async () => {
  hooks = await openWebhookWorld('payment.finalized,client.budget_low');
  world = hooks.world;
  await toNoonOfTenth(world);
});
afterAll(() => hooks.close());

interface Made {
  readonly client_pk: string;
  readonly client_credentials: string;
}
const agent = (budget: object | undefined, more: object = {}): Promise<Made> =>
  world.post('/v2/node/create_client', {
    scopes: ['send', 'read_info'],
    label: 'Agent',
    ...(budget && { budget }),
    ...more,
  });
/** Pays an invoice of the outside world, for which 10 sats more are reserved. */
const pay = async ({ client_credentials }: Made, amount: string, headers = {}) => {
  const { invoice } = await world.post('/sandbox/invoice', { amount });
  return world.call('POST', '/v2/node/pay_invoice', {
    body: { invoice, max_fee: '10' },
    credentials: client_credentials,
    headers,
  });
};
const paid = async (by: Made, amount: string) => {
  const { body } = await pay(by, amount);
  expect(body.status).toBe('completed');
  return body;
};
const received = () =>
  hooks.received.map(({ headers, body }) => ({
    id: headers.get('webhook-id'),
    ...JSON.parse(body),
  }));
const noticesOf = ({ client_pk }: Made) =>
  received().filter((one) => one.type === 'client.budget_low' && one.client_pk === client_pk);
/** Resolves once that many have arrived, and all that was written until now as well. */
const arrived = async (by: Made, count: number) => {
  await until(() => noticesOf(by).length >= count, 'the notice is delivered');
  await hooks.settled();
  expect(noticesOf(by)).toHaveLength(count);
};

describe('client.budget_low', () => {
  test('tells once that at most a fifth of the budget is left, with the client', async () => {
    const by = await agent({ amount: '1000', period: 'total' });
    await paid(by, '700');
    await arrived(by, 0);
    await paid(by, '100');
    await arrived(by, 1);
    const [notice] = noticesOf(by);
    const { id, type, timestamp, user_pk, ...client } = notice;
    const { kind, ...info } = await world.get('/v2/node/client_info', {}, by.client_credentials);
    expect([type, kind]).toEqual(['client.budget_low', 'client_credentials']);
    const { spent } = client.budget;
    expect(client).toEqual({ ...info, budget: { ...info.budget, spent } });
    expect(Number(spent)).toBeGreaterThanOrEqual(810);
    expect(timestamp).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
    expect(user_pk).toBe(
      received().find((one) => one.type === 'payment.finalized' && one.direction === 'outbound')
        .user_pk,
    );
    expect(JSON.stringify(notice)).not.toContain(by.client_credentials.slice(0, 40));
    await paid(by, '50');
    await arrived(by, 1);
    const { deliveries } = await world.get('/v2/webhooks/deliveries');
    expect(deliveries).toContainEqual(
      expect.objectContaining({ id, type, index: by.client_pk, state: 'delivered' }),
    );
  });

  test('draws the line at a fifth, what is reserved included', async () => {
    const budget = { amount: '1000', period: 'month' };
    const [above, at] = [await agent(budget), await agent(budget)];
    await paid(above, '789');
    await arrived(above, 0);
    await paid(at, '790');
    await arrived(at, 1);
    expect(noticesOf(at)[0].budget.spent).toBe('800');
  });

  test('tells of a single payment that takes all of the budget', async () => {
    const by = await agent({ amount: '1000', period: 'week' });
    await paid(by, '990');
    await arrived(by, 1);
    expect(noticesOf(by)[0].budget.spent).toBe('1000');
  });

  test('is one for two payments at once that cross the line together', async () => {
    const by = await agent({ amount: '1000', period: 'total' });
    const both = await Promise.all([paid(by, '400'), paid(by, '400')]);
    expect(both).toHaveLength(2);
    await arrived(by, 1);
    expect(noticesOf(by)[0].budget.spent).toBe('820');
  });

  test('tells of no payment that the budget refuses, and of no client without a budget', async () => {
    const by = await agent({ amount: '100', period: 'total' });
    expectError(await pay(by, '100'), 'overBudget');
    const free = await agent(undefined);
    await paid(free, '100');
    await arrived(by, 0);
    await arrived(free, 0);
  });

  test('tells of a payment that waits for approval, since its budget is reserved', async () => {
    const by = await agent({ amount: '1000', period: 'total' }, { approve_above: '0' });
    const { body } = await pay(by, '900', { Prefer: 'respond-async' });
    await arrived(by, 1);
    expect(noticesOf(by)[0]).toMatchObject({ approve_above: '0', budget: { spent: '910' } });
    await world.post('/v2/node/reject', { index: body.index });
  });

  test('tells of the same period no second time, also over a restart', async () => {
    const by = await agent({ amount: '1000', period: 'total' });
    await paid(by, '800');
    await arrived(by, 1);
    await world.restart();
    await paid(by, '100');
    await arrived(by, 1);
  });

  test('tells again once the budget was raised and is low again', async () => {
    const by = await agent({ amount: '1000', period: 'total' });
    await paid(by, '800');
    const { client_pk } = by;
    const budget = { amount: '2000', period: 'total' };
    await world.put('/v2/node/update_client', { client_pk, budget });
    await paid(by, '100');
    await arrived(by, 1);
    await world.put('/v2/node/update_client', {
      client_pk,
      budget: { ...budget, max_payment: '900' },
    });
    await paid(by, '690');
    await arrived(by, 2);
    await paid(by, '10');
    await arrived(by, 2);
    const [first, second] = noticesOf(by);
    expect(second.id).not.toBe(first.id);
  });

  test('tells of each period by the clock of the node', async () => {
    const by = await agent({ amount: '1000', period: 'day' });
    await paid(by, '800');
    await arrived(by, 1);
    await world.post('/sandbox/clock', { advance_secs: 86_400 });
    await paid(by, '700');
    await arrived(by, 1);
    await paid(by, '100');
    await arrived(by, 2);
    const [first, second] = noticesOf(by);
    expect(second.id).not.toBe(first.id);
    expect(Date.parse(second.timestamp) - Date.parse(first.timestamp)).toBeGreaterThan(86_000_000);
  });

  sandboxTest('tells of the fee of a channel that leaves so little', async () => {
    const spentBy = async (amount: number) => {
      const by = await agent({ amount: String(amount), period: 'total' }, { scopes: ['full'] });
      await world.post('/v2/node/open_channel', { value: '50000' }, by.client_credentials);
      const { budget } = await world.get('/v2/node/client_info', {}, by.client_credentials);
      return { by, spent: Number(budget.spent) };
    };
    const rich = await spentBy(1_000_000);
    await arrived(rich.by, 0);
    // Twice the estimate is reserved.
    const { by } = await spentBy(Math.ceil(rich.spent * 2.2));
    await arrived(by, 1);
  });

  test('is heard by the endpoints that ask for it', async () => {
    const bodies: { type: string }[] = [];
    const receiver = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch(request) {
        bodies.push((await request.json()) as { type: string });
        return new Response();
      },
    });
    try {
      const add = (events: readonly string[]) =>
        world.post('/v2/webhooks/endpoints', {
          url: `${receiver.url.href}${events.length}`,
          events,
        });
      const added = [
        await add(['client.budget_low']),
        await add(['payment.held', 'payment.finalized']),
      ];
      const by = await agent({ amount: '1000', period: 'total' });
      const { index } = await paid(by, '900');
      await arrived(by, 1);
      const ofPayment = bodies.filter((body) => 'index' in body && body.index === index);
      expect(ofPayment).toMatchObject([{ type: 'payment.finalized' }]);
      const ofClient = bodies.filter(({ type }) => type === 'client.budget_low');
      expect(ofClient).toMatchObject([{ client_pk: by.client_pk }]);
      for (const { id } of added) await world.post('/v2/webhooks/endpoints/delete', { id });
    } finally {
      await receiver.stop(true);
    }
  });
});
