import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout } from 'bun:test';
import { decodeBolt11 } from '../../src/codecs/bolt11/index.ts';
import { type Body, expectError } from '../support/requests.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { sandboxTest as test } from './node-test.ts';
import { walletSteps } from './wallet-steps.ts';
import { openWebhookWorld, type WebhookWorld } from './webhook-world.ts';
import type { ConformanceWorld } from './world.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** The price of one bitcoin at the two sources, by currency; without one they give none. */
const prices = new Map<string, readonly [string, string]>();
const asked: string[] = [];
const exchange = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch(request) {
    const [, name = '', currency = ''] = new URL(request.url).pathname.split('/');
    asked.push(`${name}/${currency}`);
    const price = prices.get(currency)?.[name === 'one' ? 0 : 1];
    return new Response(price === undefined ? '{}' : `{"${currency}":{"price":${price}}}`);
  },
});

let hooks: WebhookWorld;
let world: ConformanceWorld;
beforeAll(async () => {
  const url = `http://127.0.0.1:${exchange.port}`;
  process.env.SERVICE_RATE_SOURCES = ['one', 'two']
    .map((name) => `${url}/${name}/{currency}#/{currency}/price`)
    .join(',');
  hooks = await openWebhookWorld();
  world = hooks.world;
});
afterAll(async () => {
  delete process.env.SERVICE_RATE_SOURCES;
  await hooks.close();
  await exchange.stop(true);
});
beforeEach(() => {
  asked.length = 0;
  prices.set('EUR', ['30000.00', '"30000"']);
});

const { arrived, list } = walletSteps(() => world);
const INVOICE = '/v2/node/create_invoice';
const payment = (index: string) => world.get('/v2/node/payment', { index });
const price = { currency: 'EUR', amount: '12.5' };
const KEPT = {
  price: { currency: 'EUR', amount: '12.50' },
  rate: '30000',
  rate_source: '127.0.0.1, 127.0.0.1',
};
const NONE = { price: null, rate: null, rate_at: null, rate_source: null };

