import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test';
import { type Body, expectError } from '../support/requests.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { test } from './node-test.ts';
import { UNKNOWN_INDEX, walletSteps } from './wallet-steps.ts';
import { type ConformanceWorld, openConformanceWorld } from './world.ts';

setDefaultTimeout(SLOW_TEST_MS);

let world: ConformanceWorld;
beforeAll(async () => {
  world = await openConformanceWorld();
});
afterAll(() => world.close());

const { arrived, address } = walletSteps(() => world);
const onchainBalance = async () =>
  Number((await world.get('/v2/node/node_info', {}, world.bob)).onchain_balance);

describe('get_next_unused_address', () => {
  const next = async (type?: string) =>
    (await world.post('/v2/node/get_next_unused_address', { ...(type && { type }) }))
      .address as string;

  test('hands out an address of each type, the same until it is paid, and segwit by default', async () => {
    const [segwit, taproot] = [await next('segwit'), await next('taproot')];
    expect(segwit).toMatch(/^bcrt1q[0-9a-z]{38}$/);
    expect(taproot).toMatch(/^bcrt1p[0-9a-z]{58}$/);
    expect(await next()).toBe(segwit);
    expect(await next('taproot')).toBe(taproot);
    const body = { address: taproot, amount: '30000' };
    const { txid } = await world.post('/v2/node/pay_onchain', body, world.bob);
    const received = await arrived((payment) => payment.txid === txid);
    expect(received).toMatchObject({ direction: 'inbound', amount: '30000', address: taproot });
    expect(await next('taproot')).not.toBe(taproot);
    expect(await next('segwit')).toBe(segwit);
    expect(
      (await world.call('POST', '/v2/node/get_next_unused_address', { body: { type: 'p2pk' } }))
        .status,
    ).toBe(400);
  });
});

describe('max_fee of pay_onchain', () => {
  test('bounds the fee before anything is signed', async () => {
    const before = await onchainBalance();
    const body = { address: await address(), amount: '20000', max_fee: '1' };
    const options = { credentials: world.bob };
    const tooMuch = await world.call('POST', '/v2/node/pay_onchain', { body, ...options });
    expectError(tooMuch, 'refused', /fee/);
    expect(tooMuch.body.data.sent).toBe('no');
    expect(await onchainBalance()).toBe(before);
    const enough = { ...body, max_fee: '20000' };
    const { fees } = await world.post('/v2/node/pay_onchain', enough, world.bob);
    expect(Number(fees)).toBeLessThanOrEqual(20_000);
  });
});

describe('send_all', () => {
  const body = async (more: object = {}) => ({ address: await address(), send_all: true, ...more });
  test('an amount or send_all is required, and not both', async () => {
    const to = await address();
    for (const given of [
      { address: to },
      { address: to, send_all: false },
      { address: to, amount: '1000', send_all: true },
    ]) {
      const rejected = await world.call('POST', '/v2/node/pay_onchain', { body: given });
      expectError(rejected, 'rejected', /amount/);
      expect(rejected.body.data.sent).toBe('no');
    }
  });

  test('leaves nothing that could be sent, and a repeat finds the same payment', async () => {
    const before = await onchainBalance();
    const request = await body({ client_payment_id: 'ef'.repeat(32) });
    const all = await Promise.all(
      Array.from({ length: 3 }, () => world.post('/v2/node/pay_onchain', request, world.bob)),
    );
    const [sent] = all;
    expect(new Set(all.map(({ txid }) => txid)).size).toBe(1);
    const left = await onchainBalance();
    expect(before - left).toBe(Number(sent?.amount) + Number(sent?.fees));
    // What the address does not get is change, in which a node keeps back a reserve for its channels.
    const values: number[] = sent?.tx.output.map(({ value }: Body) => value);
    const [change = 0, ...more] = values.filter((value) => value !== Number(sent?.amount));
    expect(more).toEqual([]);
    expect(left).toBe(change);
    const received = await arrived((payment) => payment.txid === sent?.txid);
    expect(received.amount).toBe(sent?.amount);
    const again = await world.post('/v2/node/pay_onchain', request, world.bob);
    expect(again.index).toBe(sent?.index);
    const other = await world.call('POST', '/v2/node/pay_onchain', {
      body: await body(),
      credentials: world.bob,
    });
    expectError(other, 'refused');
    expect(other.body.data.sent).toBe('no');
    expect(await onchainBalance()).toBe(left);
    // Files that run later on the same nodes need the coins.
    await world.post('/sandbox/blocks', { count: 6 });
    const home = await world.post('/v2/node/get_next_unused_address', {}, world.bob);
    await world.post('/v2/node/pay_onchain', { ...home, amount: sent?.amount.slice(0, -1) });
    await world.post('/sandbox/blocks', { count: 6 });
  });

  test('counts in a budget as what it sends', async () => {
    await world.post('/sandbox/pay', { payable: await address(), amount: '50000' });
    await world.post('/sandbox/blocks', { count: 6 });
    const budget = { amount: '20000', period: 'day' };
    const { client_credentials } = await world.post('/v2/node/create_client', {
      scopes: ['send'],
      budget,
    });
    const refused = await world.call('POST', '/v2/node/pay_onchain', {
      body: await body(),
      credentials: client_credentials,
    });
    expectError(refused, 'overBudget');
  });

  test('fits a budget of exactly what can be sent with its fee', async () => {
    const { onchain_balance: all } = await world.get('/v2/node/node_info');
    const { client_credentials } = await world.post('/v2/node/create_client', {
      scopes: ['send'],
      budget: { amount: all, period: 'total' },
    });
    const home = await world.post('/v2/node/get_next_unused_address', {}, world.bob);
    const sent = await world.post(
      '/v2/node/pay_onchain',
      { ...home, send_all: true },
      client_credentials,
    );
    expect(sent.status).toBe('pending');
    // Files that run later on the same nodes need the coins.
    await world.post('/sandbox/blocks', { count: 6 });
    const body = { address: await address(), amount: sent.amount.slice(0, -1) };
    await world.post('/v2/node/pay_onchain', body, world.bob);
    await world.post('/sandbox/blocks', { count: 6 });
  });
});

