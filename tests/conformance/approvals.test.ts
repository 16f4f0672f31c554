import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test';
import { expectError } from '../support/requests.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { test } from './node-test.ts';
import { openPaidService } from './paid-services.ts';
import { newestUpdate } from './wallet-steps.ts';
import { openWebhookWorld, type WebhookWorld } from './webhook-world.ts';
import type { ConformanceWorld } from './world.ts';

setDefaultTimeout(SLOW_TEST_MS);

let hooks: WebhookWorld;
let world: ConformanceWorld;
beforeAll(async () => {
  hooks = await openWebhookWorld('payment.finalized,payment.approval_requested');
  world = hooks.world;
});
afterAll(() => hooks.close());

const create = (body: object, by?: string) => world.post('/v2/node/create_client', body, by);
/** A client that pays, with a budget, whose payments above 100 sats wait for approval. */
const agent = (more: object = {}) =>
  create({
    scopes: ['send', 'read_payments', 'read_info'],
    budget: { amount: '5000', period: 'total' },
    approve_above: '100',
    ...more,
  });
const invoiceOf = async (amount: string, more: object = {}) =>
  (await world.post('/sandbox/invoice', { amount, ...more })).invoice as string;
/** Asks to pay, and returns the answer when the payment is on its way or waits. */
const ask = (credentials: string, invoice: string, headers: Record<string, string> = {}) =>
  world.call('POST', '/v2/node/pay_invoice', {
    body: { invoice, max_fee: '10' },
    credentials,
    headers: { Prefer: 'respond-async', ...headers },
  });
const decide = (what: 'approve' | 'reject', index: unknown, credentials?: string) =>
  world.call('POST', `/v2/node/${what}`, { body: { index }, ...(credentials && { credentials }) });
const paymentOf = (index: unknown) => world.get('/v2/node/payment', { index: String(index) });
/** A sidecar of Core Lightning looks for confirmations every 30 s. */
const ended = (index: unknown) =>
  world.get('/v2/node/wait_for_payment', { index: String(index), timeout_secs: '90' });
const spent = async (credentials: string) =>
  (await world.get('/v2/node/client_info', {}, credentials)).budget.spent as string;
const AWAITING = { status: 'pending', status_msg: 'awaiting approval' };
const NOT_APPROVED = { status: 'failed', status_msg: 'not approved' };

