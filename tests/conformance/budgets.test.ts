import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test';
import { expectError } from '../support/requests.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { test } from './node-test.ts';
import { toNoonOfTenth } from './wallet-steps.ts';
import { type ConformanceWorld, openConformanceWorld } from './world.ts';

setDefaultTimeout(SLOW_TEST_MS);

let world: ConformanceWorld;
beforeAll(async () => {
  world = await openConformanceWorld();
  await toNoonOfTenth(world);
});
afterAll(() => world.close());

const create = (body: object) => world.post('/v2/node/create_client', body);

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
    expect(beyond.body.data).toEqual({ remaining: '498.5', sent: 'no' });
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

  test('what remains is at least max_payment only where one payment costs too much at any time', async () => {
    const budget = { amount: '150', period: 'day', max_payment: '100' };
    const { client_credentials } = await create({ scopes: ['full'], budget });
    const remaining = async (amount: string) =>
      Number((await pay(client_credentials, amount)).body.data.remaining);
    expect(await remaining('120')).toBe(150);
    expect((await pay(client_credentials, '60')).body.status).toBe('completed');
    expect(await remaining('90')).toBeLessThan(100);
    expect(await remaining('120')).toBeLessThan(100);
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
