import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test';
import type { Route } from '../../src/http/route.ts';
import { ROUTES } from '../../src/http/routes/index.ts';
import { PERMISSIONS } from '../../src/model/clients/permissions.ts';
import { type Body, expectError } from '../support/requests.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { routeAnswered } from './called-routes.ts';
import { sandboxTest, test } from './node-test.ts';
import { newestUpdate, UNKNOWN_INDEX, walletSteps } from './wallet-steps.ts';
import { type ConformanceWorld, openConformanceWorld } from './world.ts';

setDefaultTimeout(SLOW_TEST_MS);

let world: ConformanceWorld;
/** Sees only what it made. It may do everything else. */
let till: string;
/** What the owner has made. */
let sold: Body;
let sent: Body;
beforeAll(async () => {
  world = await openConformanceWorld();
  till = (await client({ scopes: ['full'], own: true })).client_credentials;
  sold = await receive('4321');
  const { invoice } = await world.post('/v2/node/create_invoice', { amount: '77' }, world.bob);
  sent = await world.post('/v2/node/pay_invoice', { invoice, personal_note: 'secret supplier' });
  await arrived(({ index, status }) => index === sold.index && status === 'completed');
});
afterAll(() => world.close());

const { arrived, receive } = walletSteps(() => world);
const client = (body: object, by?: string) => world.post('/v2/node/create_client', body, by);
const mine = (amount = '5', by = till) => world.post('/v2/node/create_invoice', { amount }, by);
const paid = ({ invoice }: Body) => world.post('/v2/node/pay_invoice', { invoice }, world.bob);
const list = async (query: Readonly<Record<string, string>> = {}, by = till): Promise<Body[]> => {
  await world.put('/v2/node/sync_payments', {}, by);
  return (await world.get('/v2/node/list_payments', { filter: 'all', ...query }, by)).payments;
};
const indexesOf = (payments: readonly Body[]) => payments.map(({ index }) => index);
const calling = (route: Route, input: object) =>
  world.call(route.method.toUpperCase(), route.path, {
    credentials: till,
    headers: { 'idempotency-key': `own ${route.path} ${JSON.stringify(input)}` },
    ...(route.hasBody ? { body: input } : { query: input as Record<string, string> }),
  });

/** The rest of what a request by index needs. */
const BESIDE: Readonly<Record<string, object>> = {
  '/v2/node/settle_invoice': { preimage: '01'.repeat(32) },
  '/v2/node/update_personal_note': { personal_note: 'mine now' },
};
const namesIndex = (route: Route) =>
  [route.body, route.query].some((schema) => schema && 'index' in Object(Object(schema).shape)) ||
  route.path in BESIDE;

