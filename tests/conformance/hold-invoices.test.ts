import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test';
import { createHash, randomBytes } from 'node:crypto';
import { decodeBolt11 } from '../../src/codecs/bolt11/index.ts';
import { type Body, expectError } from '../support/requests.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { test } from './node-test.ts';
import { UNKNOWN_INDEX } from './wallet-steps.ts';
import { openWebhookWorld, type WebhookWorld } from './webhook-world.ts';
import type { ConformanceWorld } from './world.ts';

setDefaultTimeout(SLOW_TEST_MS);

let hooks: WebhookWorld;
let world: ConformanceWorld;
beforeAll(async () => {
  hooks = await openWebhookWorld('payment.finalized,payment.held');
  ({ world } = hooks);
});
afterAll(() => hooks.close());

const INVOICE = '/v2/node/create_invoice';
const SETTLE = '/v2/node/settle_invoice';
const newSecret = () => {
  const preimage = randomBytes(32);
  const payment_hash = createHash('sha256').update(preimage).digest('hex');
  return { preimage: preimage.toString('hex'), payment_hash };
};
const payment = (index: string) => world.get('/v2/node/payment', { index });
const settle = (index: string, preimage: string) =>
  world.call('POST', SETTLE, { body: { index, preimage } });

/** Makes a hold invoice that is not paid yet. */
async function open(change: object = {}): Promise<Body> {
  const { preimage, payment_hash } = newSecret();
  const made = await world.post(INVOICE, { amount: '21', payment_hash, ...change });
  return { ...made, preimage };
}

/** Lets the second wallet begin to pay. Resolves to its pending payment. */
async function beginToPay({ invoice }: Body, change: object = {}): Promise<Body> {
  const { status, body } = await world.call('POST', '/v2/node/pay_invoice', {
    body: { invoice, ...change },
    credentials: world.bob,
    headers: { prefer: 'respond-async' },
  });
  expect([status, body.status]).toEqual([202, 'pending']);
  return body;
}

/** Works as {@link beginToPay}, and resolves when the default wallet holds the money. */
async function hold(made: Body, change: object = {}): Promise<Body> {
  const paying = await beginToPay(made, change);
  await until(async () => (await payment(made.index)).status_msg === 'held', 'it is held');
  return paying;
}

const end = (index: string, credentials?: string) =>
  world.get('/v2/node/wait_for_payment', { index, timeout_secs: '30' }, credentials);
const notices = (index: string) =>
  hooks.received
    .map(({ headers, body }) => ({ id: headers.get('webhook-id'), ...JSON.parse(body) }))
    .filter((one) => one.index === index && one.direction === 'inbound');

describe('an invoice with payment_hash', () => {
  test('is for that hash, and is held when it is paid until it is settled', async () => {
    const made = await open({ description: 'order 7', personal_note: 'mine' });
    expect(decodeBolt11(made.invoice).paymentHash).toBe(made.payment_hash);
    expect(made).toMatchObject({ description: 'order 7', amount: '21' });
    expect(await payment(made.index)).toMatchObject({
      status: 'pending',
      status_msg: 'invoice generated',
    });
    const paying = await hold(made);
    expect(await payment(made.index)).toMatchObject({
      status: 'pending',
      status_msg: 'held',
      amount: '21',
      preimage: null,
      finalized_at: null,
      personal_note: 'mine',
    });
    expect((await settle(made.index, made.preimage)).body).toEqual({});
    expect(await end(made.index)).toMatchObject({
      status: 'completed',
      preimage: made.preimage,
      amount: '21',
      personal_note: 'mine',
    });
    expect(await end(paying.index, world.bob)).toMatchObject({
      status: 'completed',
      preimage: made.preimage,
    });
  });

  test('tells a waiter that it is held', async () => {
    const made = await open();
    await world.put('/v2/node/sync_payments');
    const heldSeen = (async () => {
      while (true) {
        const next = await world.get('/v2/node/wait_for_next_payment', { timeout_secs: '30' });
        const { index, status_msg } = next.payment;
        if (index === made.index && status_msg === 'held') return;
      }
    })();
    const paying = await beginToPay(made);
    await heldSeen;
    await world.post('/v2/node/cancel_payment', { index: made.index });
    // The payer's balance, which another test reads, has the money again only then.
    expect(await end(paying.index, world.bob)).toMatchObject({ status: 'failed' });
  });

  test('may leave the amount to the payer, and then tells what is held', async () => {
    const made = await open({ amount: null });
    await hold(made, { fallback_amount: '17' });
    expect(await payment(made.index)).toMatchObject({ amount: '17' });
    await settle(made.index, made.preimage);
    expect(await end(made.index)).toMatchObject({ status: 'completed', amount: '17' });
  });

  test('canceled while it is held gives the payer the money back', async () => {
    const balance = async () =>
      (await world.get('/v2/node/node_info', {}, world.bob)).lightning_balance;
    const before = await balance();
    const made = await open();
    const paying = await hold(made);
    expect(await world.post('/v2/node/cancel_payment', { index: made.index })).toEqual({});
    expect(await end(made.index)).toMatchObject({ status: 'failed', status_msg: 'canceled' });
    expect(await end(paying.index, world.bob)).toMatchObject({
      status: 'failed',
      status_msg: 'rejected by the receiver',
    });
    expect(await balance()).toBe(before);
    expectError(await settle(made.index, made.preimage), 'refused', /canceled/);
  });

  test('is announced twice: payment.held while pending, and payment.finalized at its end', async () => {
    const made = await open();
    await hold(made);
    await until(() => notices(made.index).length === 1, 'the first webhook arrived');
    await settle(made.index, made.preimage);
    await until(() => notices(made.index).length === 2, 'the second webhook arrived');
    const [first, second] = notices(made.index);
    expect(first).toMatchObject({
      type: 'payment.held',
      status: 'pending',
      status_msg: 'held',
      preimage: null,
    });
    expect(Date.parse(first.timestamp)).toBe(first.updated_at);
    expect(second).toMatchObject({ type: 'payment.finalized', status: 'completed' });
    expect(first.id).not.toBe(second.id);
    const { deliveries } = await world.get('/v2/webhooks/deliveries', { limit: '10' });
    const ids = deliveries.flatMap((one: Body) => (one.index === made.index ? [one.id] : []));
    expect(ids.toSorted()).toEqual([first.id, second.id].toSorted());
  });

  test('stays held over a restart, is announced once, and can be settled after it', async () => {
    const made = await open();
    await hold(made);
    await until(() => notices(made.index).length === 1, 'the webhook arrived');
    await hooks.settled();
    await world.restart();
    expect(await payment(made.index)).toMatchObject({ status: 'pending', status_msg: 'held' });
    expect((await settle(made.index, made.preimage)).body).toEqual({});
    expect(await end(made.index)).toMatchObject({ status: 'completed' });
    await until(() => notices(made.index).length > 1, 'the second webhook arrived');
    expect(notices(made.index).map(({ type }) => type)).toEqual([
      'payment.held',
      'payment.finalized',
    ]);
  });
});