describe('create_invoice with a price', () => {
  test('makes an invoice of the amount at the rate, rounded up to 1 msat, that expires after 5 minutes', async () => {
    const made = await world.post(INVOICE, { price, description: 'Lunch' });
    expect(made).toMatchObject({ amount: '41666.667', description: 'Lunch' });
    const { amountMsat, expirySecs } = decodeBolt11(made.invoice);
    expect([amountMsat, expirySecs]).toEqual([41_666_667n, 300]);
    const sooner = await world.post(INVOICE, { price, expiration_secs: 60 });
    expect(decodeBolt11(sooner.invoice).expirySecs).toBe(60);
  });

  test('is kept with price, rate, time and sources until the end, in lists, updates, webhooks and export', async () => {
    const made = await world.post(INVOICE, { price, external_id: 'order-9' });
    const pending = await payment(made.index);
    expect(pending).toMatchObject({ ...KEPT, status: 'pending' });
    expect(Math.abs(pending.rate_at - made.created_at)).toBeLessThan(120_000);
    const sent = await world.post('/v2/node/pay_invoice', { invoice: made.invoice }, world.bob);
    expect(sent).toMatchObject({ amount: '41666.667', ...NONE });
    const paid = await arrived(({ index, status }) => index === made.index && status !== 'pending');
    const { rate_at } = pending;
    expect(paid).toMatchObject({ ...KEPT, rate_at, status: 'completed' });
    const notice = await hooks.notice(made.index, 'inbound');
    expect(JSON.parse(notice.body)).toMatchObject({ ...KEPT, rate_at, status: 'completed' });
    await world.post('/v2/node/clear_payments');
    await world.put('/v2/node/sync_payments');
    const { payments } = await list({ filter: 'all', external_id: 'order-9' });
    expect(payments).toEqual([paid]);
    const table = await world.call('GET', '/v2/node/export');
    const [head = '', ...rows] = String(table.body).split('\n');
    const cells = (rows.find((row) => row.includes(made.index)) ?? '').split(',');
    const at = head.split(',').indexOf('price');
    expect(head.split(',').slice(at, at + 4)).toEqual(['price', 'currency', 'rate', 'rate_at']);
    const written = new Date(rate_at).toISOString();
    expect(cells.slice(at, at + 4)).toEqual(['12.50', 'EUR', '30000', written]);
  });

  test('holds for a hold invoice too', async () => {
    const payment_hash = new Bun.CryptoHasher('sha256').update(crypto.randomUUID()).digest('hex');
    const made = await world.post(INVOICE, { price, payment_hash });
    expect(made).toMatchObject({ amount: '41666.667', payment_hash });
    expect(await payment(made.index)).toMatchObject(KEPT);
  });

  test('is the same invoice for a repeat with its key, also at another rate and after a restart', async () => {
    prices.set('CHF', ['50000', '50000']);
    const chf = { price: { currency: 'CHF', amount: '5.00' } };
    const ask = (body: object = chf) =>
      world.call('POST', INVOICE, { body, headers: { 'idempotency-key': 'meal-1' } });
    const first = await ask();
    expect(first.body).toMatchObject({ amount: '10000' });
    prices.set('CHF', ['40000', '40000']);
    await world.restart();
    expect((await ask()).body).toEqual(first.body);
    expectError(await ask({ price: { currency: 'CHF', amount: '5.01' } }), 'idempotencyConflict');
    expectError(await ask({ amount: '10000' }), 'idempotencyConflict');
    // Another key has the rate of now, since the sidecar has begun anew.
    expect(await world.post(INVOICE, chf)).toMatchObject({ amount: '12500' });
  });

  test('is rejected beside an amount, with a longer expiry, and in a wrong form', async () => {
    for (const [body, path] of [
      [{ price, amount: '5' }, 'price'],
      [{ price, expiration_secs: 301 }, 'expiration_secs'],
      [{ price: { currency: 'EUR', amount: '1.001' } }, 'price.amount'],
      [{ price: { currency: 'EUR', amount: '1e2' } }, 'price.amount'],
      [{ price: { currency: 'EUR', amount: '0' } }, 'price.amount'],
      [{ price: { currency: 'ABC', amount: '1' } }, 'price.currency'],
      [{ price: { currency: 'EUR' } }, 'price.amount'],
      [{ price: 'EUR 1' }, 'price'],
    ] as const) {
      const answer = await world.call('POST', INVOICE, { body });
      expectError(answer, 'rejected');
      const paths = answer.body.data.issues.map((issue: Body) => issue.path);
      expect([body, paths]).toEqual([body, [path]]);
    }
    expect(asked).toEqual([]);
  });

  test('is error 113 where the sources differ by more than 2 per cent, or have no rate', async () => {
    prices.set('USD', ['30000', '30600.01']);
    prices.set('JPY', ['5e6', '0']);
    for (const currency of ['USD', 'JPY', 'SEK']) {
      const body = { price: { currency, amount: '12' } };
      const answer = await world.call('POST', INVOICE, { body });
      expectError(answer, 'serviceFailed', new RegExp(currency));
      expectError(
        await world.call('GET', '/v2/node/rate', { query: { currency } }),
        'serviceFailed',
      );
    }
  });
});

