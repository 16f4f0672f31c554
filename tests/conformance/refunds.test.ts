import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test';
import { type Body, expectError } from '../support/requests.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { sandboxTest, test } from './node-test.ts';
import { newestUpdate, onItsWay, UNKNOWN_INDEX, walletSteps } from './wallet-steps.ts';
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

const { address, receive, list } = walletSteps(() => world);
const payment = (index: string) => world.get('/v2/node/payment', { index });
/** A payment of so many sats that was received. Resolves to its index. */
const sale = async (amount: string): Promise<string> => {
  const { index } = await receive(amount);
  await world.get('/v2/node/wait_for_payment', { index });
  return index;
};
const invoiceOf = async (amount: string | null, behavior = 'settle') =>
  (await world.post('/sandbox/invoice', { ...(amount && { amount }), behavior })).invoice as string;
const call = (path: string, body: object, more: object = {}) =>
  world.call('POST', `/v2/node/${path}`, { body, ...more });
/** Refunds by an outside invoice of that amount. */
const refund = async (refund_of: string, amount: string, behavior?: string, more: object = {}) =>
  call(
    'pay_invoice',
    { invoice: await invoiceOf(amount, behavior), refund_of, max_fee: '10' },
    more,
  );
const refunded = async (index: string) => (await payment(index)).refunded;

