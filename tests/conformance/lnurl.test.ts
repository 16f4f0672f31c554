import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test';
import { decodeBolt11 } from '../../src/codecs/bolt11/index.ts';
import { encodeLnurl } from '../../src/codecs/lnurl.ts';
import { type Answer, expectError } from '../support/requests.ts';
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

const { analyze } = walletSteps(() => world);

describe('LNURL over real HTTP', () => {
  const service = (body: object) =>
    world.post('/sandbox/lnurl', { min_amount: '10', max_amount: '500', ...body });

  test('LNURL-pay: terms in analyze, limits, comment cut to length, payment', async () => {
    const { lnurl } = await service({ tag: 'payRequest', comment_length: 5, description: 'Shop' });
    const { payables } = await analyze(lnurl);
    expect(payables).toEqual([
      expect.objectContaining({
        kind: 'lnurl-pay',
        lnurl,
        description: 'Shop',
        amount: null,
        min_amount: '10',
        max_amount: '500',
      }),
    ]);
    const sent = await world.post('/v2/node/pay_lnurl', {
      lnurl,
      amount: '100',
      message: 'too long',
    });
    expect(sent).toMatchObject({ status: 'completed', amount: '100', message: 'too l' });
    for (const amount of ['9', '501']) {
      expectError(
        await world.call('POST', '/v2/node/pay_lnurl', { body: { lnurl, amount } }),
        'rejected',
        /from 10 to 500/,
      );
    }
  });

  test('a callback carries the LNURL alone, percent-encoded, and the amount of the URI around it', async () => {
    const { url } = await service({ tag: 'payRequest' });
    const odd = `${url}?a=%26b%3D1&c=d+e%20f&g=é%25#h`;
    const plain = odd.replace(/^http/, 'lnurlp');
    const bech32 = encodeLnurl(odd);
    for (const [text, lnurl] of [
      [plain, plain],
      [bech32.toUpperCase(), bech32],
      [`https://shop.example/?lightning=${bech32}#x`, bech32],
      [`bitcoin:?amount=0.0000005&label=Shop&lightning=${encodeURIComponent(plain)}`, plain],
    ] as const) {
      const [payable] = (await analyze(text)).payables;
      expect(payable).toMatchObject({ kind: 'lnurl-pay', lnurl });
      const callback = new URL(payable.callback);
      expect(callback.searchParams.get('payable')).toBe(lnurl);
      expect(callback.searchParams.get('amount')).toBe(text.startsWith('bitcoin') ? '50' : null);
      const paid = await world.call('POST', callback.pathname, {
        query: { amount: '50', ...Object.fromEntries(callback.searchParams) },
        body: {},
      });
      expect(paid.body).toMatchObject({ status: 'completed', amount: '50', message: null });
    }
  });

  test("the amount of a URI is the LNURL's too, and must lie within its limits", async () => {
    const { lnurl } = await service({ tag: 'payRequest' });
    const paid = await world.post('/v2/node/pay', {
      payable: `bitcoin:?amount=0.00000123&message=x&lightning=${lnurl}`,
    });
    expect(paid).toMatchObject({ status: 'completed', amount: '123', message: null });
    for (const amount of ['0.00000009', '0.00000501']) {
      const payable = `bitcoin:?amount=${amount}&lightning=${lnurl}`;
      expectError(
        await world.call('POST', '/v2/node/pay', { body: { payable } }),
        'refused',
        /from 10 to 500 sats/,
      );
    }
    const other = { payable: `bitcoin:?amount=0.00000123&lightning=${lnurl}`, amount: '124' };
    expectError(
      await world.call('POST', '/v2/node/pay', { body: other }),
      'rejected',
      /asks for 123 sats/,
    );
  });

  test('LNURL-withdraw: claimable in analyze, the most by default, limits', async () => {
    const { lnurl } = await service({ tag: 'withdrawRequest' });
    const { claimables, payables } = await analyze(lnurl);
    expect(payables).toEqual([]);
    expect(claimables).toEqual([
      expect.objectContaining({
        kind: 'lnurl-withdraw',
        lnurl,
        min_amount: '10',
        max_amount: '500',
      }),
    ]);
    const [withAmount] = (await analyze(`bitcoin:?amount=0.00000123&lightning=${lnurl}`))
      .claimables;
    expect(withAmount).toMatchObject({ min_amount: '123', max_amount: '123' });
    expect(new URL(withAmount.callback).searchParams.get('amount')).toBe('123');
    const callback = new URL(claimables[0].callback);
    expect(callback.searchParams.has('amount')).toBe(false);
    const got = await world.call('POST', callback.pathname, {
      query: Object.fromEntries(callback.searchParams),
      body: {},
    });
    expect(got.body).toMatchObject({ direction: 'inbound', status: 'completed', amount: '500' });
    expect(
      await world.post('/v2/node/withdraw_lnurl', { lnurl, amount: '20', personal_note: 'mine' }),
    ).toMatchObject({ amount: '20', personal_note: 'mine' });
    expectError(
      await world.call('POST', '/v2/node/withdraw_lnurl', { body: { lnurl, amount: '9' } }),
      'rejected',
    );
    for (const payable of [lnurl, `bitcoin:?lightning=${lnurl}`]) {
      expectError(
        await world.call('POST', '/v2/node/pay', { body: { payable, amount: '20' } }),
        'refused',
        /withdraw_lnurl/,
      );
    }
    expectError(
      await world.call('POST', '/v2/node/withdraw_lnurl', { body: { lnurl: 'x' } }),
      'rejected',
      /must be an LNURL for withdrawing \(lnurl1\.\.\. or lnurlw:\/\/\.\.\.\)/,
    );
    const { lnurl: other } = await service({ tag: 'payRequest' });
    expectError(
      await world.call('POST', '/v2/node/withdraw_lnurl', { body: { lnurl: other } }),
      'refused',
    );
    expectError(
      await world.call('POST', '/v2/node/withdraw_lnurl', {
        body: { lnurl },
        query: { lnurl: other },
      }),
      'rejected',
      /different values/,
    );
  });

  test("a withdrawal's description is as long as an invoice's may be, and no longer", async () => {
    const { lnurl } = await service({ tag: 'withdrawRequest' });
    const withdraw = (description: string) =>
      world.call('POST', '/v2/node/withdraw_lnurl', { body: { lnurl, amount: '20', description } });
    const descriptionOf = ({ body }: Answer) => decodeBolt11(body.invoice).description;
    for (const description of ['x'.repeat(639), `${'€'.repeat(212)}xyz`]) {
      const invoice = await world.call('POST', '/v2/node/create_invoice', {
        body: { description },
      });
      expect(descriptionOf(invoice)).toBe(description);
      expect(descriptionOf(await withdraw(description))).toBe(description);
    }
    for (const description of ['x'.repeat(640), '€'.repeat(214)]) {
      expectError(await withdraw(description), 'rejected', /639/);
    }
    expect(descriptionOf(await withdraw(''))).toBe(descriptionOf(await withdraw('sandbox')));
  });

  test('a service on this machine in a private range or over plain http elsewhere is refused', async () => {
    for (const lnurl of [
      'lnurlp://10.0.0.1/x',
      'lnurlp://192.168.1.1:8080/x',
      'lnurlp://169.254.169.254/x',
    ]) {
      expectError(
        await world.call('POST', '/v2/node/pay_lnurl', { body: { lnurl, amount: '10' } }),
        'serviceFailed',
        /public internet/,
      );
    }
  });

  test('the services of the sandbox answer any wallet that calls them, as LUD-06 and LUD-16 say', async () => {
    const terms = { min_amount: '10', max_amount: '500' };
    const { url } = await world.post('/sandbox/lnurl', { tag: 'payRequest', ...terms });
    await world.put('/v2/node/human_bitcoin_address', { username: 'answering' });
    for (const [path, range] of [
      [new URL(url).pathname, { minSendable: 10_000, maxSendable: 500_000 }],
      ['/.well-known/lnurlp/answering', {}],
    ] as const) {
      const first = await world.get(path);
      expect(first).toMatchObject({ tag: 'payRequest', ...range });
      const callback = new URL(first.callback);
      const { pr } = await world.get(callback.pathname, {
        ...Object.fromEntries(callback.searchParams),
        amount: '20000',
      });
      expect((await analyze(pr)).payables).toEqual([
        expect.objectContaining({ kind: 'invoice', invoice: pr, amount: '20' }),
      ]);
    }
  });
});