describe('a payment that would cost more than approve_above', () => {
  test('waits, shown to readers and with its budget reserved, and is paid when it is approved', async () => {
    const { client_credentials } = await agent();
    const invoice = await invoiceOf('500');
    const { status, body } = await ask(client_credentials, invoice);
    expect(status).toBe(202);
    expect(body).toMatchObject({ ...AWAITING, amount: '500', invoice, direction: 'outbound' });
    const { index } = body;
    expect(await paymentOf(index)).toMatchObject(AWAITING);
    await world.put('/v2/node/sync_payments');
    const { payments } = await world.get('/v2/node/list_payments', { filter: 'pending' });
    expect(payments).toContainEqual(expect.objectContaining({ index, ...AWAITING }));
    expect(await spent(client_credentials)).toBe('510');
    const approved = await decide('approve', index);
    expect([approved.status, approved.body.index]).toEqual([200, index]);
    expect(approved.body.status_msg).not.toBe(AWAITING.status_msg);
    const end = await ended(index);
    expect(end).toMatchObject({ status: 'completed', amount: '500', invoice });
    expect(await spent(client_credentials)).toBe(String(500 + Number(end.fees)));
  });

  test('keeps the request that asked waiting, and a repeat by its key, until it is decided', async () => {
    const { client_credentials } = await agent();
    const body = { invoice: await invoiceOf('200'), max_fee: '10' };
    const headers = { 'Idempotency-Key': 'waits' };
    const pay = (more: object = {}) =>
      world.call('POST', '/v2/node/pay_invoice', {
        body,
        credentials: client_credentials,
        headers: { ...headers, ...more },
      });
    const blocked = pay();
    await until(async () => (await spent(client_credentials)) === '210', 'the payment waits');
    const { status, body: waiting } = await pay({ Prefer: 'respond-async' });
    expect([status, waiting]).toEqual([202, expect.objectContaining(AWAITING)]);
    const other = await world.call('POST', '/v2/node/pay_invoice', {
      body,
      headers: { Prefer: 'respond-async' },
    });
    expect(other.body).toMatchObject({ index: waiting.index, ...AWAITING });
    await decide('approve', waiting.index);
    expect((await blocked).body).toMatchObject({ index: waiting.index, status: 'completed' });
    expect((await pay()).body).toMatchObject({ index: waiting.index, status: 'completed' });
  });

  test('is told at once to a request with any Prefer, and to its repeat when it is decided', async () => {
    const { client_credentials } = await agent();
    const body = { invoice: await invoiceOf('200'), max_fee: '10' };
    const pay = () =>
      world.call('POST', '/v2/node/pay_invoice', {
        body,
        credentials: client_credentials,
        headers: { 'Idempotency-Key': 'told at once', Prefer: 'wait=900' },
      });
    const first = await pay();
    expect([first.status, first.body]).toEqual([202, expect.objectContaining(AWAITING)]);
    const again = pay();
    await decide('approve', first.body.index);
    expect((await again).body).toMatchObject({ index: first.body.index, status: 'completed' });
  });

  test('ends as not approved when it is rejected: nothing is sent, and its budget is given back', async () => {
    const { client_credentials } = await agent();
    const before = (await world.get('/v2/node/node_info')).lightning_balance;
    const { index } = (await ask(client_credentials, await invoiceOf('500'))).body;
    const { body } = await decide('reject', index);
    expect(body).toMatchObject({ index, ...NOT_APPROVED });
    expect(body.finalized_at).toBeNumber();
    expect(await paymentOf(index)).toMatchObject(NOT_APPROVED);
    expect(await spent(client_credentials)).toBe('0');
    expect((await world.get('/v2/node/node_info')).lightning_balance).toEqual(before);
    for (const what of ['approve', 'reject'] as const) {
      expectError(await decide(what, index), 'refused', /does not wait.*failed \(not approved\)/);
    }
  });

  test('goes at once where amount and highest fee are not above it', async () => {
    const { client_credentials } = await agent();
    const paid = await world.post(
      '/v2/node/pay_invoice',
      { invoice: await invoiceOf('90'), max_fee: '10' },
      client_credentials,
    );
    expect(paid.status).toBe('completed');
    expect((await ask(client_credentials, await invoiceOf('91'))).body).toMatchObject(AWAITING);
  });

  test('ends as not approved after an hour by the clock of the node, also over a restart', async () => {
    const { client_credentials } = await agent();
    const { index } = (await ask(client_credentials, await invoiceOf('500'))).body;
    await world.post('/sandbox/clock', { advance_secs: 3300 });
    expect(await paymentOf(index)).toMatchObject(AWAITING);
    await world.restart();
    expect(await paymentOf(index)).toMatchObject(AWAITING);
    await world.post('/sandbox/clock', { advance_secs: 300 });
    expect(await paymentOf(index)).toMatchObject(NOT_APPROVED);
    expect(await spent(client_credentials)).toBe('0');
    expectError(await decide('approve', index), 'refused', /does not wait/);
  });

  test('is paid after a restart in which it waited', async () => {
    const { client_credentials } = await agent();
    const { index } = (await ask(client_credentials, await invoiceOf('300'))).body;
    await world.restart();
    await decide('approve', index);
    expect(await ended(index)).toMatchObject({ status: 'completed' });
  });

  test('ends as expired where its invoice has expired when it is approved', async () => {
    const { client_credentials } = await agent();
    const invoice = await invoiceOf('500', { expiration_secs: 60 });
    const { index } = (await ask(client_credentials, invoice)).body;
    await world.post('/sandbox/clock', { advance_secs: 61 });
    const { status, body } = await decide('approve', index);
    expect([status, body.status, body.status_msg]).toEqual([200, 'failed', 'expired']);
    expect(await spent(client_credentials)).toBe('0');
  });

  test('ends as failed with the words of a node that refuses it, and its budget is given back', async () => {
    const { client_credentials } = await agent({
      budget: { amount: '900000000', period: 'total' },
    });
    const { index } = (await ask(client_credentials, await invoiceOf('500000000'))).body;
    const { status, body } = await decide('approve', index);
    expect([status, body.status]).toEqual([200, 'failed']);
    expect(body.status_msg).toContain('over Lightning');
    expect(await paymentOf(index)).toEqual(body);
    expect(await spent(client_credentials)).toBe('0');
  });

  test('waits not where it is beyond the budget', async () => {
    const { client_credentials } = await agent({ budget: { amount: '300', period: 'total' } });
    expectError(await ask(client_credentials, await invoiceOf('500')), 'overBudget');
    expect((await ask(client_credentials, await invoiceOf('280'))).body).toMatchObject(AWAITING);
    expectError(await ask(client_credentials, await invoiceOf('280')), 'overBudget');
  });

  test('gives the paid web resource once it is approved, and frees the key when it is rejected', async () => {
    const { client_credentials } = await agent({ approve_above: '0' });
    const service = openPaidService(world, 'l402');
    try {
      const fetched = async (what: 'approve' | 'reject') => {
        const get = (headers: Record<string, string> = {}) =>
          world.call('POST', '/v2/node/fetch', {
            body: { url: `${service.url}/report`, max_cost: '100' },
            credentials: client_credentials,
            headers: { 'idempotency-key': 'a resource', ...headers },
          });
        const asked = get();
        const { index } = await until(async () => {
          await world.put('/v2/node/sync_payments');
          const { payments } = await world.get('/v2/node/list_payments', { filter: 'awaiting' });
          return payments.find((one: { amount: string }) => one.amount === '25');
        });
        const soon = await get({ Prefer: 'wait=0' });
        expectError(soon, 'timeout');
        expect(soon.body.data).toMatchObject({ sent: 'unknown', index });
        await decide(what, index);
        return asked;
      };
      const rejected = await fetched('reject');
      expectError(rejected, 'refused', /not approved/);
      expect(rejected.body.data.sent).toBe('no');
      expect((await fetched('approve')).body).toMatchObject({
        body: 'the resource /report',
        payment: { status: 'completed', amount: '25' },
      });
      expect(service.invoices).toHaveLength(2);
    } finally {
      service.stop();
    }
  });
});