describe('bump_fee', () => {
  const bump = (index: string, more: object = {}) =>
    world.call('POST', '/v2/node/bump_fee', { body: { index, ...more }, credentials: world.bob });
  const send = async (amount: string) =>
    world.post(
      '/v2/node/pay_onchain',
      { address: await address(), amount, priority: 'background' },
      world.bob,
    );

  test('a child pays for a send that waits: the payment stays what it is, and the fee is paid once', async () => {
    const sent = await send('4000');
    const before = await onchainBalance();
    const bumped = await bump(sent.index);
    expect(bumped.body).toMatchObject({ index: sent.index, txid: sent.txid, fees: sent.fees });
    const left = await until(async () => {
      const now = await onchainBalance();
      return now < before ? now : null;
    }, 'the child is paid');
    expect((await bump(sent.index)).status).toBe(200);
    expect(await onchainBalance()).toBe(left);
    await world.post('/sandbox/blocks', { count: 6 });
    const done = await world.get('/v2/node/wait_for_payment', { index: sent.index }, world.bob);
    expect(done).toMatchObject({ status: 'completed', txid: sent.txid });
    const late = await bump(sent.index);
    expectError(late, 'refused');
    expect(late.body.data.sent).toBe('no');
  });

  test('what the child costs has a row of its own, so that payments add up to the balance', async () => {
    const before = await onchainBalance();
    const sent = await send('4100');
    const unraised = before - 4100 - Number(sent.fees);
    expect((await bump(sent.index)).status).toBe(200);
    // A node may publish the child a moment after its answer.
    await until(async () => (await onchainBalance()) < unraised, 'the child is paid');
    await world.post('/sandbox/blocks', { count: 6 });
    await world.get('/v2/node/wait_for_payment', { index: sent.index }, world.bob);
    const row = await until(async () => {
      await world.call('PUT', '/v2/node/sync_payments', { credentials: world.bob });
      const query = { filter: 'completed', direction: 'info' };
      const { payments } = await world.get('/v2/node/list_payments', query, world.bob);
      return payments.find(({ tx }: Body) =>
        tx?.input.some(({ previous_output }: Body) => previous_output.startsWith(sent.txid)),
      ) as Body | undefined;
    }, 'the fee of the child has its row');
    expect(row).toMatchObject({ rail: 'onchain', kind: 'onchain', direction: 'info', amount: '0' });
    expect(row.index).toMatch(/-or_[0-9a-f]{64}$/);
    const cost = 4100 + Number(sent.fees) + Number(row.fees);
    expect(before - (await onchainBalance())).toBe(cost);
  });

  test('nothing is made above max_fee, for a payment of another kind, or for none', async () => {
    const sent = await send('4500');
    const before = await onchainBalance();
    const tooMuch = await bump(sent.index, { max_fee: '1' });
    expectError(tooMuch, 'refused');
    expect(tooMuch.body.data.sent).toBe('no');
    expect(await onchainBalance()).toBe(before);
    const { index } = await world.post('/v2/node/create_invoice', { amount: '5' }, world.bob);
    expectError(await bump(index), 'refused');
    expectError(await bump(UNKNOWN_INDEX), 'notFound');
    await world.post('/sandbox/blocks', { count: 6 });
  });

  test("a caller that may not read payments learns nothing of another's but its status, and raises nothing", async () => {
    const sent = await send('4700');
    const { client_credentials: credentials } = await world.post(
      '/v2/node/create_client',
      { scopes: ['send'] },
      world.bob,
    );
    const before = await onchainBalance();
    const body = { index: sent.index };
    const asked = await world.call('POST', '/v2/node/bump_fee', { body, credentials });
    expectError(asked, 'refused');
    expect(asked.body.data).toEqual({ status: 'pending' });
    expect(await onchainBalance()).toBe(before);
    await world.post('/sandbox/blocks', { count: 6 });
  });

  test('counts in the budget of a client', async () => {
    const client = await world.post(
      '/v2/node/create_client',
      { scopes: ['send', 'read_payments'], budget: { amount: '400000', period: 'total' } },
      world.bob,
    );
    const credentials = client.client_credentials;
    const order = { address: await address(), amount: '3000', priority: 'background' };
    const sent = await world.post('/v2/node/pay_onchain', order, credentials);
    const spent = async () => {
      const { clients } = await world.get('/v2/node/list_clients', {}, world.bob);
      return Number(clients[client.client_pk].budget.spent);
    };
    const before = await spent();
    const body = { index: sent.index };
    const bumped = await world.call('POST', '/v2/node/bump_fee', { body, credentials });
    expect(bumped.body).toMatchObject({ index: sent.index });
    expect(await spent()).toBeGreaterThan(before);
    await world.post('/sandbox/blocks', { count: 6 });
  });
});
