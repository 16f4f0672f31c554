import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test';
import { SLOW_TEST_MS } from '../support/until.ts';
import { test } from './node-test.ts';
import { type ConformanceWorld, openConformanceWorld } from './world.ts';

setDefaultTimeout(SLOW_TEST_MS);

let world: ConformanceWorld;
beforeAll(async () => {
  world = await openConformanceWorld();
});
afterAll(() => world.close());

async function estimateOf(payment_string: string, credentials?: string): Promise<string | null> {
  const { payables } = await world.get('/v2/node/analyze', { payment_string }, credentials);
  expect(payables).toHaveLength(1);
  return payables[0].fee_estimate;
}

describe('fee_estimate of analyze', () => {
  test('is what the payment of an invoice then costs', async () => {
    const { invoice } = await world.post('/sandbox/invoice', { amount: '2000' });
    const estimate = await estimateOf(invoice);
    expect(estimate).toMatch(/^\d+(\.\d+)?$/);
    const paid = await world.post('/v2/node/pay_invoice', { invoice });
    expect(paid).toMatchObject({ status: 'completed', fees: estimate });
  });

  test('is there on chain for the normal priority', async () => {
    const { address } = await world.post('/v2/node/get_next_unused_address', {}, world.bob);
    const estimate = await estimateOf(`bitcoin:${address}?amount=0.0003`);
    expect(Number(estimate)).toBeGreaterThan(0);
  });

  test('is null where the payer chooses the amount', async () => {
    const { invoice } = await world.post('/sandbox/invoice', {});
    expect(await estimateOf(invoice)).toBeNull();
    const { address } = await world.post('/v2/node/get_next_unused_address', {}, world.bob);
    expect(await estimateOf(address)).toBeNull();
  });

  test("is null for what cannot be paid from here: the wallet's own invoice, and coins it does not have", async () => {
    const own = await world.post('/v2/node/create_invoice', { amount: '5' });
    expect(await estimateOf(own.invoice)).toBeNull();
    const { address } = await world.post('/v2/node/get_next_unused_address', {}, world.bob);
    expect(await estimateOf(`bitcoin:${address}?amount=20000`)).toBeNull();
  });

  test('needs no other permission than analyze', async () => {
    const { client_credentials } = await world.post('/v2/node/create_client', {
      label: 'reader',
      permissions: ['node_info'],
      scopes: [],
    });
    const { invoice } = await world.post('/sandbox/invoice', { amount: '3' });
    expect(await estimateOf(invoice, client_credentials)).not.toBeNull();
    const { address } = await world.post('/v2/node/get_next_unused_address', {}, world.bob);
    const uri = `bitcoin:${address}?amount=0.0003`;
    expect(await estimateOf(uri, client_credentials)).not.toBeNull();
  });

  test('sends nothing: no payment is made by asking', async () => {
    await world.put('/v2/node/sync_payments');
    const { invoice } = await world.post('/sandbox/invoice', { amount: '4' });
    await estimateOf(invoice);
    expect(await world.put('/v2/node/sync_payments')).toEqual({ num_new: 0, num_updated: 0 });
  });
});