test('the price of an LNURL service is told, and paid only when the caller names it', async () => {
  const service = { tag: 'payRequest', min_amount: '9', max_amount: '9' };
  const { lnurl } = await world.post('/sandbox/lnurl', service);
  const { payables } = await world.get('/v2/node/analyze', { payment_string: lnurl });
  expect(payables).toMatchObject([{ amount: '9', callback: expect.stringMatching(/&amount=9$/) }]);
  const unnamed = await world.call('POST', '/v2/node/pay', { body: { payable: lnurl } });
  expectError(unnamed, 'rejected', /^amount: is required/);
  expect(await world.post('/v2/node/pay', { payable: lnurl, amount: '9' })).toMatchObject({
    status: 'completed',
    amount: '9',
  });
});

test('pay takes no other amount than an invoice encodes, whatever stands beside it', async () => {
  const { invoice } = await world.post('/v2/node/create_invoice', { amount: '10' }, world.bob);
  const { lnurl } = await world.post('/sandbox/lnurl', {
    tag: 'payRequest',
    min_amount: '1',
    max_amount: '1000',
  });
  const payable = `bitcoin:?lightning=${invoice}&lightning=${lnurl}`;
  const other = await world.call('POST', '/v2/node/pay', { body: { payable, amount: '900' } });
  expectError(other, 'rejected', /10 sats/);
});
