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

const { arrived, list, receive } = walletSteps(() => world);
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

  test('is taken by every call that pays, in place of its amount', async () => {
    const { invoice } = await world.post(INVOICE, {}, world.bob);
    const { offer } = await world.post('/v2/node/create_offer', {}, world.bob);
    const { address } = await world.post('/v2/node/get_next_unused_address', {}, world.bob);
    const { node_pk } = await world
      .call('GET', '/v2/node/node_info', { credentials: world.bob })
      .then(({ body }) => body);
    const terms = { min_amount: '10', max_amount: '50000', description: 'Shop' };
    const { lnurl } = await world.post('/sandbox/lnurl', { ...terms, tag: 'payRequest' });
    for (const [path, body] of [
      ['pay_invoice', { invoice }],
      ['pay_offer', { offer }],
      ['pay_lnurl', { lnurl }],
      ['pay_onchain', { address }],
      ['pay_spontaneous', { node_pk }],
    ] as const) {
      const at = `/v2/node/${path}`;
      const amount = { [path === 'pay_invoice' ? 'fallback_amount' : 'amount']: '5' };
      for (const wrong of [{ price: chf, ...amount }, {}]) {
        const answer = await world.call('POST', at, { body: { ...body, ...wrong } });
        expectError(answer, 'rejected');
      }
      const paid = await world.post(at, { ...body, price: chf });
      expect([path, await payment(paid.index)]).toEqual([
        path,
        expect.objectContaining({ ...PAID, amount: '16666' }),
      ]);
    }
    const all = { address, price: chf, send_all: true };
    expectError(await world.call('POST', '/v2/node/pay_onchain', { body: all }), 'rejected');
    const asks = await world.post(INVOICE, { amount: '5' }, world.bob);
    const body = { invoice: asks.invoice, price: chf };
    const answer = await world.call('POST', '/v2/node/pay_invoice', { body });
    expectError(answer, 'rejected', /^price: .* 5 sats/);
  });

  test('is the field that is wrong where the receiver asks for more than it is worth', async () => {
    const { offer } = await world.post('/sandbox/offer', { min_amount: '20000' });
    const terms = { min_amount: '20000', max_amount: '50000', description: 'Shop' };
    const { lnurl } = await world.post('/sandbox/lnurl', { ...terms, tag: 'payRequest' });
    for (const [path, body] of [
      ['pay', { payable: offer }],
      ['pay', { payable: lnurl }],
      ['pay_offer', { offer }],
      ['pay_lnurl', { lnurl }],
    ] as const) {
      const at = `/v2/node/${path}`;
      const priced = await world.call('POST', at, { body: { ...body, price: chf } });
      expectError(priced, 'rejected', /^price: .*20000/);
      expect(priced.body.data).toMatchObject({ sent: 'no', issues: [{ path: 'price' }] });
      const named = await world.call('POST', at, { body: { ...body, amount: '5' } });
      expect(named.body.data).toMatchObject({ issues: [{ path: 'amount' }] });
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

  test('is found by its client_payment_id, or its invoice, by a repeat at another rate', async () => {
    const { address } = await world.post('/v2/node/get_next_unused_address', {}, world.bob);
    const { invoice } = await world.post(INVOICE, {}, world.bob);
    const sending = { address, price: chf, client_payment_id: 'a7'.repeat(32) };
    const repeats = [
      ['pay_onchain', sending],
      ['pay_invoice', { invoice, price: chf }],
      ['pay', { payable: invoice, price: chf }],
    ] as const;
    const ask = async () => {
      const answers = [];
      for (const [path, body] of repeats) answers.push(await world.post(`/v2/node/${path}`, body));
      return answers.map(({ index, amount }) => ({ index, amount }));
    };
    const first = await ask();
    prices.set('CHF', ['45000', '45000']);
    await world.restart();
    expect(await ask()).toEqual(first);
    // Another price is another payment, and so is the amount that the price is worth by then.
    for (const other of [{ price: { ...chf, amount: '5.01' } }, { amount: '11111' }]) {
      const { price: _, ...rest } = sending;
      const answer = await world.call('POST', '/v2/node/pay_onchain', {
        body: { ...rest, ...other },
      });
      expectError(answer, 'refused', /another/);
    }
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

describe('an offer in a currency (docs/decisions.md 201)', () => {
  const nok = { currency: 'NOK', amount: '5.00' };
  /** The offer of an issuer that asks so many sats for 5 NOK, which are 10,000 sats at the rate here. */
  const offered = async (min_amount: string): Promise<string> =>
    (await world.post('/sandbox/offer', { price: nok, min_amount })).offer;
  const pay = (body: object, more: object = {}) =>
    world.call('POST', '/v2/node/pay', { body, ...more });
  const outbound = async () =>
    (await list({ filter: 'all', direction: 'outbound' })).payments.length;
  beforeAll(() => {
    prices.set('NOK', ['50000', '50000']);
  });

  test('is told by analyze with its price, and what that is worth now', async () => {
    const query = { payment_string: await offered('10000') };
    const { payables } = await world.get('/v2/node/analyze', query);
    expect(payables).toMatchObject([
      { kind: 'offer', price: nok, amount: null, min_amount: '10000' },
    ]);
    const { offer } = await world.post('/sandbox/offer', {});
    const other = await world.get('/v2/node/analyze', { payment_string: offer });
    expect(other.payables).toMatchObject([{ price: null, min_amount: null }]);
  });

  test('is paid with what its issuer asks for, up to 2 per cent from our rate, and keeps the price', async () => {
    for (const asked of ['10000', '10200', '9804']) {
      const { body } = await pay({ payable: await offered(asked) });
      expect(body).toMatchObject({ status: 'completed', amount: asked, price: nok, rate: '50000' });
      expect(await payment(body.index)).toMatchObject({ amount: asked, price: nok });
    }
    // The same price is given as a price, or by a URI.
    const payable = await offered('10100');
    expect((await pay({ payable, price: nok })).body).toMatchObject({ amount: '10100' });
    const byOffer = await world.post('/v2/node/pay_offer', { offer: payable, price: nok });
    expect(byOffer).toMatchObject({ amount: '10100', price: nok });
    const { body } = await pay({ payable: `bitcoin:?lno=${payable}` });
    expect(body).toMatchObject({ amount: '10100', price: nok });
  });

  test('is refused where its issuer counts otherwise, with both amounts, and nothing is sent', async () => {
    const before = await outbound();
    for (const asked of ['10200.001', '9803', '1']) {
      const answer = await pay({ payable: await offered(asked) });
      expectError(answer, 'refused', new RegExp(`5.00 NOK.* 10000 sats .* ${asked} sats`));
      expect(answer.body.data).toEqual({ sent: 'no' });
    }
    expect(await outbound()).toBe(before);
  });

  test('counts in a budget, and waits for approval, with what its issuer asks and the fee on it', async () => {
    const payable = await offered('10150');
    const client = async (terms: object): Promise<{ readonly credentials: string }> => {
      const scopes = ['send', 'read_payments'];
      const made = await world.post('/v2/node/create_client', { scopes, ...terms });
      return { credentials: made.client_credentials };
    };
    // At our rate it would be 10,000 sats and 100 at most for the fee.
    const [little, enough] = ['10200', '10260'].map((amount) => ({ amount, period: 'total' }));
    expectError(await pay({ payable }, await client({ budget: little })), 'overBudget');
    const paying = await pay({ payable }, await client({ budget: enough }));
    expect(paying.body).toMatchObject({ status: 'completed', amount: '10150' });
    const asking = await client({ approve_above: '10200' });
    const headers = { prefer: 'respond-async' };
    const { body } = await pay({ payable }, { ...asking, headers });
    expect(body).toMatchObject({ status_msg: 'awaiting approval', amount: '10150', price: nok });
    const { index } = body;
    await world.post('/v2/node/approve', { index });
    const paid = await world.get('/v2/node/wait_for_payment', { index });
    expect(paid).toMatchObject({ status: 'completed', amount: '10150', price: nok });
  });

  test('is paid exactly what the caller names, which its issuer may refuse', async () => {
    const offer = await offered('10000');
    for (const path of ['/v2/node/pay', '/v2/node/pay_offer']) {
      const more = { offer, payable: offer, amount: '12000' };
      const { [path.endsWith('offer') ? 'payable' : 'offer']: _, ...body } = more;
      expect(await world.post(path, body)).toMatchObject({ amount: '12000', price: null });
      const less = await world.call('POST', path, { body: { ...body, amount: '9999' } });
      expectError(less, 'refused', /asks for 10000 sats/);
      expect(less.body.data).toMatchObject({ sent: 'no' });
    }
  });

  test('needs an amount as a refund, which must not be more than what was received', async () => {
    const refund_of = (await receive('10000')).index;
    await arrived(({ index, status }) => index === refund_of && status === 'completed');
    const answer = await pay({ payable: await offered('10100'), refund_of });
    expectError(answer, 'rejected', /required of a refund/);
  });

  test('is paid once for a key', async () => {
    const payable = await offered('10000');
    const key = { headers: { 'idempotency-key': 'subscription-1' } };
    const first = await pay({ payable }, key);
    expect(first.body).toMatchObject({ status: 'completed' });
    const before = await outbound();
    expect((await pay({ payable }, key)).body).toEqual(first.body);
    expect(await outbound()).toBe(before);
  });

  test('is error 113 without a rate, and 106 for a price that is none', async () => {
    const price = { currency: 'SEK', amount: '1.00' };
    const { offer } = await world.post('/sandbox/offer', { price, min_amount: '5' });
    expectError(await pay({ payable: offer }), 'serviceFailed', /SEK/);
    expectError(await pay({ payable: offer, amount: '5' }), 'serviceFailed', /SEK/);
    const huge = { price: { currency: 'NOK', amount: '900000000000000' }, min_amount: '5' };
    const { offer: much } = await world.post('/sandbox/offer', huge);
    expectError(await pay({ payable: much }), 'refused', /price in NOK that cannot be paid/);
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

  test('needs a permission to receive or to pay, and a currency that exists', async () => {
    const query = { currency: 'EUR' };
    const made = await world.post('/v2/node/create_client', { scopes: ['read_info'] });
    const credentials = made.client_credentials;
    expectError(await world.call('GET', '/v2/node/rate', { query, credentials }), 'forbidden');
    const payer = await world.post('/v2/node/create_client', { scopes: ['send'] });
    const told = await world.get('/v2/node/rate', query, payer.client_credentials);
    expect(told).toMatchObject({ rate: KEPT.rate });
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
    const priced = { price: { currency: 'EUR', amount: '5' }, min_amount: '10000' };
    const { offer } = await world.post('/sandbox/offer', priced);
    for (const [path, payable] of [
      ['pay', { payable: offer, amount: '10000' }],
      ['pay_offer', { offer, amount: '10000' }],
    ] as const) {
      const refused = await world.call('POST', `/v2/node/${path}`, { body: payable });
      expectError(refused, 'refused', /priced in EUR.*--rate-source/);
      expect(refused.body.data).toEqual({ sent: 'no' });
    }
    expect(asked).toEqual([]);
  });
});
