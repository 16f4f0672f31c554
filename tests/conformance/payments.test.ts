import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test';
import { type Body, expectError } from '../support/requests.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { test } from './node-test.ts';
import { indexes, UNKNOWN_INDEX, walletSteps } from './wallet-steps.ts';
import { type ConformanceWorld, openConformanceWorld } from './world.ts';

setDefaultTimeout(SLOW_TEST_MS);

let world: ConformanceWorld;
beforeAll(async () => {
  world = await openConformanceWorld();
});
afterAll(() => world.close());

const { invoice, list, receive } = walletSteps(() => world);

describe('the cache', () => {
  test('changes only with a sync, which counts what is new and what was updated', async () => {
    await world.put('/v2/node/sync_payments');
    const made = await invoice();
    expect(indexes(await list({ filter: 'all' }))).not.toContain(made.index);
    expect(await world.put('/v2/node/sync_payments')).toEqual({ num_new: 1, num_updated: 0 });
    expect(await world.put('/v2/node/sync_payments')).toEqual({ num_new: 0, num_updated: 0 });
    await world.post('/v2/node/pay_invoice', { invoice: made.invoice }, world.bob);
    const stale = await list({ filter: 'pending' });
    expect(indexes(stale)).toContain(made.index);
    expect(await world.put('/v2/node/sync_payments')).toEqual({ num_new: 0, num_updated: 1 });
    expect(indexes(await list({ filter: 'completed' }))).toContain(made.index);
  });

  test('clear_payments empties it and leaves the node untouched; a sync refills it', async () => {
    const before = await list({ filter: 'all', limit: '1000' });
    expect(await world.post('/v2/node/clear_payments')).toEqual({});
    expect(await list({ filter: 'all' })).toEqual({ payments: [], next_index: null });
    const { num_new } = await world.put('/v2/node/sync_payments');
    expect(num_new).toBe(before.payments.length);
    expect(await list({ filter: 'all', limit: '1000' })).toEqual(before);
  });

  test('is per wallet', async () => {
    const { client_credentials } = await world.post('/sandbox/wallets');
    expect(
      await world.get('/v2/node/list_payments', { filter: 'all' }, client_credentials),
    ).toEqual({ payments: [], next_index: null });
  });

  test('pages through everything once, in both orders, for every filter', async () => {
    for (let count = 0; count < 7; count++) await receive();
    const failed = await invoice();
    await world.post('/v2/node/cancel_payment', { index: failed.index });
    await world.put('/v2/node/sync_payments');
    const everything = (await list({ filter: 'all', limit: '1000' })).payments;
    for (const filter of ['all', 'pending', 'completed', 'failed', 'finalized']) {
      const wanted = everything
        .filter(
          ({ status }: Body) =>
            filter === 'all' ||
            status === filter ||
            (filter === 'finalized' && status !== 'pending'),
        )
        .map(({ index }: Body) => index);
      for (const order of ['desc', 'asc']) {
        const seen: string[] = [];
        let after: string | null = null;
        do {
          const page: Body = await list({ filter, order, limit: '3', ...(after ? { after } : {}) });
          expect(page.payments.length).toBeLessThanOrEqual(3);
          seen.push(...indexes(page));
          after = page.next_index;
        } while (after !== null);
        expect(seen).toEqual(order === 'desc' ? wanted : wanted.toReversed());
      }
    }
  });

  test('direction, rail, since and until narrow the list', async () => {
    const all = (await list({ filter: 'all', limit: '1000' })).payments;
    for (const payment of (await list({ filter: 'all', direction: 'inbound', rail: 'invoice' }))
      .payments) {
      expect(payment).toMatchObject({ direction: 'inbound', rail: 'invoice' });
    }
    const middle = all[Math.floor(all.length / 2)].created_at;
    const late = (await list({ filter: 'all', since: String(middle), limit: '1000' })).payments;
    const early = (await list({ filter: 'all', until: String(middle), limit: '1000' })).payments;
    expect(late.length + early.length).toBe(all.length);
    expect(late.every(({ created_at }: Body) => created_at >= middle)).toBe(true);
  });

  test('id_part finds payments by the first or last characters of their ids', async () => {
    const { index } = await invoice();
    await world.put('/v2/node/sync_payments');
    const hash = index.slice(-64);
    for (const id_part of [hash.slice(0, 12), hash.slice(-12).toUpperCase(), hash]) {
      expect(indexes(await list({ filter: 'all', id_part }))).toEqual([index]);
    }
    expect(indexes(await list({ filter: 'all', id_part: hash.slice(20, 40) }))).toEqual([]);
  });

  const bad: readonly Record<string, string>[] = [
    {},
    { filter: 'some' },
    { filter: 'all', limit: '0' },
    { filter: 'all', limit: '1001' },
    { filter: 'all', limit: 'x' },
    { filter: 'all', order: 'up' },
    { filter: 'all', after: 'x' },
    { filter: 'all', id_part: 'abc' },
    { filter: 'all', id_part: 'wxyz' },
    { filter: 'all', id_part: 'a'.repeat(65) },
  ];
  for (const query of bad) {
    test(`rejects ${JSON.stringify(query)}`, async () => {
      expectError(await world.call('GET', '/v2/node/list_payments', { query }), 'rejected');
    });
  }
});

