import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test';
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

const { arrived } = walletSteps(() => world);

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
