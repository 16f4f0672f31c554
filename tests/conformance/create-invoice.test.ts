import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test';
import { createHash } from 'node:crypto';
import { decodeBolt11 } from '../../src/codecs/bolt11/index.ts';
import { type Body, expectError } from '../support/requests.ts';
import { earlyInSecond, SLOW_TEST_MS } from '../support/until.ts';
import { test } from './node-test.ts';
import { asPayment, type ConformanceWorld, openConformanceWorld } from './world.ts';

setDefaultTimeout(SLOW_TEST_MS);

let world: ConformanceWorld;
beforeAll(async () => {
  world = await openConformanceWorld();
});
afterAll(() => world.close());

const INVOICE = '/v2/node/create_invoice';
const PAY = '/v2/node/pay_invoice';
const anInvoice = (body: object = { amount: '1000' }) => world.post(INVOICE, body);

describe('create_invoice', () => {
  test('answers every field of the creation result, with the default expiry of one day', async () => {
    await earlyInSecond();
    const made = await anInvoice({ amount: '1000.5', description: 'Coffee', personal_note: 'n' });
    expect(made).toMatchObject({ description: 'Coffee', amount: '1000.5' });
    // An invoice holds times in whole seconds.
    expect(made.expires_at).toBe((Math.floor(made.created_at / 1000) + 86_400) * 1000);
    expect(made.index).toMatch(/^\d{19}-ln_[0-9a-f]{64}$/);
    expect(made.index.endsWith(made.payment_hash)).toBe(true);
    const payment = await world.get('/v2/node/payment', { index: made.index });
    expect(payment).toMatchObject({
      rail: 'invoice',
      kind: 'invoice',
      direction: 'inbound',
      status: 'pending',
      status_msg: 'invoice generated',
      personal_note: 'n',
      invoice: made.invoice,
      finalized_at: null,
      fees: '0',
    });
  });

  test('without an amount the payer chooses, and description is null', async () => {
    expect(await anInvoice({})).toMatchObject({ amount: null, description: null });
    const answer = await world.call('POST', INVOICE);
    expect(answer.status).toBe(200);
  });

  test('expires_at is the one that the invoice encodes, everywhere and before and after it is paid', async () => {
    const made = await anInvoice({ amount: '3', expiration_secs: 1234 });
    const { expires_at } = made;
    expect(expires_at).toBe(decodeBolt11(made.invoice).expiresAtMs);
    const { payables } = await world.get('/v2/node/analyze', { payment_string: made.invoice });
    expect(payables).toMatchObject([{ expires_at }]);
    const inbound = () => world.get('/v2/node/payment', { index: made.index });
    expect(await inbound()).toMatchObject({ status: 'pending', expires_at });
    expect(await world.post(PAY, { invoice: made.invoice }, world.bob)).toMatchObject({
      direction: 'outbound',
      status: 'completed',
      expires_at,
    });
    expect(await inbound()).toMatchObject({ status: 'completed', expires_at });
  });

  test('an empty description is null', async () => {
    const made = await anInvoice({ amount: '3', description: '' });
    expect(made.description).toBeNull();
    const { payables } = await world.get('/v2/node/analyze', { payment_string: made.invoice });
    expect(payables).toMatchObject([{ description: null }]);
  });

  test('description_hash stands in the invoice in place of a description', async () => {
    const description_hash = createHash('sha256').update('a long contract').digest('hex');
    const made = await anInvoice({ amount: '3', description_hash });
    expect(made.description).toBeNull();
    expect(decodeBolt11(made.invoice)).toMatchObject({
      descriptionHash: description_hash,
      description: null,
    });
    expect(await world.post(PAY, { invoice: made.invoice }, world.bob)).toMatchObject({
      status: 'completed',
    });
  });

  test('description and description_hash together are error 7', async () => {
    const body = { description: 'tea', description_hash: 'ab'.repeat(32) };
    const answer = await world.call('POST', INVOICE, { body });
    expectError(answer, 'rejected', /description_hash/);
  });

  const limits: readonly (readonly [string, object, boolean])[] = [
    ['an expiry of one week', { expiration_secs: 604_800 }, true],
    ['an expiry above one week', { expiration_secs: 604_801 }, false],
    ['an expiry of zero', { expiration_secs: 0 }, false],
    ['an expiry with decimals', { expiration_secs: 1.5 }, false],
    ['a whole number as amount', { amount: 5 }, true],
    ['a number with decimals as amount', { amount: 1.5 }, false],
    ['an amount with four decimals', { amount: '1.0001' }, false],
    ['a negative amount', { amount: '-1' }, false],
    ['an amount with exponent', { amount: '1e3' }, false],
    ['an amount of zero', { amount: '0' }, false],
    ['an amount above 21 million BTC', { amount: '2100000000000001' }, false],
    ['a note of 200 characters', { personal_note: 'x'.repeat(200) }, true],
    ['a note of 201 characters', { personal_note: 'x'.repeat(201) }, false],
    ['a note of 512 bytes', { personal_note: '€'.repeat(170) }, true],
    ['a note of more than 512 bytes', { personal_note: '€'.repeat(171) }, false],
    ['an empty note', { personal_note: '' }, false],
    ['characters counted by code point', { personal_note: '😀'.repeat(128) }, true],
    ['a description hash that is too short', { description_hash: 'ab'.repeat(31) }, false],
    [
      'null beside a description hash',
      { description: null, description_hash: 'AB'.repeat(32) },
      true,
    ],
    ['unknown body fields', { amount: '1', zork: 1 }, true],
    ['null for an optional field', { amount: null }, true],
  ];
  for (const [what, body, good] of limits) {
    test(`${good ? 'takes' : 'rejects'} ${what}`, async () => {
      const answer = await world.call('POST', INVOICE, { body });
      if (good) expect(answer.status).toBe(200);
      else expectError(answer, 'rejected');
    });
  }

  const partner = 'ab'.repeat(32);
  const partners: readonly (readonly [string, object, boolean])[] = [
    [
      'a partner with the least fee',
      { partner_pk: partner, partner_prop_fee: 5000, amount: '1000' },
      true,
    ],
    [
      'a partner with the largest fee',
      { partner_pk: partner, partner_prop_fee: 500_000, amount: '1000' },
      true,
    ],
    ['a fee below the least', { partner_pk: partner, partner_prop_fee: 4999 }, false],
    ['a fee above the largest', { partner_pk: partner, partner_prop_fee: 500_001 }, false],
    ['a partner without a fee', { partner_pk: partner }, false],
    ['a fee without a partner', { partner_prop_fee: 5000 }, false],
    [
      'a base fee without an amount',
      { partner_pk: partner, partner_prop_fee: 5000, partner_base_fee: '1' },
      false,
    ],
    [
      'a base fee with an amount',
      { partner_pk: partner, partner_prop_fee: 5000, partner_base_fee: '1', amount: '1000' },
      true,
    ],
    [
      'a base fee of zero',
      { partner_pk: partner, partner_prop_fee: 5000, partner_base_fee: '0', amount: '1000' },
      true,
    ],
  ];
  for (const [what, body, good] of partners) {
    test(`${good ? 'takes' : 'rejects'} ${what}`, async () => {
      const answer = await world.call('POST', INVOICE, { body });
      if (good) expect(answer.status).toBe(200);
      else expectError(answer, 'rejected');
    });
  }

  test('inbound with partner fees: amount is net, fees what was taken, their sum what was paid', async () => {
    const made = await anInvoice({
      amount: '1000',
      partner_pk: partner,
      partner_prop_fee: 100_000,
      partner_base_fee: '5',
    });
    await world.post(PAY, { invoice: made.invoice }, world.bob);
    const payment = await world.get('/v2/node/payment', { index: made.index });
    expect(payment).toMatchObject({
      status: 'completed',
      amount: '895',
      fees: '105',
      partner_pk: partner,
      partner_prop_fee: 100_000,
      partner_base_fee: '5',
    });
  });
});