describe('a client that sees only what it made learns of another payment', () => {
  for (const route of ROUTES.filter(namesIndex)) {
    test(`nothing by its index, from ${route.path}`, async () => {
      const input = (index: string) => ({ index, ...BESIDE[route.path] });
      const answers: Body[] = [];
      for (const index of [sold.index, sent.index, UNKNOWN_INDEX]) {
        const answer = await calling(route, input(index));
        expectError(answer, 'notFound');
        answers.push(answer.body);
      }
      expect(answers[0]).toEqual(answers[2]);
      expect(answers[1]).toEqual(answers[2]);
    });
  }

  for (const route of ROUTES.filter(({ ofWallet }) => ofWallet)) {
    test(`nothing from ${route.method} ${route.path}, which is of the whole wallet`, async () => {
      const { example } = route;
      const answer = await calling(route, (example.body ?? example.query ?? {}) as object);
      expectError(answer, 'forbidden', /only payments that they made/);
      expect(answer.body.data).toEqual({ own: true });
    });
  }

  test('nothing elsewhere: every other route is looked at here, or tells of no stored payment', () => {
    const tellsNothing = [
      ...['create_invoice', 'create_offer', 'create_paywall', 'verify_paywall', 'withdraw_lnurl'],
      ...['buy_with_payment_app', 'analyze', 'human_bitcoin_address', 'rate'],
      ...['open_channel', 'close_channel', 'client_info', 'create_client'],
    ];
    const lookedAt = [
      ...['sync_payments', 'list_payments', 'updated_payments', 'wait_for_next_payment', 'events'],
      ...[
        'pay',
        'pay_invoice',
        'pay_offer',
        'pay_lnurl',
        'pay_onchain',
        'pay_spontaneous',
        'fetch',
      ],
      ...['list_clients', 'update_client', 'revoke_client'],
    ];
    const isOpen = ({ access }: Route) =>
      typeof access !== 'string' || [...PERMISSIONS, 'authenticated'].includes(access);
    const others = ROUTES.filter((one) => isOpen(one) && !one.ofWallet && !namesIndex(one));
    const names = others.map(({ path }) => path.slice(path.lastIndexOf('/') + 1));
    expect([...new Set(names)].toSorted()).toEqual([...tellsNothing, ...lookedAt].toSorted());
  });

  test('nothing from lists, searches and counts', async () => {
    await world.post('/v2/node/clear_payments');
    const counts = await world.put('/v2/node/sync_payments', {}, till);
    expect(counts).toEqual({ num_new: 0, num_updated: 0 });
    const queries = [
      ...[{}, { text: 'secret' }, { text: '4321' }, { direction: 'outbound' }, { order: 'asc' }],
      ...[{ after: sent.index }, { id_part: sent.hash.slice(0, 8) }, { limit: '1' }],
    ];
    for (const query of queries) {
      const page = await world.get('/v2/node/list_payments', { filter: 'all', ...query }, till);
      expect({ query, page }).toEqual({ query, page: { payments: [], next_index: null } });
    }
    // The owner's cache is whole, although the till has filled it.
    const { payments } = await world.get('/v2/node/list_payments', { filter: 'all' });
    expect(indexesOf(payments)).toContain(sold.index);
    expect(await world.get('/v2/node/updated_payments', {}, till)).toEqual({
      payments: [],
      updated_index: null,
    });
  });

  test('nothing from waits and streams, not even that one was made', async () => {
    const start_index = (await newestUpdate(world)) as string;
    const query = { start_index, timeout_secs: '2' };
    const waiting = world.call('GET', '/v2/node/wait_for_next_payment', {
      query,
      credentials: till,
    });
    const stream = await openEvents(till);
    await receive('6');
    expectError(await waiting, 'timeout');
    const before = stream.told();
    const own = await mine();
    await paid(own);
    await until(() => stream.told().includes('"completed"'), 'the own payment is told');
    expect(before).not.toMatch(/data:|[1-9]\d{12}/);
    expect(
      stream
        .told()
        .match(/"index":"[^"]+"/g)
        ?.map(String),
    ).toEqual(Array(stream.told().split('data:').length - 1).fill(`"index":"${own.index}"`));
    stream.close();
    const from = { credentials: till, query: {} };
    const refused = await world.call('GET', '/v2/node/wait_for_next_payment', from);
    expectError(refused, 'rejected', /start_index/);
  });

  test('no more than that it is paid, by the invoice itself', async () => {
    const { invoice } = await world.post('/v2/node/create_invoice', { amount: '8' }, world.bob);
    await world.post('/v2/node/pay_invoice', { invoice });
    for (const path of ['/v2/node/pay_invoice', '/v2/node/pay']) {
      const body = path.endsWith('pay') ? { payable: invoice } : { invoice };
      const answer = await world.call('POST', path, { body, credentials: till });
      expectError(answer, 'refused', /Another client/);
      expect(answer.body.data).toEqual({ status: 'completed' });
    }
  });

  test('nothing of what other clients have spent', async () => {
    const other = await client({ scopes: ['send'], budget: { amount: '900', period: 'day' } });
    const { client_pk } = await world.get('/v2/node/client_info', {}, till);
    const child = await client({ scopes: ['receive'] }, till);
    const { clients } = await world.get('/v2/node/list_clients', {}, till);
    expect(Object.keys(clients).toSorted()).toEqual([client_pk, child.client_pk].toSorted());
    const at = { credentials: till, body: { client_pk: other.client_pk } };
    expectError(await world.call('PUT', '/v2/node/update_client', at), 'notFound');
    expectError(await world.call('POST', '/v2/node/revoke_client', at), 'notFound');
  });

  test('nothing of the balance: not by send_all, and not by what a fee is estimated for', async () => {
    const { address } = await world.post('/v2/node/get_next_unused_address', {});
    const sendAll = await world.call('POST', '/v2/node/pay_onchain', {
      body: { address, send_all: true },
      credentials: till,
    });
    expectError(sendAll, 'forbidden', /only payments that they made/);
    expect(sendAll.body.data).toMatchObject({ sent: 'no' });
    const query = { payment_string: `bitcoin:${address}?amount=0.0001` };
    const { payables } = await world.get('/v2/node/analyze', query, till);
    expect(payables).toMatchObject([{ kind: 'onchain', amount: '10000', fee_estimate: null }]);
  });

  test('nothing from endpoints of webhooks that it added before', async () => {
    const endpoint = { url: 'http://127.0.0.1:9/hook', lease_secs: 3600 };
    const endpoints = async () =>
      (await world.get('/v2/webhooks/endpoints')).endpoints.map(({ id }: Body) => id);
    const narrowings = [
      (client_pk: string) => world.put('/v2/node/update_client', { client_pk, own: true }),
      (client_pk: string) =>
        world.put('/v2/node/update_client', { client_pk, scopes: ['read_payments'] }),
      (client_pk: string) => world.post('/v2/node/revoke_client', { client_pk }),
    ];
    for (const narrow of narrowings) {
      const { client_pk, client_credentials } = await client({ scopes: ['full'] });
      const child = await client({ scopes: ['full'] }, client_credentials);
      const added = [client_credentials, child.client_credentials].map((by) =>
        world.post('/v2/webhooks/endpoints', endpoint, by),
      );
      const ids = (await Promise.all(added)).map(({ id }) => id);
      const others = await world.post('/v2/webhooks/endpoints', endpoint);
      expect(await endpoints()).toEqual(expect.arrayContaining([...ids, others.id]));
      await narrow(client_pk);
      const left = await endpoints();
      expect(ids.filter((id) => left.includes(id))).toEqual([]);
      expect(left).toContain(others.id);
      await world.post('/v2/webhooks/endpoints/delete', { id: others.id });
    }
  });

  test('nothing by refund_of, while it refunds what it made', async () => {
    const bill = async () =>
      (await world.post('/v2/node/create_invoice', { amount: '2' }, world.bob)).invoice;
    const refund = async (refund_of: string) =>
      world.call('POST', '/v2/node/pay_invoice', {
        body: { invoice: await bill(), refund_of },
        credentials: till,
      });
    const [others, unknown] = [await refund(sold.index), await refund(UNKNOWN_INDEX)];
    expectError(others, 'notFound');
    expect(others.body).toEqual(unknown.body);
    const own = await mine();
    await paid(own);
    await world.get('/v2/node/wait_for_payment', { index: own.index }, till);
    expect((await refund(own.index)).body).toMatchObject({ refund_of: own.index });
    const { refunded } = await world.get('/v2/node/payment', { index: own.index }, till);
    expect(refunded).toBe('2');
  });
});