describe('payment.approval_requested', () => {
  const notices = (index: unknown) =>
    hooks.received
      .map(({ headers, body }) => ({ id: headers.get('webhook-id'), ...JSON.parse(body) }))
      .filter((notice) => notice.index === index);

  test('is delivered once when the payment begins to wait, before payment.finalized', async () => {
    for (const what of ['approve', 'reject'] as const) {
      const { client_credentials } = await agent();
      const { index } = (await ask(client_credentials, await invoiceOf('500'))).body;
      await until(() => notices(index).length === 1, 'the request for approval has arrived');
      await hooks.settled();
      await world.restart();
      await decide(what, index);
      await until(() => notices(index).length === 2, 'the end is delivered');
      const [asked, end] = notices(index);
      expect(asked).toMatchObject({ type: 'payment.approval_requested', ...AWAITING });
      expect(Date.parse(asked.timestamp)).toBe(asked.updated_at);
      const status = what === 'approve' ? 'completed' : 'failed';
      expect(end).toMatchObject({ type: 'payment.finalized', status });
      expect(asked.id).not.toBe(end.id);
    }
  });

  test('is not sent for a payment that does not wait', async () => {
    const { client_credentials } = await agent();
    const { index } = (await ask(client_credentials, await invoiceOf('50'))).body;
    await until(() => notices(index).length === 1, 'the end is delivered');
    expect(notices(index)).toMatchObject([{ type: 'payment.finalized' }]);
  });

  test('what waits is listed by its filter, and told to streams of updates', async () => {
    const { client_credentials } = await agent();
    const start_index = await newestUpdate(world);
    const query = { ...(start_index && { start_index }), timeout_secs: '30' };
    const next = world.get('/v2/node/wait_for_next_payment', query);
    const { index } = (await ask(client_credentials, await invoiceOf('500'))).body;
    expect((await next).payment).toMatchObject({ index, ...AWAITING });
    const listed = async () => {
      await world.put('/v2/node/sync_payments');
      const { payments } = await world.get('/v2/node/list_payments', { filter: 'awaiting' });
      return payments.map((one: { index: string }) => one.index);
    };
    expect(await listed()).toContain(index);
    await decide('reject', index);
    expect(await listed()).not.toContain(index);
  });
});

