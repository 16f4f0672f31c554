import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test';
import { createHash } from 'node:crypto';
import { expectError } from '../support/requests.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { test } from './node-test.ts';
import { walletSteps } from './wallet-steps.ts';
import { type ConformanceWorld, openConformanceWorld } from './world.ts';

setDefaultTimeout(SLOW_TEST_MS);

let world: ConformanceWorld;
/** The node of the default wallet, which the second wallet pays. */
let node_pk: string;
beforeAll(async () => {
  world = await openConformanceWorld();
  ({ node_pk } = await world.get('/v2/node/node_info'));
});
afterAll(() => world.close());

const PAY = '/v2/node/pay_spontaneous';
const { arrived } = walletSteps(() => world);
const pay = (body: object, headers: Record<string, string> = {}) =>
  world.call('POST', PAY, { body: { node_pk, ...body }, credentials: world.bob, headers });

describe('pay_spontaneous', () => {
  test('pays a node without an invoice, and the message arrives', async () => {
    const { status, body } = await pay({ amount: '12.5', message: 'hällo', personal_note: 'mine' });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      rail: 'spontaneous',
      kind: 'spontaneous',
      direction: 'outbound',
      status: 'completed',
      amount: '12.5',
      message: 'hällo',
      personal_note: 'mine',
      invoice: null,
      expires_at: null,
    });
    expect(body.index).toEndWith(`-ln_${body.hash}`);
    const proof = createHash('sha256').update(Buffer.from(body.preimage, 'hex')).digest('hex');
    expect(proof).toBe(body.hash);
    expect(await arrived(({ hash }) => hash === body.hash)).toMatchObject({
      rail: 'spontaneous',
      direction: 'inbound',
      status: 'completed',
      amount: '12.5',
      message: 'hällo',
      personal_note: null,
    });
  });

  test('needs no message, and each request is a payment of its own', async () => {
    const [one, two] = [await pay({ amount: '3' }), await pay({ amount: '3' })];
    expect([one.body.status, two.body.status]).toEqual(['completed', 'completed']);
    expect(one.body.message).toBeNull();
    expect(one.body.hash).not.toBe(two.body.hash);
  });

  test('with the same Idempotency-Key it is paid once', async () => {
    const key = { 'idempotency-key': crypto.randomUUID() };
    const first = await pay({ amount: '4', message: 'once' }, key);
    const again = await pay({ amount: '4', message: 'once' }, key);
    expect(first.body.status).toBe('completed');
    expect(again.body).toEqual(first.body);
    expectError(await pay({ amount: '5', message: 'once' }, key), 'idempotencyConflict');
  });

  test('Prefer: respond-async answers 202 with the payment while it is pending, 200 once it has ended', async () => {
    const begun = await pay({ amount: '6' }, { prefer: 'respond-async' });
    expect(begun.status).toBe(begun.body.status === 'pending' ? 202 : 200);
    const query = { index: begun.body.index, timeout_secs: '30' };
    const ended = await world.get('/v2/node/wait_for_payment', query, world.bob);
    expect(ended).toMatchObject({ status: 'completed', amount: '6' });
  });

  test("the wallet's own node cannot be paid, and nothing is sent", async () => {
    const { node_pk: own } = await world.get('/v2/node/node_info', {}, world.bob);
    const answer = await pay({ node_pk: own, amount: '7' });
    expectError(answer, 'refused', /own/);
    expect(answer.body.data).toMatchObject({ sent: 'no' });
  });

  test('a node that no route leads to fails the payment', async () => {
    // The generator point of secp256k1: a valid key that no node has.
    const nobody = '0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798';
    const { status, body } = await pay({ node_pk: nobody, amount: '7' });
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'failed', status_msg: 'no route', preimage: null });
  });

  test('what is no public key, or no amount, is error 7, and says that nothing was sent', async () => {
    const wrong = [
      { node_pk: 'ab'.repeat(33), amount: '1' },
      { node_pk: node_pk.slice(2), amount: '1' },
      { amount: '0' },
      {},
      { amount: '1', message: '' },
    ];
    for (const body of wrong) {
      const answer = await pay(body);
      expectError(answer, 'rejected');
      expect(answer.body.data).toMatchObject({ sent: 'no' });
    }
  });

  test('needs pay_invoice, and counts in the budget', async () => {
    const client = async (grant: object) =>
      (await world.post('/v2/node/create_client', { label: 'tips', ...grant })).client_credentials;
    const { node_pk: bobs } = await world.get('/v2/node/node_info', {}, world.bob);
    const tip = (credentials: string, amount: string) =>
      world.call('POST', PAY, { body: { node_pk: bobs, amount, max_fee: '1' }, credentials });
    const reader = await client({ scopes: ['read_info', 'receive'] });
    const lacking = await tip(reader, '5');
    expectError(lacking, 'forbidden');
    expect(lacking.body.data).toMatchObject({ permission: 'pay_invoice' });
    const budget = { amount: '20', period: 'total' };
    const tipper = await client({ scopes: ['send'], budget });
    expectError(await tip(tipper, '50'), 'overBudget');
    expect((await tip(tipper, '10')).body).toMatchObject({ status: 'completed' });
    expectError(await tip(tipper, '15'), 'overBudget');
  });
});
