import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test';
import { Webhook } from 'standardwebhooks';
import { type Body, expectError } from '../support/requests.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { test } from './node-test.ts';
import { openWebhookWorld, type WebhookWorld } from './webhook-world.ts';
import type { ConformanceWorld } from './world.ts';

setDefaultTimeout(SLOW_TEST_MS);

let hooks: WebhookWorld;
let world: ConformanceWorld;
beforeAll(async () => {
  hooks = await openWebhookWorld();
  world = hooks.world;
});
afterAll(() => hooks.close());

describe('webhooks', () => {
  test('a finalized payment is posted with the Payment, type, timestamp and user_pk, and its signature verifies', async () => {
    const made = await world.post('/v2/node/create_invoice', { amount: '5' });
    const paid = await world.post('/v2/node/pay_invoice', { invoice: made.invoice }, world.bob);
    const inbound = await hooks.notice(made.index, 'inbound');
    const payload = new Webhook(hooks.secret).verify(
      inbound.body,
      Object.fromEntries(inbound.headers),
    ) as Body;
    const { user_pk } = await world.get('/v2/node/node_info');
    expect(payload).toMatchObject({
      type: 'payment.finalized',
      user_pk,
      status: 'completed',
      amount: '5',
    });
    expect(payload.timestamp).toBe(new Date(payload.finalized_at).toISOString());
    const { type, timestamp, user_pk: _, ...payment } = payload;
    expect(payment).toEqual(await world.get('/v2/node/payment', { index: made.index }));
    expect([type, typeof timestamp]).toEqual(['payment.finalized', 'string']);
    const outbound = JSON.parse((await hooks.notice(paid.index, 'outbound')).body);
    expect(outbound.user_pk).not.toBe(user_pk);
  });

  test('payments on offers, addresses and names issued here are announced too, failures as well', async () => {
    const { offer } = await world.post('/v2/node/create_offer');
    const sent = await world.post('/v2/node/pay_offer', { offer, amount: '3' }, world.bob);
    await until(() =>
      hooks.received.some(({ body }) => body.includes(sent.hash) && body.includes('inbound')),
    );
    const { address } = await world.post('/v2/node/get_next_unused_address');
    await world.post('/sandbox/pay', { payable: address, amount: '4000' });
    await world.post('/sandbox/blocks', { count: 6 });
    await until(() =>
      hooks.received.some(({ body }) => body.includes(address) && body.includes('completed')),
    );
    await world.put('/v2/node/human_bitcoin_address', { username: 'hookname' });
    const named = await world.post(
      '/v2/node/pay',
      { payable: `hookname@127.0.0.1:${world.port}`, amount: '6' },
      world.bob,
    );
    await hooks.notice(named.index.slice(20), 'inbound');
    const expiring = await world.post('/v2/node/create_invoice', {
      amount: '1',
      expiration_secs: 30,
    });
    await world.post('/sandbox/clock', { advance_secs: 31 });
    expect(JSON.parse((await hooks.notice(expiring.index, 'inbound')).body)).toMatchObject({
      status: 'failed',
      status_msg: 'expired',
    });
  });

  test('a receiver that fails is tried again with the same id, and the log tells how it stands', async () => {
    const looked = Promise.withResolvers<number>();
    hooks.answerWith(500, looked.promise);
    const made = await world.post('/v2/node/create_invoice', { amount: '2' });
    await world.post('/v2/node/cancel_payment', { index: made.index });
    const first = await hooks.notice(made.index, 'inbound');
    await until(async () => (await delivery(made.index))?.attempts === 1);
    expect(await delivery(made.index)).toMatchObject({
      state: 'pending',
      last_error: 'answered 500',
    });
    looked.resolve(200);
    await until(async () => (await delivery(made.index))?.state === 'delivered');
    const ids = hooks.received
      .filter(({ body }) => body.includes(made.index))
      .map(({ headers }) => headers.get('webhook-id'));
    expect(new Set(ids).size).toBe(1);
    const again = await world.post('/v2/webhooks/redeliver', {
      id: first.headers.get('webhook-id'),
    });
    expect(again).toEqual({ redelivered: 1 });
    await until(
      () => hooks.received.filter(({ body }) => body.includes(made.index)).length > ids.length,
    );
    const bodies = hooks.received.filter(({ body }) => body.includes(made.index));
    expect(new Set(bodies.map(({ body }) => body)).size).toBe(1);
    const { timestamp, finalized_at } = JSON.parse(first.body);
    expect(timestamp).toBe(new Date(finalized_at).toISOString());
    expectError(
      await world.call('POST', '/v2/webhooks/redeliver', { body: { id: 'msg_none' } }),
      'notFound',
    );
    expectError(
      await world.call('POST', '/v2/webhooks/redeliver', { body: {} }),
      'rejected',
      /must hold either id or since/,
    );
    expect(
      (await world.get('/v2/webhooks/deliveries', {}, world.bob)).deliveries.map(
        ({ index }: Body) => index,
      ),
    ).not.toContain(made.index);
  });
});

async function delivery(index: string): Promise<Body> {
  const { deliveries } = await world.get('/v2/webhooks/deliveries', { limit: '500' });
  return deliveries.find((one: Body) => one.index === index);
}

test('an id that no store can hold is error 7, wherever one is taken', async () => {
  for (const id of ['\u0000', 'msg_\u0000', '\ud800', 'é\n']) {
    for (const [method, path, given] of [
      ['GET', '/v2/webhooks/deliveries', { query: { endpoint: id } }],
      ['GET', '/v2/webhooks/deliveries', { query: { before: id } }],
      ['GET', '/v2/webhooks/attempts', { query: { id } }],
      ['GET', '/v2/webhooks/attempts', { query: { endpoint: id } }],
      ['POST', '/v2/webhooks/redeliver', { body: { id } }],
      ['POST', '/v2/webhooks/redeliver', { body: { since: 0, endpoint: id } }],
      ['POST', '/v2/webhooks/endpoints/delete', { body: { id } }],
      ['POST', '/v2/webhooks/endpoints/renew', { body: { id, lease_secs: 60 } }],
      ['POST', '/v2/webhooks/endpoints/test', { body: { id } }],
    ] as const) {
      const answer = await world.call(method, path, given);
      expectError(answer, 'rejected', /must be printable ASCII characters/);
    }
  }
});