describe('pay with a price', () => {
  const chf = { currency: 'CHF', amount: '5' };
  const PAID = { price: { currency: 'CHF', amount: '5.00' }, rate: '30000' };
  const pay = (body: object, key = crypto.randomUUID() as string) =>
    world.call('POST', '/v2/node/pay', { body, headers: { 'idempotency-key': key } });
  // The sources have been asked for this currency by the test above, so another sidecar begins anew.
  beforeAll(async () => {
    prices.set('CHF', ['30000', '30000']);
    await world.restart();
  });

  test('pays what the price is worth, rounded down to whole sats, on every rail, and keeps the price', async () => {
    const { invoice } = await world.post(INVOICE, {}, world.bob);
    const { offer } = await world.post('/v2/node/create_offer', {}, world.bob);
    const at = await world.post('/v2/node/get_next_unused_address', {}, world.bob);
    const terms = { min_amount: '10', max_amount: '50000', description: 'Shop' };
    const { lnurl } = await world.post('/sandbox/lnurl', { ...terms, tag: 'payRequest' });
    for (const payable of [invoice, offer, at.address, lnurl]) {
      const { body } = await pay({ payable, price: chf });
      expect(body).toMatchObject({ ...PAID, amount: '16666' });
      expect(await payment(body.index)).toMatchObject({ ...PAID, amount: '16666' });
    }
  });

  test('is paid once for a key, whatever the rate is by then', async () => {
    const { offer } = await world.post('/v2/node/create_offer', {}, world.bob);
    const first = await pay({ payable: offer, price: chf }, 'rent-1');
    expect(first.body).toMatchObject({ ...PAID, status: 'completed' });
    prices.set('CHF', ['60000', '60000']);
    await world.restart();
    expect((await pay({ payable: offer, price: chf }, 'rent-1')).body).toEqual(first.body);
    expectError(await pay({ payable: offer, amount: '16666' }, 'rent-1'), 'idempotencyConflict');
    const { payments } = await list({ filter: 'all' });
    const ofOffer = payments.filter((one: Body) => one.offer_id === first.body.offer_id);
    expect(ofOffer.length).toBeLessThan(2);
  });

  test('is rejected beside an amount, for an invoice of another amount, and counts in sats in a budget', async () => {
    const { invoice } = await world.post(INVOICE, {}, world.bob);
    expectError(await pay({ payable: invoice, price: chf, amount: '5' }), 'rejected');
    const inQuery = { body: { payable: invoice, price: chf }, query: { amount: '5' } };
    expectError(await world.call('POST', '/v2/node/pay', inQuery), 'rejected');
    const asks = await world.post(INVOICE, { amount: '5' }, world.bob);
    expectError(await pay({ payable: asks.invoice, price: chf }), 'rejected', /5 sats/);
    const budget = { amount: '8000', period: 'total' };
    const client = await world.post('/v2/node/create_client', { scopes: ['send'], budget });
    const credentials = client.client_credentials;
    const body = { payable: invoice, price: chf };
    const over = await world.call('POST', '/v2/node/pay', { body, credentials });
    expectError(over, 'overBudget');
  });
});

describe('rate', () => {
  test('is the median of the sources, which are asked once a minute', async () => {
    prices.set('GBP', ['30000', '30000.5']);
    const rate = await world.get('/v2/node/rate', { currency: 'GBP' });
    expect(rate).toEqual({
      rate: '30000.25',
      rate_at: expect.any(Number),
      rate_source: KEPT.rate_source,
    });
    prices.set('GBP', ['40000', '40000']);
    expect(await world.get('/v2/node/rate', { currency: 'GBP' })).toEqual(rate);
    expect(asked.sort()).toEqual(['one/GBP', 'two/GBP']);
  });

  test('needs create_invoice, and a currency that exists', async () => {
    const query = { currency: 'EUR' };
    const made = await world.post('/v2/node/create_client', { scopes: ['read_info'] });
    const credentials = made.client_credentials;
    expectError(await world.call('GET', '/v2/node/rate', { query, credentials }), 'forbidden');
    for (const currency of ['BTC', 'eur', '']) {
      expectError(await world.call('GET', '/v2/node/rate', { query: { currency } }), 'rejected');
    }
  });

  test('is error 110 without --rate-source, and nobody is asked', async () => {
    delete process.env.SERVICE_RATE_SOURCES;
    await world.restart();
    const body = { price: { currency: 'EUR', amount: '12' } };
    const answer = await world.call('POST', INVOICE, { body });
    expectError(answer, 'unsupported', /--rate-source/);
    const query = { currency: 'EUR' };
    expectError(await world.call('GET', '/v2/node/rate', { query }), 'unsupported');
    expect(asked).toEqual([]);
  });
});
