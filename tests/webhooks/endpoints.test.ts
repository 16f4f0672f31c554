import { describe, expect, test } from 'bun:test';
import { Webhook } from 'standardwebhooks';
import { verifyWebhook } from '../../src/client/index.ts';
import type { EndpointRecord } from '../../src/store/ports.ts';
import { openSqliteStore } from '../../src/store/sqlite/index.ts';
import { testMessage } from '../../src/webhooks/test-message.ts';
import { endpointRecord } from '../support/delivery-steps.ts';
import { until } from '../support/until.ts';
import { dispatchWorld, SECRET, WALLET } from './dispatch-world.ts';

const { cleanups, start } = dispatchWorld();
const OTHER_SECRET = Buffer.alloc(32, 8).toString('base64');

/** A dispatcher whose configured receiver takes everything, and further receivers with endpoints of the wallet. */
async function openEndpoints(
  answers: Readonly<Record<string, (request: Request) => Response | Promise<Response>>>,
  change: Partial<EndpointRecord> = {},
) {
  const store = openSqliteStore(':memory:');
  cleanups.push(() => store.close());
  for (const [id, fetch] of Object.entries(answers)) {
    const receiver = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch });
    cleanups.unshift(() => receiver.stop(true));
    await store.webhookEndpoints.add(
      endpointRecord({ id, walletId: WALLET, url: receiver.url.href, ...change }),
      100,
    );
  }
  const world = start(() => new Response('ok'), undefined, { store, attemptLimitMs: 60_000 });
  const query = { walletId: WALLET, state: null, endpoint: null, limit: 100, before: null };
  const stateOf = async (endpoint: string) =>
    (await store.outbox.list(query)).find((row) => row.endpoint === endpoint);
  const attemptsTo = (endpoint: string) =>
    store.outbox.attempts({ walletId: WALLET, id: null, endpoint, after: 0, limit: 100 });
  return { ...world, store, stateOf, attemptsTo };
}

describe('endpoints', () => {
  test('each gets the delivery signed with its own secret, under the same webhook-id', async () => {
    const received: Promise<unknown>[] = [];
    const verified = (secret: string) => async (request: Request) => {
      const headers = Object.fromEntries(request.headers);
      const body = await request.text();
      received.push(
        Promise.resolve().then(() => {
          new Webhook(secret).verify(body, headers);
          return headers['webhook-id'];
        }),
      );
      return new Response();
    };
    const world = await openEndpoints({ ep_old: verified(SECRET) });
    const receiver = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: verified(OTHER_SECRET) });
    cleanups.unshift(() => receiver.stop(true));
    const other = { id: 'ep_new', walletId: WALLET, url: receiver.url.href, secret: OTHER_SECRET };
    await world.store.webhookEndpoints.add(endpointRecord(other), 100);
    const id = await world.deliver(1);
    await until(() => received.length === 2);
    expect(await Promise.all(received)).toEqual([id, id]);
  });

  test('one that hangs with all the places it may take holds up no other', async () => {
    const hanging = Promise.withResolvers<Response>();
    cleanups.unshift(() => hanging.resolve(new Response()));
    let held = 0;
    const world = await openEndpoints({
      ep_hangs: () => {
        held++;
        return hanging.promise;
      },
      ep_takes: () => new Response(),
    });
    for (let number = 1; number <= 400; number++) await world.deliver(number);
    const { counts } = world.store.outbox;
    await until(async () => (await counts()).delivered === 800, 'the others are delivered');
    // The two others have nothing in progress any more, so it has half of all places.
    await until(() => held === 256, 'it has half of all places');
  });

  test('deleting one ends its attempt in progress, and its delivery stays canceled', async () => {
    const asked = Promise.withResolvers<AbortSignal>();
    const never = Promise.withResolvers<Response>();
    cleanups.unshift(() => never.resolve(new Response()));
    const world = await openEndpoints({
      ep_a: (request) => {
        asked.resolve(request.signal);
        return never.promise;
      },
    });
    await world.deliver(1);
    const signal = await asked.promise;
    expect(await world.store.webhookEndpoints.remove(WALLET, 'ep_a')).toBe(1);
    world.dispatcher.forget('ep_a');
    await until(() => signal.aborted, 'the connection is closed');
    expect(await world.stateOf('ep_a')).toMatchObject({ state: 'canceled', attempts: 0 });
    expect(await world.attemptsTo('ep_a')).toEqual([]);
  });

  test('one whose time is over is deleted by the next look', async () => {
    const world = await openEndpoints({ ep_a: () => new Response() }, { expiresAtMs: 1e13 });
    world.clock.advance(1e13);
    await until(async () => {
      world.dispatcher.wake();
      return (await world.store.webhookEndpoints.find('ep_a')) === null;
    });
  });

  test('what is due for the configured endpoint waits where none is configured, and others go on', async () => {
    const world = await openEndpoints({ ep_a: () => new Response() });
    await world.dispatcher.stop();
    await world.deliver(1);
    const { store } = world;
    const next = start(() => new Response(), undefined, { store, configured: null });
    await until(async () => (await world.stateOf('ep_a'))?.state === 'delivered');
    expect(await world.stateOf('configured')).toMatchObject({ state: 'pending', attempts: 0 });
    await next.dispatcher.stop();
  });
});