describe('every rail', () => {
  const waitingOn = async (path: string, body: object) => {
    const { client_credentials } = await agent({ budget: { amount: '900000', period: 'total' } });
    const { body: payment, status } = await world.call('POST', path, {
      body,
      credentials: client_credentials,
      headers: { Prefer: 'respond-async' },
    });
    expect([status, payment]).toEqual([202, expect.objectContaining(AWAITING)]);
    return { payment, client_credentials };
  };

  test('an offer is paid with the invoice that was fetched when it was asked for', async () => {
    const { offer } = await world.post('/sandbox/offer', {});
    const { payment } = await waitingOn('/v2/node/pay_offer', { offer, amount: '400' });
    await decide('approve', payment.index);
    const end = await ended(payment.index);
    expect(end).toMatchObject({ status: 'completed', hash: payment.hash, amount: '400' });
  });

  test('an on-chain payment is signed only when it is approved, within its fee cap', async () => {
    const { address } = await world.post('/v2/node/get_next_unused_address', {}, world.bob);
    const before = (await world.get('/v2/node/node_info')).onchain_balance;
    const { payment, client_credentials } = await waitingOn('/v2/node/pay_onchain', {
      address,
      amount: '20000',
    });
    expect(payment).toMatchObject({ txid: null, address, rail: 'onchain' });
    expect((await world.get('/v2/node/node_info')).onchain_balance).toEqual(before);
    const reserved = Number(await spent(client_credentials));
    const { body } = await decide('approve', payment.index);
    expect(body).toMatchObject({ status: 'pending', status_msg: 'broadcasted', amount: '20000' });
    expect(Number(body.fees)).toBeLessThanOrEqual(reserved - 20_000);
    await world.post('/sandbox/blocks', { count: 6 });
    expect(await ended(payment.index)).toMatchObject({ status: 'completed', txid: body.txid });
    expect(await spent(client_credentials)).toBe(String(20_000 + Number(body.fees)));
  });

  test('an on-chain payment that the node refuses to sign is failed, and its budget is given back', async () => {
    const { address } = await world.post('/v2/node/get_next_unused_address', {}, world.bob);
    const wallet = await world.post('/sandbox/wallets', {});
    const owner = wallet.client_credentials;
    const client = await create(
      {
        scopes: ['send'],
        budget: { amount: '900000', period: 'total' },
        approve_above: '100',
      },
      owner,
    );
    const { body } = await world.call('POST', '/v2/node/pay_onchain', {
      body: { address, amount: '20000' },
      credentials: client.client_credentials,
      headers: { Prefer: 'respond-async' },
    });
    await world.post('/v2/node/pay_onchain', { address, send_all: true }, owner);
    const refused = await decide('approve', body.index, owner);
    expect(refused.body).toMatchObject({ status: 'failed', txid: null });
    expect(refused.body.status_msg).toContain('on-chain balance');
    expect(await spent(client.client_credentials)).toBe('0');
  });

  test('an on-chain payment that is rejected leaves coins and budget as they were', async () => {
    const { address } = await world.post('/v2/node/get_next_unused_address', {}, world.bob);
    const { payment, client_credentials } = await waitingOn('/v2/node/pay_onchain', {
      address,
      amount: '20000',
    });
    expect((await decide('reject', payment.index)).body).toMatchObject(NOT_APPROVED);
    expect(await spent(client_credentials)).toBe('0');
  });

  test('a payment without an invoice is sent with the preimage that was drawn for it', async () => {
    const { node_pk } = await world.get('/v2/node/node_info', {}, world.bob);
    const { payment } = await waitingOn('/v2/node/pay_spontaneous', { node_pk, amount: '300' });
    await decide('approve', payment.index);
    expect(await ended(payment.index)).toMatchObject({ status: 'completed', hash: payment.hash });
  });
});

