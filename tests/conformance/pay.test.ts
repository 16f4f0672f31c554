import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test';
import { encodeBip321 } from '../support/bip321.ts';
import { type Body, expectError } from '../support/requests.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { test } from './node-test.ts';
import { walletSteps } from './wallet-steps.ts';
import { type ConformanceWorld, openConformanceWorld } from './world.ts';

setDefaultTimeout(SLOW_TEST_MS);

let world: ConformanceWorld;
beforeAll(async () => {
  world = await openConformanceWorld();
});
afterAll(() => world.close());

const { address, analyze, arrived, pay } = walletSteps(() => world);
const deadInvoice = async () =>
  (await world.post('/v2/node/create_invoice', { amount: '1' })).invoice as string;

describe('pay and analyze', () => {
  test('a unified URI recommends offer, invoice, address in this order, and its callbacks work', async () => {
    const { offer } = await world.post('/v2/node/create_offer');
    const { invoice } = await world.post('/v2/node/create_invoice', { amount: '3000' });
    const uri = encodeBip321({
      address: await address(),
      invoice,
      offer,
      amountMsat: 3_000_000n,
      message: 'Lunch',
    });
    const { payables } = await analyze(uri);
    expect(payables.map(({ kind, amount }: Body) => [kind, amount])).toEqual([
      ['offer', '3000'],
      ['invoice', '3000'],
      ['onchain', '3000'],
    ]);
    for (const { callback } of payables) {
      const url = new URL(callback);
      expect(url.origin).toBe(world.baseUrl);
      const paid = await world.call('POST', url.pathname, {
        query: Object.fromEntries(url.searchParams),
        body: {},
        credentials: world.bob,
      });
      expect(paid.body.amount).toBe('3000');
    }
    expect(
      await pay({
        payable: uri
          .toUpperCase()
          .replace('BITCOIN', 'bitcoin')
          .replaceAll('AMOUNT=0.00003', 'amount=0.00003'),
      }),
    ).toMatchObject({ rail: 'offer' });
  });

  test('every method can be paid by pay from a second wallet', async () => {
    const { invoice } = await world.post('/v2/node/create_invoice', { amount: '12' });
    expect(await pay({ payable: `lightning:${invoice.toUpperCase()}` })).toMatchObject({
      rail: 'invoice',
      status: 'completed',
    });
    expect(await pay({ payable: await address(), amount: '2000' })).toMatchObject({
      rail: 'onchain',
      status: 'pending',
    });
    const { lnurl } = await world.post('/sandbox/lnurl', {
      tag: 'payRequest',
      min_amount: '1',
      max_amount: '99',
    });
    expect(await pay({ payable: lnurl, amount: '50' })).toMatchObject({
      rail: 'invoice',
      status: 'completed',
    });
  });

  test('body and query must agree', async () => {
    const { invoice } = await world.post('/v2/node/create_invoice', { amount: '12' });
    const conflict = await world.call('POST', '/v2/node/pay', {
      body: { payable: invoice, amount: '12' },
      query: { amount: '13' },
      credentials: world.bob,
    });
    expectError(conflict, 'rejected', /different values/);
    const same = await world.call('POST', '/v2/node/pay', {
      body: { payable: invoice, amount: '12' },
      query: { payable: invoice, amount: '12.0' },
      credentials: world.bob,
    });
    expect(same.body.status).toBe('completed');
    expectError(await world.call('POST', '/v2/node/pay', { body: {} }), 'rejected', /payable/);
  });

  test('an amount is needed where the payable has none, and must equal the one it has', async () => {
    const free = await world.post('/v2/node/create_invoice', {});
    expectError(
      await world.call('POST', '/v2/node/pay', {
        body: { payable: free.invoice },
        credentials: world.bob,
      }),
      'rejected',
      /^amount: is required/,
    );
    const fixed = await world.post('/v2/node/create_invoice', { amount: '5' });
    expectError(
      await world.call('POST', '/v2/node/pay', {
        body: { payable: fixed.invoice, amount: '6' },
        credentials: world.bob,
      }),
      'rejected',
      /5 sats/,
    );
  });

  test('what cannot be paid is left out, and error 106 says why when nothing is left', async () => {
    const mainnet = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq';
    expectError(
      await world.call('GET', '/v2/node/analyze', { query: { payment_string: mainnet } }),
      'refused',
      /bitcoin/,
    );
    const { offer } = await world.post('/v2/node/create_offer');
    expect(
      (await analyze(`bitcoin:${mainnet}?lno=${offer}`)).payables.map(({ kind }: Body) => kind),
    ).toEqual(['offer']);
    expectError(
      await world.call('GET', '/v2/node/analyze', {
        query: { payment_string: `bitcoin:?req-new=1&lno=${offer}` },
      }),
      'refused',
      /req-new/,
    );
    expectError(await world.call('GET', '/v2/node/analyze'), 'rejected', /payment_string/);
  });

  test('a URI that contradicts itself or requires what is not known pays nothing, not on chain either', async () => {
    const { invoice } = await world.post('/v2/node/create_invoice', { amount: '3000' });
    const to = await address();
    const balance = async () => (await world.get('/v2/node/node_info', {}, world.bob)).balance;
    const before = await balance();
    for (const [parameters, reason] of [
      [`amount=0.00001&lightning=${invoice}`, /3000 sats .* 1000 sats/],
      [`req-pop=callback%3a&amount=0.00003&lightning=${invoice}`, /req-pop/],
    ] as const) {
      const payable = `bitcoin:${to}?${parameters}`;
      const paid = await world.call('POST', '/v2/node/pay', {
        body: { payable },
        credentials: world.bob,
      });
      expectError(paid, 'refused', reason);
      expect(paid.body.data).toMatchObject({ sent: 'no' });
      const explained = await world.call('GET', '/v2/node/analyze', {
        query: { payment_string: payable },
      });
      expectError(explained, 'refused', reason);
    }
    expect(await balance()).toBe(before);
  });

  test('a method that cannot be read or reached leaves the address beside it payable', async () => {
    const to = await address();
    for (const bad of ['garbage', 'lnurlp://10.0.0.1/x', `${(await deadInvoice()).slice(0, -1)}`]) {
      const uri = `bitcoin:${to}?amount=0.00002&lightning=${encodeURIComponent(bad)}`;
      expect((await analyze(uri)).payables).toEqual([
        expect.objectContaining({ kind: 'onchain', onchain: to, amount: '2000' }),
      ]);
    }
    const dead = { query: { payment_string: 'bitcoin:?lightning=lnurlp://10.0.0.1/x' } };
    expectError(await world.call('GET', '/v2/node/analyze', dead), 'serviceFailed');
  });

  test('a URI whose invoice was paid meets that payment once the invoice has expired, and pays no address', async () => {
    const { invoice } = await world.post('/v2/node/create_invoice', {
      amount: '3000',
      expiration_secs: 60,
    });
    const payable = `bitcoin:${await address()}?amount=0.00003&lightning=${invoice}`;
    const first = await pay({ payable });
    expect(first).toMatchObject({ rail: 'invoice', status: 'completed' });
    await world.post('/sandbox/clock', { advance_secs: 120 });
    expect(await pay({ payable })).toEqual(first);
  });

  test('what is no payment string is rejected in words that say what is', async () => {
    for (const text of ['hello', 'https://shop.example/pay', 'bitcoin']) {
      expectError(
        await world.call('GET', '/v2/node/analyze', { query: { payment_string: text } }),
        'rejected',
        /payment_string: This text is no payment string known here: .*BOLT 11.*LNURL/,
      );
      expectError(
        await world.call('POST', '/v2/node/pay', { body: { payable: text } }),
        'rejected',
        /payable: This text is no payment string known here/,
      );
    }
  });

  test('other spellings of one address are one payment, by client_payment_id and by Idempotency-Key', async () => {
    const to = await address();
    const spellings = [to, to.toUpperCase(), `bitcoin:${to}`, `BITCOIN://${to.toUpperCase()}`];
    const sends = async (path: string, field: string, more: object, headers = {}) => {
      const txids = [];
      for (const spelling of spellings) {
        const paid = await world.call('POST', path, {
          body: { [field]: spelling, amount: '1000', ...more },
          credentials: world.bob,
          headers,
        });
        expect(paid.body).toMatchObject({ address: to, amount: '1000' });
        txids.push(paid.body.txid);
      }
      expect(new Set(txids).size).toBe(1);
      // The change of each is confirmed, so that the next one can spend it.
      await world.post('/sandbox/blocks', { count: 1 });
      return txids[0];
    };
    const id = { client_payment_id: '5a'.repeat(32) };
    const sent = [
      await sends('/v2/node/pay_onchain', 'address', id),
      await sends('/v2/node/pay_onchain', 'address', {}, { 'idempotency-key': 'spelled-1' }),
      await sends('/v2/node/pay', 'payable', {}, { 'idempotency-key': 'spelled-2' }),
    ];
    expect(new Set(sent).size).toBe(3);
    const both = await world.call('POST', '/v2/node/pay', {
      body: { payable: `bitcoin:${to}`, amount: '1000' },
      query: { payable: to.toUpperCase() },
      credentials: world.bob,
    });
    expect(both.body).toMatchObject({ address: to });
    const uri = { address: `bitcoin:${to}?amount=1`, amount: '1000' };
    expectError(
      await world.call('POST', '/v2/node/pay_onchain', { body: uri, credentials: world.bob }),
      'rejected',
      /address alone/,
    );
    await world.post('/sandbox/blocks', { count: 6 });
  });

  test('other spellings of one invoice are one payment', async () => {
    const { invoice } = await world.post('/v2/node/create_invoice', { amount: '15' });
    const upper = invoice.toUpperCase();
    const headers = { 'idempotency-key': 'spelled-3' };
    const paid = [];
    for (const payable of [
      invoice,
      upper,
      `lightning:${upper}`,
      `bitcoin:?lightning=${invoice}`,
      `BITCOIN:?LIGHTNING=${upper}`,
    ]) {
      paid.push(await pay({ payable }));
      const body = { body: { payable }, credentials: world.bob, headers };
      paid.push((await world.call('POST', '/v2/node/pay', body)).body);
    }
    paid.push(
      await world.post('/v2/node/pay_invoice', { invoice: `lightning:${upper}` }, world.bob),
    );
    expect(new Set(paid.map(({ index }) => index)).size).toBe(1);
    expect(paid[0]).toMatchObject({ invoice, status: 'completed' });
  });

  test('buy_with_payment_app gives a link that the outside world pays in the sandbox', async () => {
    expectError(
      await world.call('POST', '/v2/node/buy_with_payment_app', { body: { amount: '4999' } }),
      'rejected',
      /5000/,
    );
    const { redirect_url, index } = await world.post('/v2/node/buy_with_payment_app', {
      amount: '5000',
    });
    expect(redirect_url).toStartWith('https://cash.app/launch/lightning/lnbcrt');
    await world.post('/sandbox/pay', { payable: redirect_url });
    expect(await world.get('/v2/node/payment', { index })).toMatchObject({
      status: 'completed',
      amount: '5000',
      direction: 'inbound',
    });
  });

  const unreadable: readonly (readonly [string, object])[] = [
    ['pay', { payable: 'hello world', amount: '1' }],
    ['pay_invoice', { invoice: 'lnbcrt1x' }],
    ['pay_offer', { offer: 'lno1x', amount: '1' }],
    ['pay_onchain', { address: 'hello', amount: '1000' }],
    ['pay_lnurl', { lnurl: 'hello', amount: '1' }],
  ];
  for (const [name, body] of unreadable) {
    test(`${name} says in data.sent that nothing was sent, of what it cannot read too`, async () => {
      for (const prefer of ['', 'respond-async']) {
        const headers = prefer === '' ? {} : { prefer };
        const answer = await world.call('POST', `/v2/node/${name}`, { body, headers });
        expectError(answer, 'rejected');
        expect(answer.body.data).toEqual({ issues: [expect.anything()], sent: 'no' });
      }
    });
  }

  test('a spontaneous payment comes in', async () => {
    const { node_pk } = await world.get('/v2/node/node_info');
    await world.post('/sandbox/pay', { payable: node_pk, amount: '66' });
    expect(await arrived((payment) => payment.rail === 'spontaneous')).toMatchObject({
      kind: 'spontaneous',
      direction: 'inbound',
      amount: '66',
    });
  });

  test('the sandbox funds a wallet on request', async () => {
    expect(await world.post('/sandbox/fund', { amount: '77', rail: 'lightning' })).toMatchObject({
      amount: '77',
    });
  });
});
