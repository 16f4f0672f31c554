import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test';
import { type Body, expectError } from '../support/requests.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { test } from './node-test.ts';
import { newestUpdate, walletSteps } from './wallet-steps.ts';
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

const { address, arrived, list } = walletSteps(() => world);
const payment = (index: string) => world.get('/v2/node/payment', { index });
const byId = async (external_id: string): Promise<Body[]> => {
  await world.put('/v2/node/sync_payments');
  return (await list({ filter: 'all', external_id })).payments;
};
const noticed = async (index: string, direction: string): Promise<Body> =>
  JSON.parse((await hooks.notice(index, direction)).body);

describe('what is sold', () => {
  test('an invoice has its description and external_id until its end, in lists and webhooks too', async () => {
    const description = 'Tea & cake ☕';
    const sold = { description, external_id: 'order-1', personal_note: 'table 4' };
    const start_index = await newestUpdate(world);
    const made = await world.post('/v2/node/create_invoice', { amount: '5', ...sold });
    expect(await payment(made.index)).toMatchObject({ ...sold, status: 'pending' });
    const sent = await world.post(
      '/v2/node/pay_invoice',
      { invoice: made.invoice, external_id: 'bill-9' },
      world.bob,
    );
    expect(sent).toMatchObject({ description, external_id: 'bill-9' });
    expect(await noticed(made.index, 'inbound')).toMatchObject({ ...sold, status: 'completed' });
    expect(await noticed(sent.index, 'outbound')).toMatchObject({ external_id: 'bill-9' });
    expect(await byId('order-1')).toEqual([await payment(made.index)]);
    expect(await payment(made.index)).toMatchObject({ ...sold, status: 'completed' });
    const { payments } = await world.get('/v2/node/updated_payments', {
      ...(start_index && { start_index }),
    });
    expect(payments.find(({ index }: Body) => index === made.index)).toMatchObject(sold);
  });

  test('without a description, or with an empty one, it is null', async () => {
    for (const body of [{}, { description: '' }]) {
      const made = await world.post('/v2/node/create_invoice', { amount: '5', ...body });
      const paid = await world.post(
        '/v2/node/pay_invoice',
        { invoice: made.invoice, personal_note: 'mine' },
        world.bob,
      );
      expect(paid).toMatchObject({ description: null, external_id: null, personal_note: 'mine' });
      expect(await payment(made.index)).toMatchObject({ description: null, external_id: null });
    }
  });

  test('every payment that arrives on an offer has what the offer has, and the payer its own id', async () => {
    const { offer } = await world.post('/v2/node/create_offer', {
      description: 'Subscription',
      external_id: 'plan-3',
    });
    for (const external_id of ['rent-1', 'rent-2']) {
      const body = { offer, amount: '7', external_id };
      const sent = await world.post('/v2/node/pay_offer', body, world.bob);
      expect(sent).toMatchObject({ description: 'Subscription', external_id });
      const received = await arrived(({ hash }) => hash === sent.hash);
      const sold = { description: 'Subscription', external_id: 'plan-3', direction: 'inbound' };
      expect(received).toMatchObject(sold);
      expect(await noticed(received.index, 'inbound')).toMatchObject(sold);
    }
    expect(await byId('plan-3')).toHaveLength(2);
  });

  test('a hold invoice has them while it is held', async () => {
    const preimage = crypto.getRandomValues(new Uint8Array(32));
    const payment_hash = new Bun.CryptoHasher('sha256').update(preimage).digest('hex');
    const body = { amount: '8', description: 'Deposit', external_id: 'room-5', payment_hash };
    const made = await world.post('/v2/node/create_invoice', body);
    const paid = world.post('/v2/node/pay_invoice', { invoice: made.invoice }, world.bob);
    await until(async () => (await payment(made.index)).status_msg === 'held');
    expect(await payment(made.index)).toMatchObject({
      description: 'Deposit',
      external_id: 'room-5',
    });
    const settle = { index: made.index, preimage: Buffer.from(preimage).toString('hex') };
    await world.post('/v2/node/settle_invoice', settle);
    expect(await paid).toMatchObject({ status: 'completed', description: 'Deposit' });
    expect(await byId('room-5')).toEqual([
      expect.objectContaining({ status: 'completed', description: 'Deposit' }),
    ]);
  });
});