describe('settle_invoice', () => {
  test('before the payment is held is error 106, and the payment goes on', async () => {
    const made = await open();
    expectError(await settle(made.index, made.preimage), 'refused', /arrived/);
    await hold(made);
    expect((await settle(made.index, made.preimage)).status).toBe(200);
    expect(await end(made.index)).toMatchObject({ status: 'completed' });
  });

  test('with a preimage of another hash is error 7, before and while it is held', async () => {
    const made = await open();
    const other = newSecret().preimage;
    expectError(await settle(made.index, other), 'rejected', /payment_hash/);
    await hold(made);
    expectError(await settle(made.index, other), 'rejected', /payment_hash/);
    expect(await payment(made.index)).toMatchObject({ status_msg: 'held' });
    await settle(made.index, made.preimage);
  });

  test('again does nothing', async () => {
    const made = await open();
    await hold(made);
    for (let time = 0; time < 3; time++) {
      expect((await settle(made.index, made.preimage)).body).toEqual({});
    }
    expect(await end(made.index)).toMatchObject({ status: 'completed' });
    expect((await settle(made.index, made.preimage)).body).toEqual({});
  });

  test('of what is no invoice of the wallet is error 106 or 107', async () => {
    expectError(await settle(UNKNOWN_INDEX, newSecret().preimage), 'notFound');
    const { invoice } = await world.post('/sandbox/invoice', { amount: '3' });
    const paid = await world.post('/v2/node/pay_invoice', { invoice });
    expectError(await settle(paid.index, paid.preimage), 'refused');
  });

  test('and payment_hash need create_invoice and nothing more', async () => {
    const client = async (grant: object) =>
      (await world.post('/v2/node/create_client', { label: 'till', ...grant })).client_credentials;
    const reader = await client({ scopes: ['read_info', 'read_payments'] });
    const till = await client({ scopes: [], permissions: ['create_invoice'] });
    const { preimage, payment_hash } = newSecret();
    const body = { amount: '5', payment_hash };
    expectError(await world.call('POST', INVOICE, { body, credentials: reader }), 'forbidden');
    const made = await world.post(INVOICE, body, till);
    await hold(made);
    const order = { index: made.index, preimage };
    const denied = await world.call('POST', SETTLE, { body: order, credentials: reader });
    expectError(denied, 'forbidden');
    expect(await world.post(SETTLE, order, till)).toEqual({});
    expect(await end(made.index)).toMatchObject({ status: 'completed' });
  });
});

describe('a payment_hash', () => {
  test('makes one invoice: another request is error 106, a repeat with its key gets the first', async () => {
    const { payment_hash } = newSecret();
    const body = { amount: '8', payment_hash };
    const headers = { 'idempotency-key': randomBytes(8).toString('hex') };
    const first = await world.call('POST', INVOICE, { body, headers });
    expect(first.status).toBe(200);
    expectError(await world.call('POST', INVOICE, { body }), 'refused', /payment_hash/);
    const other = { 'idempotency-key': randomBytes(8).toString('hex') };
    expectError(await world.call('POST', INVOICE, { body, headers: other }), 'refused');
    expect((await world.call('POST', INVOICE, { body, headers })).body).toEqual(first.body);
  });

  test('that the wallet has paid cannot be received with, nor the other way round', async () => {
    const outside = await world.post('/sandbox/invoice', { amount: '3' });
    const { hash } = await world.post('/v2/node/pay_invoice', { invoice: outside.invoice });
    const body = { amount: '3', payment_hash: hash };
    expectError(await world.call('POST', INVOICE, { body }), 'refused', /payment_hash/);
    const { invoice } = await open();
    const own = await world.call('POST', '/v2/node/pay_invoice', { body: { invoice } });
    expectError(own, 'refused', /own/);
  });

  test('is 64 hex characters', async () => {
    for (const payment_hash of ['ab'.repeat(31), 'zz'.repeat(32), '']) {
      expectError(await world.call('POST', INVOICE, { body: { payment_hash } }), 'rejected');
    }
  });
});