describe('a client that sees only what it made', () => {
  test('sees its invoice: by index, in lists with its number, in waits, and cancels it', async () => {
    const made = await world.post(
      '/v2/node/create_invoice',
      { amount: '9', description: 'Tea', external_id: 'bon 7' },
      till,
    );
    const { index } = made;
    expect(await world.get('/v2/node/payment', { index }, till)).toMatchObject({ index });
    const wait = world.get('/v2/node/wait_for_payment', { index, timeout_secs: '60' }, till);
    await paid(made);
    expect(await wait).toMatchObject({ status: 'completed', amount: '9' });
    for (const query of [{ external_id: 'bon 7' }, { text: 'tea' }]) {
      expect(indexesOf(await list(query))).toEqual([index]);
    }
    const { payments, updated_index } = await world.get('/v2/node/updated_payments', {}, till);
    expect(indexesOf(payments)).toContain(index);
    const page = { start_index: updated_index, timeout_secs: '60' };
    const next = world.get('/v2/node/wait_for_next_payment', page, till);
    const open = await mine('3');
    expect(await next).toMatchObject({ payment: { index: open.index } });
    await world.post('/v2/node/cancel_payment', { index: open.index }, till);
    const canceled = await world.get('/v2/node/payment', { index: open.index }, till);
    expect(canceled).toMatchObject({ status: 'failed' });
    expect(indexesOf(await list())).toEqual(expect.arrayContaining([index, open.index]));
  });

  test('pages through its own, of which others do not take the place', async () => {
    const fresh = (await client({ scopes: ['read_payments', 'receive'], own: true }))
      .client_credentials;
    const wanted: string[] = [];
    for (let at = 0; at < 3; at++) {
      wanted.unshift((await mine('2', fresh)).index);
      await world.post('/v2/node/create_invoice', { amount: '2' });
    }
    await world.put('/v2/node/sync_payments', {}, fresh);
    const found: string[] = [];
    for (let after: string | null = ''; after !== null; ) {
      const query = { filter: 'all', limit: '1', ...(after && { after }) };
      const page: Body = await world.get('/v2/node/list_payments', query, fresh);
      found.push(...indexesOf(page.payments));
      after = page.next_index;
    }
    // Invoices of one second may have any order of ids, on nodes that tell whole seconds.
    expect(found).toEqual(wanted.toSorted().toReversed());
    const updates: string[] = [];
    for (let start: string | null = ''; start !== null; ) {
      const query = { limit: '2', ...(start && { start_index: start }) };
      const page: Body = await world.get('/v2/node/updated_payments', query, fresh);
      updates.push(...indexesOf(page.payments));
      start = page.updated_index;
    }
    expect([...new Set(updates)].toSorted()).toEqual(wanted.toSorted());
  });

  test('sees what it paid, and what failed', async () => {
    const bill = await world.post('/v2/node/create_invoice', { amount: '11' }, world.bob);
    const done = await world.post('/v2/node/pay_invoice', { invoice: bill.invoice }, till);
    expect(done).toMatchObject({ status: 'completed' });
    expect(await world.get('/v2/node/payment', { index: done.index }, till)).toEqual(done);
    expect(indexesOf(await list({ direction: 'outbound' }))).toContain(done.index);
  });

  test('sees what arrives on an offer of its own, and on none of another', async () => {
    const made = await world.post('/v2/node/create_offer', { description: 'Till tips' }, till);
    const other = await world.post('/v2/node/create_offer', { description: 'Tips of all' });
    const pay = (offer: string) =>
      world.post('/v2/node/pay_offer', { offer, amount: '4' }, world.bob);
    const { hash } = await pay(made.offer);
    const hidden = await pay(other.offer);
    const receipt = await arrived((one) => one.hash === hash && one.status === 'completed');
    const foreign = await arrived((one) => one.hash === hidden.hash && one.status === 'completed');
    const shown = await world.get('/v2/node/payment', { index: receipt.index }, till);
    expect(shown).toMatchObject({ hash });
    const own = indexesOf(await list());
    expect(own).toContain(receipt.index);
    expect(own).not.toContain(foreign.index);
    const query = { index: foreign.index };
    const answer = await world.call('GET', '/v2/node/payment', { query, credentials: till });
    expectError(answer, 'notFound');
  });

  test('gives no more than that to those that it makes, and does not free itself', async () => {
    const { client_pk } = await world.get('/v2/node/client_info', {}, till);
    const wider = { credentials: till, body: { scopes: ['receive'], own: false } };
    expectError(
      await world.call('POST', '/v2/node/create_client', wider),
      'forbidden',
      /only what/,
    );
    const freed = { credentials: till, body: { client_pk, own: false } };
    expectError(await world.call('PUT', '/v2/node/update_client', freed), 'forbidden');
    const child = await client({ scopes: ['receive'] }, till);
    const { clients } = await world.get('/v2/node/list_clients');
    expect(clients[child.client_pk]).toMatchObject({ own: true });
  });

  test('is made one, and freed, by the owner at once, over a restart too', async () => {
    const made = await client({ scopes: ['read_payments', 'read_info', 'manage_clients'] });
    const { client_pk, client_credentials: by } = made;
    const child = await client({ scopes: ['read_payments'] }, by);
    const query = { index: sold.index };
    const seen = async (credentials = by) =>
      (await world.call('GET', '/v2/node/payment', { query, credentials })).status;
    const bound = (own: boolean) => world.put('/v2/node/update_client', { client_pk, own });
    expect(await seen()).toBe(200);
    const stream = await openEvents(by);
    await bound(true);
    await until(() => stream.told().includes('event: end'), 'the stream has ended');
    expect([await seen(), await seen(child.client_credentials)]).toEqual([404, 404]);
    await world.restart();
    expect([await seen(), await seen(child.client_credentials)]).toEqual([404, 404]);
    await bound(false);
    // What a child was narrowed to, it keeps.
    expect([await seen(), await seen(child.client_credentials)]).toEqual([200, 404]);
  });

  sandboxTest('has tools for agents without the balance', async () => {
    const tools = async (credentials?: string) => {
      const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
      const headers = { accept: 'application/json, text/event-stream' };
      const answer = await world.call('POST', '/mcp', { body, headers, credentials });
      return answer.body.result.tools.map(({ name }: Body) => name);
    };
    expect(await tools()).toContain('node_info');
    expect(await tools(till)).toContain('create_invoice');
    expect(await tools(till)).not.toContain('node_info');
  });
});

