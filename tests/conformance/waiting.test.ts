import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test';
import { throwing } from '../support/rejection.ts';
import { type Body, expectError } from '../support/requests.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { routeAnswered } from './called-routes.ts';
import { test } from './node-test.ts';
import {
  fullClient,
  indexes,
  newestUpdate,
  UNKNOWN_INDEX,
  underWay,
  walletSteps,
} from './wallet-steps.ts';
import { type ConformanceWorld, openConformanceWorld } from './world.ts';

setDefaultTimeout(SLOW_TEST_MS);

let world: ConformanceWorld;
beforeAll(async () => {
  world = await openConformanceWorld();
});
afterAll(() => world.close());

const { arrived, invoice, list, receive } = walletSteps(() => world);

describe('waiting', () => {
  test('wait_for_payment answers as soon as the payment is final, and at once when it is', async () => {
    const made = await invoice();
    const waiting = await underWay(world, await fullClient(world), (client) =>
      world.get('/v2/node/wait_for_payment', { index: made.index }, client),
    );
    await world.post('/v2/node/pay_invoice', { invoice: made.invoice }, world.bob);
    expect(await waiting.answer).toMatchObject({ index: made.index, status: 'completed' });
    expect(
      await world.get('/v2/node/wait_for_payment', { index: made.index, timeout_secs: '0' }),
    ).toMatchObject({ status: 'completed' });
  });

  test('a timeout that elapses first is error 4', async () => {
    const { index } = await invoice();
    expectError(
      await world.call('GET', '/v2/node/wait_for_payment', { query: { index, timeout_secs: '0' } }),
      'timeout',
    );
    let start_index = (await newestUpdate(world)) as string;
    const waited = await until(async () => {
      const query = { start_index, timeout_secs: '1' };
      const answer = await world.call('GET', '/v2/node/wait_for_next_payment', { query });
      if (answer.status !== 200) return answer;
      // A payment of an earlier test has changed only now.
      expect(answer.body.next_start_index > start_index).toBe(true);
      start_index = answer.body.next_start_index;
      return null;
    }, 'no payment changed for a second');
    expectError(waited, 'timeout', /within 1 second:/);
  });

  test('an unknown payment is 107', async () => {
    expectError(
      await world.call('GET', '/v2/node/wait_for_payment', { query: { index: UNKNOWN_INDEX } }),
      'notFound',
    );
  });

  test('wait_for_next_payment tails: every update once, in order, with none skipped', async () => {
    let start_index = (await newestUpdate(world)) as string;
    const made = await invoice();
    const seen: string[] = [];
    for (const status of ['pending', 'completed']) {
      const next: Promise<Body> = world.get('/v2/node/wait_for_next_payment', {
        start_index,
        timeout_secs: '60',
      });
      if (status === 'completed')
        await world.post('/v2/node/pay_invoice', { invoice: made.invoice }, world.bob);
      const answer = await next;
      expect(answer.payment).toMatchObject({ index: made.index, status });
      expect(answer.next_start_index).toMatch(/^u\d{19}-ln_[0-9a-f]{64}$/);
      expect(answer.next_start_index > start_index).toBe(true);
      seen.push(answer.payment.status);
      start_index = answer.next_start_index;
    }
    expect(seen).toEqual(['pending', 'completed']);
  });

  test('without start_index it goes on where the cache is, and stores what it answers', async () => {
    await world.put('/v2/node/sync_payments');
    const made = await invoice();
    const answer = await world.get('/v2/node/wait_for_next_payment', { timeout_secs: '60' });
    expect(answer.payment.index).toBe(made.index);
    expect(indexes(await list({ filter: 'all' }))).toContain(made.index);
    expect(await world.put('/v2/node/sync_payments')).toEqual({ num_new: 0, num_updated: 0 });
  });

  test('a client that goes away frees its waiter', async () => {
    const { index } = await invoice();
    const gone = new AbortController();
    const waiting = await underWay(world, await fullClient(world), (credentials) =>
      world.call('GET', '/v2/node/wait_for_payment', {
        query: { index },
        credentials,
        signal: gone.signal,
      }),
    );
    gone.abort();
    expect(await throwing(waiting.answer)).toThrow();
    expect((await world.get('/v2/health')).status).toBe('ok');
  });
});

describe('updated_payments', () => {
  test('pages ascending by update, each payment in its newest state', async () => {
    await receive();
    let start_index: string | undefined;
    const seen: Body[] = [];
    while (true) {
      const page: Body = await world.get('/v2/node/updated_payments', {
        limit: '4',
        ...(start_index ? { start_index } : {}),
      });
      if (page.updated_index === null) {
        expect(page.payments).toEqual([]);
        break;
      }
      seen.push(...page.payments);
      start_index = page.updated_index;
    }
    const times = seen.map(({ updated_at }) => updated_at);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(new Set(times).size).toBe(times.length);
    expect(new Set(seen.map(({ index }) => index)).size).toBe(seen.length);
  });

  test('the limit is 1 to 100', async () => {
    for (const limit of ['0', '101']) {
      expectError(
        await world.call('GET', '/v2/node/updated_payments', { query: { limit } }),
        'rejected',
      );
    }
  });
});

describe('events', () => {
  test('stream live, and Last-Event-ID resumes without loss', async () => {
    const from = (await newestUpdate(world)) as string;
    const live = await openEvents();
    const made = await receive('31');
    const first = await live.read(2);
    expect(first.map(({ data }) => [data.index, data.status])).toEqual([
      [made.index, 'pending'],
      [made.index, 'completed'],
    ]);
    live.close();
    const missed = await receive('32');
    // A real node tells of the end a moment after its payer knows it.
    await arrived(({ index, status }) => index === missed.index && status === 'completed');
    const resumed = await openEvents({ 'last-event-id': first[1]?.id ?? '' });
    expect((await resumed.read(1))[0]?.data).toMatchObject({
      index: missed.index,
      status: 'completed',
    });
    resumed.close();
    const replay = await openEvents({ 'last-event-id': from });
    expect((await replay.read(2)).map(({ data }) => data.amount)).toEqual(['31', '32']);
    replay.close();
  });

  test('a malformed Last-Event-ID is rejected', async () => {
    expectError(
      await world.call('GET', '/v2/node/events', { headers: { 'last-event-id': 'nonsense' } }),
      'rejected',
    );
  });
});

async function openEvents(headers: Record<string, string> = {}) {
  const gone = new AbortController();
  const response = await fetch(`${world.baseUrl}/v2/node/events`, { headers, signal: gone.signal });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  routeAnswered('GET', '/v2/node/events');
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  return {
    async read(count: number): Promise<{ id: string; data: Body }[]> {
      const blocks = () => text.split('\n\n').filter((block) => block.includes('event: payment'));
      while (blocks().length < count || !text.endsWith('\n\n'))
        text += (await reader?.read())?.value ?? '';
      return blocks().map((block) => ({
        id: /^id: (.*)$/m.exec(block)?.[1] ?? '',
        data: JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? 'null'),
      }));
    },
    close: () => gone.abort(),
  };
}