describe('who decides', () => {
  test('needs approve_payments, which the scope full holds', async () => {
    const { client_credentials } = await agent();
    const { index } = (await ask(client_credentials, await invoiceOf('300'))).body;
    const reader = (await create({ scopes: ['read_payments', 'send'] })).client_credentials;
    expectError(await decide('approve', index, reader), 'forbidden');
    expectError(await decide('reject', index, reader), 'forbidden');
    const approver = await create({ scopes: [], permissions: ['approve_payments'] });
    const full = await create({ scopes: ['full'] });
    expect(full.effective_permissions).toContain('approve_payments');
    // The approver may not pay: what it approves is paid as the client asked.
    expect((await decide('approve', index, approver.client_credentials)).status).toBe(200);
    expect(await ended(index)).toMatchObject({ status: 'completed' });
    const next = (await ask(client_credentials, await invoiceOf('300'))).body.index;
    const rejected = await decide('reject', next, full.client_credentials);
    expect(rejected.body).toMatchObject(NOT_APPROVED);
  });

  test('is no client whose own payments wait, nor one that it has made', async () => {
    const boss = await create({ scopes: ['full'], approve_above: '100' });
    const own = (await ask(boss.client_credentials, await invoiceOf('300'))).body.index;
    expectError(
      await decide('approve', own, boss.client_credentials),
      'forbidden',
      /wait for approval/,
    );
    const child = await create({ scopes: ['full'] }, boss.client_credentials);
    expect(
      (await world.get('/v2/node/client_info', {}, child.client_credentials)).approve_above,
    ).toBe('100');
    expectError(await decide('approve', own, child.client_credentials), 'forbidden');
    const ofChild = (await ask(child.client_credentials, await invoiceOf('300'))).body.index;
    expectError(await decide('reject', ofChild, boss.client_credentials), 'forbidden');
    expect(await paymentOf(own)).toMatchObject(AWAITING);
    expect((await decide('approve', own)).status).toBe(200);
    expect((await decide('reject', ofChild)).status).toBe(200);
  });

  test('is not the client that asked, also after its limit was taken away', async () => {
    const { client_pk, client_credentials } = await create({
      scopes: ['full'],
      approve_above: '0',
    });
    const { index } = (await ask(client_credentials, await invoiceOf('1'))).body;
    await world.put('/v2/node/update_client', { client_pk, clear_approve_above: true });
    expectError(await decide('approve', index, client_credentials), 'forbidden', /themselves/);
    expect((await decide('approve', index)).status).toBe(200);
  });

  test('is told who asked, the highest fee, who is paid and until when it waits', async () => {
    const { client_credentials, client_pk } = await agent({
      label: 'Shopper',
      budget: { amount: '900000', period: 'total' },
    });
    const { node_pk } = await world.get('/v2/node/node_info', {}, world.bob);
    const asked = async (path: string, body: object) =>
      (
        await world.call('POST', path, {
          body: { max_fee: '7', ...body },
          credentials: client_credentials,
          headers: { Prefer: 'respond-async' },
        })
      ).body;
    const terms = (index: string, credentials?: string) =>
      world.call('GET', '/v2/node/approval', { query: { index }, credentials });
    const made = await world.post('/v2/node/create_invoice', { amount: '300' }, world.bob);
    const byInvoice = await asked('/v2/node/pay_invoice', { invoice: made.invoice });
    const { body } = await terms(byInvoice.index);
    expect(body).toMatchObject({
      ...{ client_pk, client_label: 'Shopper' },
      ...{ max_fee: '7', node_pk },
    });
    // The hour begins when the payment begins to wait, which may be some milliseconds after it was created.
    const waitsMs = body.expires_at - byInvoice.created_at;
    expect(waitsMs).toBeGreaterThanOrEqual(3_600_000);
    expect(waitsMs).toBeLessThan(3_660_000);
    const { address } = await world.post('/v2/node/get_next_unused_address', {}, world.bob);
    const byChain = await asked('/v2/node/pay_onchain', {
      ...{ address, amount: '20000', max_fee: '20000' },
    });
    const onChain = (await terms(byChain.index)).body;
    expect(onChain.node_pk).toBeNull();
    expect(Number(onChain.max_fee)).toBeLessThanOrEqual(20_000);
    expectError(await terms(byInvoice.index, client_credentials), 'forbidden');
    for (const { index } of [byInvoice, byChain]) {
      await decide('reject', index);
      expectError(await terms(index), 'refused', /does not wait/);
    }
  });

  test('decides on payments that are there, and wait', async () => {
    const index = `0000001764000000000-ln_${'ab'.repeat(32)}`;
    expectError(await decide('approve', index), 'notFound');
    const invoice = await invoiceOf('20');
    const paid = await world.post('/v2/node/pay_invoice', { invoice });
    const late = await decide('approve', paid.index);
    expectError(late, 'refused', /it is completed\.$/);
    expect(late.body.data).toMatchObject({ sent: 'yes', index: paid.index });
    expectError(await decide('reject', paid.index), 'refused', /it is completed\.$/);
  });
});