describe('payment', () => {
  test('an index that does not exist is 404, code 107, Payment not found', async () => {
    const answer = await world.call('GET', '/v2/node/payment', { query: { index: UNKNOWN_INDEX } });
    expect(answer.status).toBe(404);
    expect(answer.body).toEqual({
      code: 107,
      msg: 'Payment not found',
      data: null,
      sensitive: false,
    });
  });

  test('the same hash under another creation time is not found', async () => {
    const { index } = await invoice();
    const other = `0000000000000000001${index.slice(19)}`;
    expectError(
      await world.call('GET', '/v2/node/payment', { query: { index: other } }),
      'notFound',
    );
  });

  test('a malformed index is rejected', async () => {
    for (const index of ['', 'x', `u${UNKNOWN_INDEX}`, UNKNOWN_INDEX.toUpperCase()]) {
      expectError(await world.call('GET', '/v2/node/payment', { query: { index } }), 'rejected');
    }
  });

  test("another wallet's payment is not found", async () => {
    const { index } = await invoice();
    expectError(
      await world.call('GET', '/v2/node/payment', { query: { index }, credentials: world.bob }),
      'notFound',
    );
  });
});

describe('personal notes', () => {
  test('are set, replaced and cleared, in node and cache, and never reach the payer', async () => {
    const { index } = await receive();
    await world.put('/v2/node/sync_payments');
    for (const personal_note of ['one', 'two', null]) {
      expect(await world.post('/v2/node/update_personal_note', { index, personal_note })).toEqual(
        {},
      );
      expect((await world.get('/v2/node/payment', { index })).personal_note).toBe(personal_note);
      const cached = (await list({ filter: 'all' })).payments.find(
        (payment: Body) => payment.index === index,
      );
      expect(cached.personal_note).toBe(personal_note);
    }
    await world.post('/v2/node/update_personal_note', { index, note: 'older name' });
    expect((await world.get('/v2/node/payment', { index })).personal_note).toBe('older name');
  });

  test('the same note under both of its names is one', async () => {
    const { index } = await world.post('/v2/node/create_invoice', { amount: '7' });
    for (const note of ['twice', null]) {
      await world.post('/v2/node/update_personal_note', { index, personal_note: note, note });
      expect((await world.get('/v2/node/payment', { index })).personal_note).toBe(note);
    }
  });

  test('invalid notes and unknown payments are errors', async () => {
    const { index } = await invoice();
    for (const body of [
      { index },
      { index, personal_note: '' },
      { index, personal_note: 'x'.repeat(201) },
      { personal_note: 'x' },
      { index, personal_note: 'x', note: 'y' },
      { index, personal_note: null, note: 'y' },
    ]) {
      expectError(await world.call('POST', '/v2/node/update_personal_note', { body }), 'rejected');
    }
    expectError(
      await world.call('POST', '/v2/node/update_personal_note', {
        body: { index: UNKNOWN_INDEX, personal_note: 'x' },
      }),
      'notFound',
    );
  });
});
