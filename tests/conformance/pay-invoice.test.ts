import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test';
import { expectError } from '../support/requests.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
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
const outside = (body: object) => world.post('/sandbox/invoice', body);

describe('pay_invoice', () => {
  test('blocks until completed and answers every field', async () => {
    const made = await anInvoice({ amount: '21' });
    const payment = asPayment(
      await world.post(PAY, { invoice: made.invoice, personal_note: 'mine' }, world.bob),
    );
    expect(payment).toMatchObject({
      rail: 'invoice',
      kind: 'invoice',
      direction: 'outbound',
      hash: made.payment_hash,
      amount: '21',
      fees: '0',
      status: 'completed',
      status_msg: 'completed',
      invoice: made.invoice,
      personal_note: 'mine',
      offer_id: null,
      txid: null,
      tx: null,
      address: null,
      priority: null,
      replacement: null,
      payer_name: null,
    });
    expect(payment.preimage).toMatch(/^[0-9a-f]{64}$/);
    expect(payment.finalized_at).toBeGreaterThanOrEqual(payment.created_at);
    const received = await world.get('/v2/node/payment', { index: made.index });
    expect(received).toMatchObject({
      status: 'completed',
      preimage: payment.preimage,
      personal_note: null,
    });
  });

  test('accepts note as the older name of personal_note', async () => {
    const made = await anInvoice({ amount: '1' });
    const paid = await world.post(PAY, { invoice: made.invoice, note: 'old name' }, world.bob);
    expect(paid.personal_note).toBe('old name');
  });

  test('personal_note and note with different values are error 7, the same twice is one', async () => {
    const made = await world.post('/v2/node/create_invoice', { amount: '3' });
    const body = { invoice: made.invoice, personal_note: 'a' };
    expectError(
      await world.call('POST', PAY, { body: { ...body, note: 'b' }, credentials: world.bob }),
      'rejected',
      /personal_note and note give different values/,
    );
    const paid = await world.post(PAY, { ...body, note: 'a' }, world.bob);
    expect(paid).toMatchObject({ status: 'completed', personal_note: 'a' });
  });

  test('an amountless invoice needs fallback_amount', async () => {
    const made = await anInvoice({});
    expectError(
      await world.call('POST', PAY, { body: { invoice: made.invoice }, credentials: world.bob }),
      'rejected',
      /^fallback_amount: is required.*satoshis$/,
    );
    const paid = await world.post(PAY, { invoice: made.invoice, fallback_amount: '33' }, world.bob);
    expect(paid).toMatchObject({ amount: '33', status: 'completed' });
  });

  test('an amount other than the encoded one is refused', async () => {
    const made = await anInvoice({ amount: '10' });
    const body = { invoice: made.invoice, fallback_amount: '11' };
    expectError(
      await world.call('POST', PAY, { body, credentials: world.bob }),
      'rejected',
      /10 sats/,
    );
  });

  test('paying the same invoice again answers the first payment and moves no money', async () => {
    const made = await anInvoice({ amount: '50' });
    const first = await world.post(PAY, { invoice: made.invoice }, world.bob);
    const balance = (await world.get('/v2/node/node_info', {}, world.bob)).balance;
    const many = await Promise.all(
      Array.from({ length: 5 }, () => world.post(PAY, { invoice: made.invoice }, world.bob)),
    );
    for (const again of many) expect(again).toEqual(first);
    expect((await world.get('/v2/node/node_info', {}, world.bob)).balance).toBe(balance);
  });

  test('concurrent payments of one invoice are one payment', async () => {
    const made = await anInvoice({ amount: '50' });
    const before = Number((await world.get('/v2/node/node_info', {}, world.bob)).balance);
    const all = await Promise.all(
      Array.from({ length: 10 }, () => world.post(PAY, { invoice: made.invoice }, world.bob)),
    );
    expect(new Set(all.map(({ index }) => index)).size).toBe(1);
    expect(Number((await world.get('/v2/node/node_info', {}, world.bob)).balance)).toBe(
      before - 50,
    );
  });

  test('a payment that the receiver fails is 200 with status failed, gives the money back, and may be tried again', async () => {
    const { invoice } = await outside({ amount: '40', behavior: 'fail' });
    const before = (await world.get('/v2/node/node_info')).balance;
    const failed = asPayment(await world.post(PAY, { invoice }));
    expect(failed).toMatchObject({
      status: 'failed',
      status_msg: 'rejected by the receiver',
      preimage: null,
      fees: '0',
    });
    expect(failed.finalized_at).not.toBeNull();
    expect((await world.get('/v2/node/node_info')).balance).toBe(before);
    const again = asPayment(await world.post(PAY, { invoice }));
    expect(again.status).toBe('failed');
    expect(again.index).not.toBe(failed.index);
  });

  test('routing to the outside world costs a fee, and the cap of max_fee fails the payment', async () => {
    const { invoice } = await outside({ amount: '1000' });
    const capped = await world.post(PAY, { invoice, max_fee: '1' });
    expect(capped).toMatchObject({ status: 'failed' });
    const paid = await world.post(PAY, { invoice, max_fee: '2' });
    expect(paid).toMatchObject({ status: 'completed', fees: '2' });
  });

  test('a held payment stays pending until it is decided', async () => {
    const { invoice, payment_hash } = await outside({ amount: '60', behavior: 'hold' });
    const pending = await world.call('POST', PAY, {
      body: { invoice },
      headers: { prefer: 'respond-async' },
    });
    expect(pending.status).toBe(202);
    expect(pending.body).toMatchObject({ status: 'pending', finalized_at: null });
    const soon = await world.call('POST', PAY, {
      body: { invoice },
      headers: { prefer: 'wait=1' },
    });
    expect(soon.status).toBe(202);
    expect(soon.body.index).toBe(pending.body.index);
    expectError(
      await world.call('POST', '/v2/node/cancel_payment', { body: { index: pending.body.index } }),
      'refused',
    );
    const waiting = world.get('/v2/node/wait_for_payment', { index: pending.body.index });
    await world.post('/sandbox/holds', { payment_hash, settle: true });
    expect(await waiting).toMatchObject({ status: 'completed', index: pending.body.index });
    expectError(
      await world.call('POST', '/sandbox/holds', { body: { payment_hash, settle: true } }),
      'notFound',
    );
  });

  test('respond-async answers 200 with the finalized payment when it is final at once', async () => {
    const made = await anInvoice({ amount: '5' });
    const answer = await world.call('POST', PAY, {
      body: { invoice: made.invoice },
      credentials: world.bob,
      headers: { prefer: 'wait=10' },
    });
    expect(answer.status).toBe(200);
    expect(answer.body.status).toBe('completed');
  });

  const refusals: readonly (readonly [
    string,
    () => Promise<object>,
    'rejected' | 'refused',
    RegExp,
  ])[] = [
    [
      'a string that is no invoice',
      async () => ({ invoice: 'lnbcrt1nonsense' }),
      'rejected',
      /ask the receiver/,
    ],
    ['a missing invoice', async () => ({}), 'rejected', /invoice/],
    [
      'more than the wallet can send',
      async () => ({ invoice: (await outside({ amount: '900000000' })).invoice }),
      'refused',
      /can send/,
    ],
    [
      'an own invoice',
      async () => ({ invoice: (await anInvoice({ amount: '3' })).invoice }),
      'refused',
      /your own.*pay it from another wallet/,
    ],
    [
      'an invoice of another network',
      async () => ({
        invoice:
          'lnbc2500u1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygspp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdq5xysxxatsyp3k7enxv4jsxqzpu9qrsgquk0rl77nj30yxdy8j9vdx85fkpmdla2087ne0xh8nhedh8w27kyke0lp53ut353s06fv3qfegext0eh0ymjpf39tuven09sam30g4vgpfna3rh',
      }),
      'refused',
      /bitcoin.*regtest/,
    ],
  ];
  for (const [what, body, name, message] of refusals) {
    test(`refuses ${what} before anything is sent`, async () => {
      const before = (await world.get('/v2/node/node_info')).balance;
      expectError(await world.call('POST', PAY, { body: await body() }), name, message);
      expect((await world.get('/v2/node/node_info')).balance).toBe(before);
    });
  }

  test('an invoice of an unknown node is attempted and fails', async () => {
    const made = await world.post('/sandbox/wallets');
    const invoice = await world.post(INVOICE, { amount: '9' }, made.client_credentials);
    await world.post('/v2/node/cancel_payment', { index: invoice.index }, made.client_credentials);
    const paid = await world.post(PAY, { invoice: invoice.invoice });
    expect(paid).toMatchObject({ status: 'failed', status_msg: 'rejected by the receiver' });
  });
});