describe('external_id', () => {
  test('pay and pay_onchain keep it, and the payee does not see it', async () => {
    const { invoice } = await world.post('/v2/node/create_invoice', { description: 'Salt' });
    const pay = { payable: invoice, amount: '4', external_id: 'own pay' };
    const sent = await world.post('/v2/node/pay', pay, world.bob);
    expect(sent).toMatchObject({ description: 'Salt', external_id: 'own pay' });
    const received = await arrived(
      ({ hash, status }) => hash === sent.hash && status !== 'pending',
    );
    expect(received).toMatchObject({ description: 'Salt', external_id: null });
    const order = { address: await address(), amount: '20000', external_id: 'own pay_onchain' };
    expect(await world.post('/v2/node/pay_onchain', order, world.bob)).toMatchObject({
      description: null,
      external_id: 'own pay_onchain',
    });
  });

  test('pay_spontaneous keeps it, and the payee does not see it', async () => {
    const { node_pk } = await world.get('/v2/node/node_info');
    const pay = { node_pk, amount: '4', external_id: 'own keysend' };
    const sent = await world.post('/v2/node/pay_spontaneous', pay, world.bob);
    expect(sent).toMatchObject({ description: null, external_id: 'own keysend' });
    const received = await arrived(({ hash }) => hash === sent.hash);
    expect(received).toMatchObject({ description: null, external_id: null });
  });

  test('pay_lnurl, withdraw_lnurl and buy_with_payment_app keep it', async () => {
    const terms = { min_amount: '10', max_amount: '500', description: 'Shop' };
    const { lnurl } = await world.post('/sandbox/lnurl', { ...terms, tag: 'payRequest' });
    const pay = { lnurl, amount: '20', external_id: 'via lnurl' };
    expect(await world.post('/v2/node/pay_lnurl', pay)).toMatchObject({
      description: null,
      external_id: 'via lnurl',
    });
    const out = await world.post('/sandbox/lnurl', { ...terms, tag: 'withdrawRequest' });
    const withdraw = { lnurl: out.lnurl, amount: '20', external_id: 'voucher-1' };
    expect(await world.post('/v2/node/withdraw_lnurl', withdraw)).toMatchObject({
      description: 'Shop',
      external_id: 'voucher-1',
    });
    const buy = { amount: '5000', external_id: 'purchase-1' };
    const { index } = await world.post('/v2/node/buy_with_payment_app', buy);
    expect(await payment(index)).toMatchObject({
      description: 'Purchase of bitcoin',
      external_id: 'purchase-1',
    });
  });

  test('several payments may have the same, which a list finds exactly, and which clear_payments does not lose', async () => {
    const id = 'Bestellung "17" \\ ☕';
    for (const external_id of [id, id, `${id} `, id.toLowerCase()]) {
      await world.post('/v2/node/create_invoice', { amount: '3', external_id });
    }
    const found = await byId(id);
    expect(found.map(({ external_id }) => external_id)).toEqual([id, id]);
    await world.post('/v2/node/clear_payments');
    expect(await byId(id)).toEqual(found);
    const page = await list({ filter: 'all', external_id: id, limit: '1', order: 'asc' });
    expect(page.payments).toEqual(found.slice(1));
    const next = { filter: 'all', external_id: id, order: 'asc', after: page.next_index };
    expect((await list(next)).payments).toEqual(found.slice(0, 1));
    expect((await list({ filter: 'completed', external_id: id })).payments).toEqual([]);
  });

  test('list_payments finds payments by words of their texts and ids, a page at a time', async () => {
    for (const at of [1, 2, 3]) {
      const body = { amount: '3', description: `Zimt ${at}`, external_id: `regal-${at}` };
      await world.post('/v2/node/create_invoice', body);
    }
    await world.put('/v2/node/sync_payments');
    const found = async (text: string, more = {}) => {
      const { payments, next_index } = await list({ filter: 'all', text, ...more });
      return { ids: payments.map(({ external_id }: Body) => external_id) as string[], next_index };
    };
    // Invoices of one second are in any order on LND.
    const all = await found('ZIMT');
    expect(all.ids.toSorted()).toEqual(['regal-1', 'regal-2', 'regal-3']);
    expect(all.next_index).toBeNull();
    expect((await found('regal-2 zimt')).ids).toEqual(['regal-2']);
    expect((await found('zimt pfeffer')).ids).toEqual([]);
    expect((await found('zimt', { filter: 'completed' })).ids).toEqual([]);
    const first = await found('zimt', { limit: '2' });
    expect(first).toEqual({ ids: all.ids.slice(0, 2), next_index: expect.any(String) });
    expect(await found('zimt', { limit: '2', after: first.next_index })).toEqual({
      ids: all.ids.slice(2),
      next_index: null,
    });
    expect((await found('zimt', { limit: '3' })).next_index).toBeNull();
  });

  test('list_payments finds words by their beginnings, amounts as shown, and hashes by their first characters', async () => {
    const create = async (amount: string, description: string) => {
      const made = await world.post('/v2/node/create_invoice', { amount, description });
      const { hash } = await payment(made.index);
      return { index: made.index as string, hash: hash as string };
    };
    const cafe = await create('1781', 'Tisch 13: CAFÉ au lait');
    // Words of four hexadecimal digits find hashes as well.
    const isFound = ({ hash }: { hash: string }) => /^(1781|cafe)/.test(hash);
    let other = await create('178', 'Tisch 14: Kaffee');
    while (isFound(other)) other = await create('178', 'Tisch 14: Kaffee');
    const parts = await create('1781.5', 'Fisch');
    const note = { index: other.index, personal_note: 'Straße 5 😀' };
    await world.post('/v2/node/update_personal_note', note);
    await world.put('/v2/node/sync_payments');
    const made = [cafe.index, other.index, parts.index];
    const found = async (text: string) => {
      const { payments } = await list({ filter: 'all', text, limit: '1000' });
      const indexes = payments.map(({ index }: Body) => index as string) as string[];
      return made.filter((index) => indexes.includes(index));
    };
    expect(await found('cafe TISCH')).toEqual([cafe.index]);
    expect(await found('13 tisch')).toEqual([cafe.index]);
    expect(await found('tis')).toEqual([cafe.index, other.index]);
    expect(await found('isch')).toEqual([]);
    expect(await found('strasse 5')).toEqual([other.index]);
    expect(await found('1,781 au')).toEqual([cafe.index]);
    for (const text of ['1781', '1,781']) {
      expect(await found(text)).toEqual([cafe.index, parts.index]);
    }
    for (const text of ['1781.5', '1,781.5']) expect(await found(text)).toEqual([parts.index]);
    for (const text of [cafe.hash, cafe.hash.slice(0, 12).toUpperCase(), cafe.index]) {
      expect(await found(text)).toEqual([cafe.index]);
    }
    expect(await found(cafe.hash.slice(1, 20))).toEqual([]);
    await world.post('/v2/node/update_personal_note', { ...note, personal_note: 'Allee 5' });
    expect(await found('strasse')).toEqual([]);
    expect(await found('allee tisch')).toEqual([other.index]);
    await world.post('/v2/node/clear_payments');
    expect(await found('allee')).toEqual([]);
    await world.put('/v2/node/sync_payments');
    expect(await found('allee')).toEqual([other.index]);
  });

  test('with an Idempotency-Key, another one is another request', async () => {
    const headers = { 'idempotency-key': crypto.randomUUID() };
    const ask = (external_id: string) =>
      world.call('POST', '/v2/node/create_invoice', {
        body: { amount: '3', external_id },
        headers,
      });
    const first = await ask('key-1');
    expect(first.status).toBe(200);
    expect((await ask('key-1')).body).toEqual(first.body);
    expectError(await ask('key-2'), 'idempotencyConflict');
  });

  test('an invoice that is paid already keeps the id of its first payment', async () => {
    const { invoice } = await world.post('/v2/node/create_invoice', { amount: '3' });
    const pay = (external_id: string) =>
      world.post('/v2/node/pay_invoice', { invoice, external_id }, world.bob);
    const first = await pay('first');
    expect(await pay('second')).toEqual(first);
    expect(first.external_id).toBe('first');
  });

  test('has 1 to 255 characters, none of them a control character', async () => {
    const create = (external_id: unknown) =>
      world.call('POST', '/v2/node/create_invoice', { body: { amount: '3', external_id } });
    for (const good of ['x', '😀'.repeat(255)]) {
      const { status, body } = await create(good);
      expect(status).toBe(200);
      expect(await payment(body.index)).toMatchObject({ external_id: good });
      expect(await byId(good)).toHaveLength(1);
    }
    for (const bad of ['', 'x'.repeat(256), 'a\u0000', 'a\nb', 'a\u009bb', '\ud800', 17]) {
      expectError(await create(bad), 'rejected', /external_id/);
    }
  });
});