async function openEvents(credentials: string) {
  const gone = new AbortController();
  const headers = { authorization: `Bearer ${credentials}` };
  const response = await fetch(`${world.baseUrl}/v2/node/events`, { headers, signal: gone.signal });
  routeAnswered('GET', '/v2/node/events');
  let text = '';
  const read = async () => {
    for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? [])
      text += part;
  };
  read().catch(() => undefined);
  await until(() => text.includes('\n\n'), 'the stream is open');
  return { told: () => text, close: () => gone.abort() };
}

describe('list_payments of one client (docs/decisions.md 202)', () => {
  const scopes = ['read_payments', 'receive', 'send'];
  /** The indexes of a list, for the owner unless told otherwise. */
  const listed = async (
    query: Readonly<Record<string, string>>,
    by?: string,
  ): Promise<string[]> => {
    await world.put('/v2/node/sync_payments', {}, by);
    const { payments } = await world.get('/v2/node/list_payments', { filter: 'all', ...query }, by);
    return indexesOf(payments);
  };

  test('has what it made, page by page, for the owner and itself', async () => {
    const one = await client({ scopes });
    const by = one.client_credentials;
    const bill = await world.post('/v2/node/create_invoice', { amount: '12' }, world.bob);
    const invoices = [(await mine('3', by)).index, (await mine('4', by)).index];
    await world.post('/v2/node/create_invoice', { amount: '5' });
    const paying = (await world.post('/v2/node/pay_invoice', { invoice: bill.invoice }, by)).index;
    // What was made at one moment may have any order of ids.
    const wanted = [...invoices, paying].toSorted();
    for (const asks of [undefined, by]) {
      const query = { client: one.client_pk, order: 'asc' };
      expect(await listed(query, asks)).toEqual(wanted);
      const page = { filter: 'all', ...query, limit: '1' };
      const { next_index } = await world.get('/v2/node/list_payments', page, asks);
      expect(next_index).toBe(wanted[0]);
      expect(await listed({ ...query, after: next_index }, asks)).toEqual(wanted.slice(1));
      expect(await listed({ ...query, direction: 'outbound' }, asks)).toEqual([paying]);
    }
    expect(await listed({}, by)).toEqual(expect.arrayContaining([sold.index]));
  });

  test('is empty for a client that is not told of it: who sees only its own, and who made it not', async () => {
    const maker = await client({ scopes: [...scopes, 'manage_clients'] });
    const child = await client({ scopes }, maker.client_credentials);
    const made = await mine('6', child.client_credentials);
    const query = { client: child.client_pk };
    const told = [
      undefined,
      maker.client_credentials,
      (await client({ scopes: ['read_payments', 'manage_clients'] })).client_credentials,
    ];
    for (const by of told) {
      expect(await listed(query, by)).toEqual([made.index]);
    }
    const own = await client({ scopes: ['full'], own: true });
    const below = await client({ scopes }, own.client_credentials);
    await mine('6', below.client_credentials);
    expect(await listed({ client: below.client_pk }, own.client_credentials)).toEqual([]);
    for (const by of [till, (await client({ scopes })).client_credentials]) {
      expect(await listed(query, by)).toEqual([]);
      expect(await listed({ client: '00'.repeat(32) }, by)).toEqual([]);
    }
    const narrowed = { client_pk: maker.client_pk, scopes };
    await world.put('/v2/node/update_client', narrowed);
    expect(await listed(query, maker.client_credentials)).toEqual([made.index]);
  });
});