describe("a partner's fee", () => {
  const balanceOf = async (credentials?: string) =>
    Number((await world.get('/v2/node/node_info', {}, credentials)).lightning_balance);

  test("reaches the partner's wallet on the same sandbox as an inbound payment, from any payer", async () => {
    const partner = await world.post('/sandbox/wallets');
    const { client_credentials: credentials, user_pk: partner_pk } = partner;
    const terms = { partner_pk, partner_prop_fee: 100_000, partner_base_fee: '5' };
    const wallets = [undefined, credentials, world.bob];
    for (const payer of [world.bob, null]) {
      const before = await Promise.all(wallets.map(balanceOf));
      const { invoice } = await anInvoice({ amount: '1000', ...terms });
      if (payer === null) await world.post('/sandbox/pay', { payable: invoice });
      else await world.post(PAY, { invoice }, payer);
      const after = await Promise.all(wallets.map(balanceOf));
      expect(after.map((balance, i) => balance - (before[i] ?? 0))).toEqual([
        895,
        105,
        payer === null ? 0 : -1000,
      ]);
    }
    const { payments } = await world.get('/v2/node/updated_payments', {}, credentials);
    const fees = payments.filter((payment: Body) => payment.partner_pk === partner_pk);
    expect(fees).toHaveLength(2);
    for (const fee of fees) {
      expect(fee).toMatchObject({
        ...terms,
        direction: 'inbound',
        rail: 'spontaneous',
        kind: 'spontaneous',
        status: 'completed',
        amount: '105',
        fees: '0',
      });
      expect(fee.index).toMatch(new RegExp(`-ln_${fee.hash}$`));
    }
  });
});

describe('ends of an invoice that is not paid', () => {
  test('cancel_payment makes it failed / canceled, again does nothing, and it can no longer be paid', async () => {
    const made = await anInvoice({ amount: '8' });
    expect(await world.post('/v2/node/cancel_payment', { index: made.index })).toEqual({});
    expect(await world.get('/v2/node/payment', { index: made.index })).toMatchObject({
      status: 'failed',
      status_msg: 'canceled',
    });
    expect(await world.post('/v2/node/cancel_payment', { index: made.index })).toEqual({});
    expect(await world.post(PAY, { invoice: made.invoice }, world.bob)).toMatchObject({
      status: 'failed',
    });
  });

  test('a completed payment cannot be canceled', async () => {
    const made = await anInvoice({ amount: '8' });
    await world.post(PAY, { invoice: made.invoice }, world.bob);
    expectError(
      await world.call('POST', '/v2/node/cancel_payment', { body: { index: made.index } }),
      'refused',
    );
  });

  test('an unknown payment cannot be canceled', async () => {
    const index = `0000000000000000001-ln_${'0'.repeat(64)}`;
    expectError(
      await world.call('POST', '/v2/node/cancel_payment', { body: { index } }),
      'notFound',
    );
  });

  test('past its expiry it becomes failed / expired and is refused', async () => {
    const made = await anInvoice({ amount: '8', expiration_secs: 60 });
    await world.post('/sandbox/clock', { advance_secs: 61 });
    const payment = asPayment(await world.get('/v2/node/payment', { index: made.index }));
    expect(payment).toMatchObject({ status: 'failed', status_msg: 'expired' });
    expect(payment.finalized_at).not.toBeNull();
    expectError(
      await world.call('POST', PAY, { body: { invoice: made.invoice }, credentials: world.bob }),
      'refused',
      /expired/,
    );
  });
});