describe('attempts', () => {
  test('show what was sent, with the signature and never the secret, and what was answered', async () => {
    const sent: { headers: Record<string, string>; body: string }[] = [];
    const world = await openEndpoints({
      ep_a: async (request) => {
        sent.push({ headers: Object.fromEntries(request.headers), body: await request.text() });
        return new Response('no such order', { status: 422 });
      },
    });
    const id = await world.deliver(1);
    await until(async () => (await world.attemptsTo('ep_a')).length === 1);
    const [attempt] = await world.attemptsTo('ep_a');
    expect(attempt).toMatchObject({
      id,
      http_status: 422,
      error: 'answered 422',
      answer: 'no such order',
    });
    expect(sent[0]?.headers).toMatchObject(attempt?.request.headers ?? { none: '' });
    expect(attempt?.request.body).toBe(sent[0]?.body ?? '');
    expect(attempt?.request.headers['webhook-signature']).toStartWith('v1,');
    expect(JSON.stringify(attempt)).not.toContain(SECRET);
  });

  test("keep the first 4 KiB of the answer's body, and no half of a character", async () => {
    const world = await openEndpoints({ ep_a: () => new Response(`a${'₿'.repeat(5_000)}`) });
    await world.deliver(1);
    await until(async () => (await world.attemptsTo('ep_a')).length === 1);
    const [attempt] = await world.attemptsTo('ep_a');
    expect(attempt?.answer).toBe(`a${'₿'.repeat(1_365)}`);
  });

  test('an answer whose body never ends counts by its status', async () => {
    const body = new ReadableStream({
      start: (stream) => stream.enqueue(new TextEncoder().encode('begun')),
    });
    const world = await openEndpoints({ ep_a: () => new Response(body) });
    await world.deliver(1);
    await until(async () => (await world.stateOf('ep_a'))?.state === 'delivered');
    expect(await world.attemptsTo('ep_a')).toMatchObject([{ http_status: 200, answer: 'begun' }]);
  });
});

describe('a test delivery', () => {
  test('is signed and sent once, is in no list, and its answer is returned', async () => {
    const received: { headers: Headers; body: string }[] = [];
    let status = 200;
    const world = await openEndpoints({
      ep_b: async (request) => {
        received.push({ headers: new Headers(request.headers), body: await request.text() });
        return new Response('seen', { status });
      },
    });
    const send = (draw: string) =>
      world.dispatcher.sendOnce(
        'ep_b',
        testMessage(WALLET, { nowMs: Date.now(), draw }),
        new AbortController().signal,
      );
    expect(await send('1')).toMatchObject({
      outcome: 'delivered',
      record: { httpStatus: 200, error: null, answer: 'seen' },
    });
    status = 500;
    expect((await send('2'))?.record).toMatchObject({ httpStatus: 500, error: 'answered 500' });
    expect(received.map(({ headers }) => headers.get('webhook-id'))).toEqual([
      'msg_test_1',
      'msg_test_2',
    ]);
    const [{ headers, body } = { headers: new Headers(), body: '' }] = received;
    expect((await verifyWebhook(body, headers, SECRET)).type).toBe('webhook.test');
    expect(await world.stateOf('ep_b')).toBeUndefined();
    expect(await world.attemptsTo('ep_b')).toEqual([]);
  });

  test('tells of no money to a receiver that reads everything but its type', () => {
    const { body } = testMessage(WALLET, { nowMs: 1_764_000_000_000, draw: '1' });
    expect(JSON.parse(body)).toMatchObject({
      type: 'webhook.test',
      status: 'failed',
      amount: '0',
      preimage: null,
      invoice: null,
      index: `0000001764000000000-ln_${'0'.repeat(64)}`,
    });
  });
});