describe('a refund', () => {
  test('is linked with what it refunds, on both and wherever payments are shown', async () => {
    const start_index = await newestUpdate(world);
    const index = await sale('1000');
    expect(await payment(index)).toMatchObject({ refund_of: null, refunded: null });
    const { body } = await refund(index, '400');
    expect(body).toMatchObject({ status: 'completed', refund_of: index, refunded: null });
    expect(await payment(body.index)).toEqual(body);
    expect(await refunded(index)).toBe('400');
    const notice = JSON.parse((await hooks.notice(body.index, 'outbound')).body);
    expect(notice).toMatchObject({ refund_of: index, refunded: null });
    const linked = (payments: Body[]) =>
      [index, body.index].map((one) => {
        const { refund_of, refunded } = payments.find((it) => it.index === one) ?? {};
        return [refund_of, refunded];
      });
    const both = [
      [null, '400'],
      [index, null],
    ];
    // The cache says the same when it is made anew.
    for (const clear of [false, true]) {
      if (clear) await world.post('/v2/node/clear_payments');
      await world.put('/v2/node/sync_payments');
      expect(linked((await list({ filter: 'all', limit: '50' })).payments)).toEqual(both);
      expect(await refunded(index)).toBe('400');
    }
    const found = (await list({ filter: 'all', text: index })).payments;
    expect(found.map((it: Body) => it.index)).toEqual([body.index, index]);
    const { payments } = await world.get('/v2/node/updated_payments', {
      limit: '100',
      ...(start_index && { start_index }),
    });
    expect(linked(payments)).toEqual(both);
    expect(await world.get('/v2/node/wait_for_payment', { index })).toMatchObject({
      refunded: '400',
    });
    await world.post('/v2/node/update_personal_note', { index, personal_note: 'sent back' });
    expect(await payment(index)).toMatchObject({ refunded: '400', personal_note: 'sent back' });
  });

  test('of several takes no more than was received in all, fees not counted, and says how much is left', async () => {
    const index = await sale('1000');
    expect((await refund(index, '400')).body.status).toBe('completed');
    const beyond = await refund(index, '600.001');
    expectError(beyond, 'refused', /^Of the received payment 600 sats are left to refund/);
    expect(beyond.body.data).toMatchObject({ sent: 'no' });
    expect((await refund(index, '600')).body.status).toBe('completed');
    expect(await refunded(index)).toBe('1000');
    expectError(await refund(index, '1'), 'refused', / 0 sats are left/);
  });

  test('that fails gives its part back, and stays linked', async () => {
    const index = await sale('100');
    const { body } = await refund(index, '100', 'fail');
    expect(body).toMatchObject({ status: 'failed', refund_of: index });
    expect(await refunded(index)).toBeNull();
    expect((await refund(index, '100')).body.status).toBe('completed');
  });

  test('counts while it is on its way, and what is left after it fails is right again', async () => {
    const index = await sale('100');
    const { answer } = await onItsWay(world, () => refund(index, '70', 'hold'));
    expect(await refunded(index)).toBe('70');
    expectError(await refund(index, '31'), 'refused', /30 sats are left/);
    expect((await refund(index, '30')).body.status).toBe('completed');
    expect(await refunded(index)).toBe('100');
    void answer.catch(() => undefined);
  });

  test('many in the same instant take no more than was received', async () => {
    const index = await sale('100');
    const clients = await Promise.all(
      Array.from({ length: 4 }, () => world.post('/v2/node/create_client', { scopes: ['full'] })),
    );
    const invoices = await Promise.all(Array.from({ length: 20 }, () => invoiceOf('30')));
    const answers = await Promise.all(
      invoices.map((invoice, at) =>
        call(
          'pay_invoice',
          { invoice, refund_of: index, max_fee: '10' },
          { credentials: clients[at % clients.length]?.client_credentials },
        ),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
    for (const answer of answers) if (answer.status !== 200) expectError(answer, 'refused');
    expect(await refunded(index)).toBe('90');
  });

  test('counts by the given amount for an invoice without one', async () => {
    const index = await sale('100');
    const invoice = await invoiceOf(null);
    const body = { invoice, refund_of: index, max_fee: '10' };
    expectError(await call('pay_invoice', { ...body, fallback_amount: '101' }), 'refused');
    const paid = await call('pay_invoice', { ...body, fallback_amount: '60' });
    expect(paid.body).toMatchObject({ status: 'completed', refund_of: index });
    expect(await refunded(index)).toBe('60');
  });

  test('is a parameter of pay', async () => {
    const index = await sale('100');
    const paid = await call('pay', {
      payable: await invoiceOf('40'),
      refund_of: index,
      max_fee: '10',
    });
    expect(paid.body).toMatchObject({ status: 'completed', refund_of: index });
    expect(await refunded(index)).toBe('40');
    const other = await sale('30000');
    const sent = await call('pay', {
      payable: await address(),
      amount: '20000',
      refund_of: other,
    });
    expect(sent.body).toMatchObject({ rail: 'onchain', refund_of: other });
    expect(await refunded(other)).toBe('20000');
  });

  test('is a parameter of pay_offer', async () => {
    const index = await sale('100');
    const { offer } = await world.post('/v2/node/create_offer', {}, world.bob);
    const paid = await call('pay_offer', { offer, amount: '40', refund_of: index });
    expect(paid.body).toMatchObject({ status: 'completed', refund_of: index });
    expect(await payment(paid.body.index as string)).toMatchObject({ refund_of: index });
    expect(await refunded(index)).toBe('40');
  });

  sandboxTest('is a parameter of pay_lnurl', async () => {
    const index = await sale('100');
    const { lnurl } = await world.post('/sandbox/lnurl', {
      tag: 'payRequest',
      min_amount: '1',
      max_amount: '500',
    });
    const paid = await call('pay_lnurl', { lnurl, amount: '40', refund_of: index });
    expect(paid.body).toMatchObject({ status: 'completed', refund_of: index });
    expect(await refunded(index)).toBe('40');
  });

  test('is a parameter of pay_spontaneous', async () => {
    const index = await sale('100');
    const { node_pk } = await world.get('/v2/node/node_info', {}, world.bob);
    const paid = await call('pay_spontaneous', { node_pk, amount: '40', refund_of: index });
    expect(paid.body).toMatchObject({ status: 'completed', refund_of: index });
    expect(await refunded(index)).toBe('40');
  });

  test('is a parameter of pay_onchain, and counts while it is not confirmed', async () => {
    const index = await sale('30000');
    const client_payment_id = 'c7'.repeat(32);
    const order = { address: await address(), amount: '20000', client_payment_id };
    const sent = await call('pay_onchain', { ...order, refund_of: index });
    expect(sent.body).toMatchObject({ status: 'pending', refund_of: index });
    expect(await payment(sent.body.index as string)).toMatchObject({ refund_of: index });
    expect(await refunded(index)).toBe('20000');
    expectError(
      await call('pay_onchain', { ...order, client_payment_id: 'c8'.repeat(32), refund_of: index }),
      'refused',
      /10000 sats are left/,
    );
    const other = await sale('30000');
    expectError(
      await call('pay_onchain', { ...order, refund_of: other }),
      'refused',
      /not as a refund/,
    );
    expect(await refunded(other)).toBeNull();
  });
});

describe('refund_of', () => {
  test('names a completed payment that was received, else it is error 106', async () => {
    const unpaid = await world.post('/v2/node/create_invoice', { amount: '100' });
    const answer = await refund(unpaid.index, '10');
    expectError(answer, 'refused', /no completed payment to this wallet/);
    expect(answer.body.data).toMatchObject({ sent: 'no' });
    const sent = await call('pay_invoice', { invoice: await invoiceOf('50'), max_fee: '10' });
    expectError(await refund(sent.body.index as string, '10'), 'refused', /no completed payment/);
  });

  test('that names no payment is error 107, as is one that the caller may not see', async () => {
    const unknown = await refund(UNKNOWN_INDEX, '10');
    expectError(unknown, 'notFound');
    const index = await sale('100');
    const { client_credentials } = await world.post('/v2/node/create_client', { scopes: ['send'] });
    const hidden = await refund(index, '10', 'settle', { credentials: client_credentials });
    expectError(hidden, 'notFound');
    expect(hidden.body).toEqual(unknown.body);
    expect(await refunded(index)).toBeNull();
    const { invoice } = await world.post('/v2/node/create_invoice', { amount: '10' });
    const body = { invoice, refund_of: index };
    const other = await call('pay_invoice', body, { credentials: world.bob });
    expect(other.body).toEqual(unknown.body);
    expectError(await refund('no index', '10'), 'rejected');
  });

  test('that differs makes another request of the same Idempotency-Key', async () => {
    const [one, two] = [await sale('100'), await sale('100')];
    const invoice = await invoiceOf('10');
    const headers = { 'Idempotency-Key': 'refund once' };
    const pay = (refund_of: string) =>
      call('pay_invoice', { invoice, refund_of, max_fee: '10' }, { headers });
    const first = await pay(one);
    expect(first.body.refund_of).toBe(one);
    expectError(await pay(two), 'idempotencyConflict');
    expect((await pay(one)).body).toEqual(first.body);
    expect([await refunded(one), await refunded(two)]).toEqual(['10', null]);
  });

  test('does not link what was paid before as something else, and a repeat of the refund is answered with it', async () => {
    const [one, two] = [await sale('100'), await sale('100')];
    const invoice = await invoiceOf('10');
    const pay = (refund_of?: string) =>
      call('pay_invoice', { invoice, max_fee: '10', ...(refund_of && { refund_of }) });
    const first = await pay(one);
    expect(first.body.refund_of).toBe(one);
    expect((await pay(one)).body).toEqual(first.body);
    expect((await pay()).body).toEqual(first.body);
    expectError(await pay(two), 'refused', /not as a refund of the payment to be refunded/);
    const plain = await invoiceOf('20');
    expect((await call('pay_invoice', { invoice: plain, max_fee: '10' })).status).toBe(200);
    const late = await call('pay_invoice', { invoice: plain, max_fee: '10', refund_of: two });
    expectError(late, 'refused', /not as a refund of the payment to be refunded/);
    expect([await refunded(one), await refunded(two)]).toEqual(['10', null]);
  });

  test('counts while the payment waits for approval, and is given back where that is rejected', async () => {
    const index = await sale('500');
    const { client_credentials } = await world.post('/v2/node/create_client', {
      scopes: ['send', 'read_payments'],
      approve_above: '50',
    });
    const ask = (amount: string) =>
      refund(index, amount, 'settle', {
        credentials: client_credentials,
        headers: { Prefer: 'respond-async' },
      });
    const waiting = await ask('300');
    expect(waiting.body).toMatchObject({ status_msg: 'awaiting approval', refund_of: index });
    expect(await refunded(index)).toBe('300');
    expectError(await refund(index, '201'), 'refused', /200 sats are left/);
    await call('reject', { index: waiting.body.index });
    expect(await refunded(index)).toBeNull();
    const again = await ask('500');
    await call('approve', { index: again.body.index });
    const ended = await world.get('/v2/node/wait_for_payment', { index: String(again.body.index) });
    expect(ended).toMatchObject({ status: 'completed', refund_of: index });
    expect(await refunded(index)).toBe('500');
  });

  test('stands in the books', async () => {
    const index = await sale('100');
    const { body } = await refund(index, '10');
    const books = async (format: string) => {
      const path = `${world.baseUrl}/v2/node/export?format=${format}`;
      return (await (await fetch(path)).text()).trim().split('\n');
    };
    const [head = '', ...rows] = await books('csv');
    expect(head).toEndWith(',refund_of,index');
    expect(rows.find((row) => row.endsWith(`,${body.index}`))).toContain(`,${index},`);
    const lines = (await books('json')).map((line) => JSON.parse(line));
    expect(lines.find((line) => line.index === index)).toMatchObject({ refunded: '10' });
    expect(lines.find((line) => line.index === body.index)).toMatchObject({ refund_of: index });
  });
});