describe('approve_above of a client', () => {
  test('is shown, changed and removed by the owner', async () => {
    const { client_pk, client_credentials } = await agent({ approve_above: '12.5' });
    const info = () => world.get('/v2/node/client_info', {}, client_credentials);
    expect(await info()).toMatchObject({ approve_above: '12.5' });
    await world.put('/v2/node/update_client', { client_pk, approve_above: '7' });
    await world.restart();
    expect(await info()).toMatchObject({ approve_above: '7' });
    const both = { client_pk, approve_above: '7', clear_approve_above: true };
    expectError(await world.call('PUT', '/v2/node/update_client', { body: both }), 'rejected');
    await world.put('/v2/node/update_client', { client_pk, clear_approve_above: true });
    expect(await info()).toMatchObject({ approve_above: null });
  });

  test('is lifted neither by the client itself nor for one that it makes', async () => {
    const { client_pk, client_credentials } = await create({
      scopes: ['full'],
      approve_above: '50',
    });
    const update = (body: object) =>
      world.call('PUT', '/v2/node/update_client', { body, credentials: client_credentials });
    expectError(await update({ client_pk, approve_above: '51' }), 'forbidden');
    expectError(await update({ client_pk, clear_approve_above: true }), 'forbidden');
    expect((await update({ client_pk, approve_above: '40' })).status).toBe(200);
    const higher = { scopes: ['send'], approve_above: '41' };
    const made = await world.call('POST', '/v2/node/create_client', {
      body: higher,
      credentials: client_credentials,
    });
    expectError(made, 'forbidden');
    const child = await create({ scopes: ['send'], approve_above: '30' }, client_credentials);
    expectError(await update({ client_pk: child.client_pk, approve_above: '41' }), 'forbidden');
    const free = await create({ scopes: ['send'] });
    expectError(await update({ client_pk: free.client_pk, label: 'mine' }), 'forbidden');
    // What the parent may is what its children may.
    await world.put('/v2/node/update_client', { client_pk, approve_above: '10' });
    const { clients } = await world.get('/v2/node/list_clients');
    expect(clients[child.client_pk].approve_above).toBe('10');
  });

  test('ends what waits when the client, its parent or its permission goes', async () => {
    const parent = await create({ scopes: ['full'] });
    const child = await create({ scopes: ['send'], approve_above: '0' }, parent.client_credentials);
    const one = (await ask(child.client_credentials, await invoiceOf('20'))).body.index;
    await world.post('/v2/node/revoke_client', { client_pk: parent.client_pk });
    expect(await paymentOf(one)).toMatchObject(NOT_APPROVED);
    const { client_pk, client_credentials } = await agent();
    const two = (await ask(client_credentials, await invoiceOf('300'))).body.index;
    await world.put('/v2/node/update_client', { client_pk, scopes: ['read_payments'] });
    expect(await paymentOf(two)).toMatchObject(NOT_APPROVED);
    expectError(await decide('approve', two), 'refused');
  });

  test('ends what waits as soon as the client has expired', async () => {
    const { now } = await world.post('/sandbox/clock', { advance_secs: 0 });
    const { client_credentials } = await agent({ expires_at: now + 600_000 });
    const { index } = (await ask(client_credentials, await invoiceOf('300'))).body;
    expect(await paymentOf(index)).toMatchObject(AWAITING);
    // The last second passes by itself.
    await world.post('/sandbox/clock', { advance_secs: 599 });
    await until(async () => (await paymentOf(index)).status === 'failed', 'it is over');
    expect(await paymentOf(index)).toMatchObject(NOT_APPROVED);
  });

  test('bounds what else costs fees: that is left to the owner', async () => {
    const { client_credentials } = await create({ scopes: ['full'], approve_above: '10' });
    const open = await world.call('POST', '/v2/node/open_channel', {
      body: { value: '50000' },
      credentials: client_credentials,
    });
    expectError(open, 'forbidden', /ask the owner/);
    expect(open.body.data).toMatchObject({ approve_above: '10', sent: 'no' });
    const { address } = await world.post('/v2/node/get_next_unused_address', {}, world.bob);
    const { index } = await world.post('/v2/node/pay_onchain', { address, amount: '20000' });
    // Many small ones would carry a payment over what was approved.
    const bump = await world.call('POST', '/v2/node/bump_fee', {
      body: { index },
      credentials: (await create({ scopes: ['full'], approve_above: '1000000' }))
        .client_credentials,
    });
    expectError(bump, 'forbidden', /ask the owner/);
    expect(bump.body.data).toMatchObject({ approve_above: '1000000', sent: 'no' });
    const [channel] = (await world.get('/v2/node/list_channels')).channels;
    const close = await world.call('POST', '/v2/node/close_channel', {
      body: { channel_id: channel.channel_id },
      credentials: client_credentials,
    });
    expectError(close, 'forbidden', /ask the owner/);
  });

  test('lets the client open a channel of which the fee is not above it', async () => {
    const rich = await create({ scopes: ['full'], approve_above: '100000' });
    const opened = await world.call('POST', '/v2/node/open_channel', {
      body: { value: '50000' },
      credentials: rich.client_credentials,
    });
    expect(opened.status).toBe(200);
  });
});
