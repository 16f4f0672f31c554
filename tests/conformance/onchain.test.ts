import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test';
import { type Body, expectError } from '../support/requests.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { test } from './node-test.ts';
import { walletSteps } from './wallet-steps.ts';
import { type ConformanceWorld, openConformanceWorld } from './world.ts';

setDefaultTimeout(SLOW_TEST_MS);

let world: ConformanceWorld;
beforeAll(async () => {
  world = await openConformanceWorld();
});
afterAll(() => world.close());

const { address, arrived, newest } = walletSteps(() => world);

describe('on chain', () => {
  test('a send is pending with its transaction, and both sides complete at six confirmations', async () => {
    const to = await address();
    expect(await address()).toBe(to);
    const sent = await world.post(
      '/v2/node/pay_onchain',
      { address: to, amount: '20000', personal_note: 'rent' },
      world.bob,
    );
    expect(sent).toMatchObject({
      rail: 'onchain',
      kind: 'onchain',
      direction: 'outbound',
      status: 'pending',
      status_msg: 'broadcasted',
      hash: null,
      address: to,
      amount: '20000',
      priority: 'normal',
      finalized_at: null,
      personal_note: 'rent',
    });
    expect(sent.index).toMatch(/-os_[0-9a-f]{64}$/);
    expect(sent.tx.output.map(({ value }: Body) => value)).toContain(20000);
    expect(await address()).not.toBe(to);
    const received = await arrived((payment) => payment.txid === sent.txid);
    expect(received).toMatchObject({
      direction: 'inbound',
      status: 'pending',
      amount: '20000',
      address: to,
    });
    expect(received.index).toMatch(/-or_[0-9a-f]{64}$/);
    const info = await world.get('/v2/node/node_info');
    expect(Number(info.onchain_balance) - Number(info.onchain_trusted_balance)).toBe(20000);
    await world.post('/sandbox/blocks', { count: 5 });
    expect((await world.get('/v2/node/payment', { index: sent.index }, world.bob)).status).toBe(
      'pending',
    );
    const waiting = world.get('/v2/node/wait_for_payment', { index: sent.index }, world.bob);
    await world.post('/sandbox/blocks', { count: 1 });
    expect(await waiting).toMatchObject({ status: 'completed', status_msg: 'completed' });
    expect(await world.get('/v2/node/wait_for_payment', { index: received.index })).toMatchObject({
      status: 'completed',
    });
  });

  test('a replaced payment names the other transaction, and fails at its six confirmations', async () => {
    await world.post('/sandbox/pay', { payable: await address(), amount: '9000' });
    const received = await newest();
    const { txid } = await world.post('/sandbox/replace', { txid: received.txid });
    const now = () => world.get('/v2/node/payment', { index: received.index });
    expect(await now()).toMatchObject({ status: 'pending', replacement: txid });
    await world.post('/sandbox/blocks', { count: 5 });
    expect((await now()).status).toBe('pending');
    const waiting = world.get('/v2/node/wait_for_payment', { index: received.index });
    await world.post('/sandbox/blocks', { count: 1 });
    expect(await waiting).toMatchObject({
      status: 'failed',
      status_msg: 'replaced',
      replacement: txid,
    });
    expectError(
      await world.call('POST', '/sandbox/replace', { body: { txid: received.txid } }),
      'refused',
    );
  });

  test('higher priority pays a higher fee', async () => {
    const fees: number[] = [];
    for (const priority of ['background', 'normal', 'high']) {
      const sent = await world.post(
        '/v2/node/pay_onchain',
        { address: await address(), amount: '1000', priority },
        world.bob,
      );
      expect(sent.priority).toBe(priority);
      fees.push(Number(sent.fees));
    }
    expect(fees).toEqual(fees.toSorted((a, b) => a - b));
    expect(new Set(fees).size).toBe(3);
  });

  test('the same client_payment_id never sends twice, under concurrency and over a restart', async () => {
    const body = { address: await address(), amount: '3000', client_payment_id: 'ab'.repeat(32) };
    const before = Number((await world.get('/v2/node/node_info', {}, world.bob)).balance);
    const all = await Promise.all(
      Array.from({ length: 8 }, () => world.post('/v2/node/pay_onchain', body, world.bob)),
    );
    await world.restart();
    const later = await world.post('/v2/node/pay_onchain', body, world.bob);
    expect(new Set([...all, later].map(({ txid }) => txid)).size).toBe(1);
    expect(Number((await world.get('/v2/node/node_info', {}, world.bob)).balance)).toBe(
      before - 3000 - Number(later.fees),
    );
    const other = { ...body, amount: '3001' };
    expectError(
      await world.call('POST', '/v2/node/pay_onchain', { body: other, credentials: world.bob }),
      'refused',
      /another/,
    );
  });

  const bad: readonly (readonly [string, object, 'rejected' | 'refused'])[] = [
    ['no address', { address: 'nonsense' }, 'rejected'],
    [
      'an address of another network',
      { address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq' },
      'refused',
    ],
    ['decimals of a satoshi', { amount: '1000.5' }, 'rejected'],
    ['dust', { amount: '100' }, 'refused'],
    ['more than the wallet has', { amount: '99999999' }, 'refused'],
    ['an unknown priority', { priority: 'urgent' }, 'rejected'],
    ['a short client_payment_id', { client_payment_id: 'abcd' }, 'rejected'],
  ];
  for (const [what, change, name] of bad) {
    test(`refuses ${what}`, async () => {
      const body = { address: await address(), amount: '1000', ...change };
      expectError(
        await world.call('POST', '/v2/node/pay_onchain', { body, credentials: world.bob }),
        name,
      );
    });
  }
});
