import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CALLS } from '../../src/phoenixd/calls.ts';
import { type DevSidecar, startDevSidecar } from '../support/dev-sidecar.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { codeIn, rowsOf } from '../support/pages.ts';
import { freePorts } from '../support/ports.ts';
import { throwing } from '../support/rejection.ts';
import { type Body, sendOk } from '../support/requests.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

const ADDRESS = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';
const SHOP = { scopes: ['read_info', 'read_payments', 'receive', 'send'] };

type Fields = Readonly<Record<string, string>>;
interface Answered {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
  /** The JSON of the answer. */
  readonly body: Body;
}

let folder: string;
let sidecar: DevSidecar;
let base: string;
beforeAll(async () => {
  folder = temporaryFolder('phoenixd');
  [sidecar, base] = await start('data');
});
/** What was started, to be ended after a failure too. */
const running: DevSidecar[] = [];
afterAll(async () => {
  for (const one of running) await one.kill();
  removeFolder(folder);
});

async function start(
  data: string,
  [port = 0, own = 0] = freePorts(2),
  limits: { readonly openFiles?: number } = {},
): Promise<[DevSidecar, string, number[]]> {
  const env = { SERVICE_PHOENIXD_LISTEN_ADDR: `127.0.0.1:${own}` };
  const started = await startDevSidecar({ dataDir: join(folder, data), port, env, ...limits });
  running.push(started);
  return [started, `http://127.0.0.1:${own}`, [port, own]];
}

const owner = (path: string, body: object = {}, at = sidecar): Promise<Body> =>
  sendOk(at.baseUrl, 'POST', path, { body });
const clientWith = async (body: object, at = sidecar): Promise<Body> =>
  owner('/v2/node/create_client', body, at);
const basic = (password: string, user = ''): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
const billOf = (amount: string, behavior = 'settle', at = sidecar): Promise<Body> =>
  owner('/sandbox/invoice', { amount, behavior }, at);

/** Calls as a client of phoenixd does. */
function asClient({ client_credentials }: Body, url = base) {
  const call = async (method: string, path: string, form?: Fields): Promise<Answered> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: basic(client_credentials) },
      body: form ? new URLSearchParams(form) : null,
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type') === 'application/json';
    const { status, headers } = response;
    return { status, headers, text, body: isJson ? JSON.parse(text) : undefined };
  };
  return {
    get: (path: string) => call('GET', path),
    post: (path: string, form: Fields = {}) => call('POST', path, form),
  };
}

/** Payments that have left the wallet, with this hash or to anybody. */
async function sent(query: Fields, at = sidecar): Promise<Body[]> {
  await sendOk(at.baseUrl, 'PUT', '/v2/node/sync_payments', { body: {} });
  const wanted = { filter: 'completed', direction: 'outbound', ...query };
  return (await sendOk(at.baseUrl, 'GET', '/v2/node/list_payments', { query: wanted })).payments;
}

describe('who calls', () => {
  const asked = (headers: Fields, init: RequestInit = {}, path = '/getinfo') =>
    fetch(`${base}${path}`, { ...init, headers });

  test('is one client by its credentials as the password, whatever the user name; never the owner', async () => {
    const { client_credentials: credentials } = await clientWith(SHOP);
    for (const user of ['', 'phoenix', 'a b']) {
      expect((await asked({ authorization: basic(credentials, user) })).status).toBe(200);
    }
    const cookie = readFileSync(join(folder, 'data', 'cookie'), 'utf8').trim();
    const strangers = ['', cookie, 'hunter2', `${credentials}x`];
    for (const headers of [
      ...strangers.map((password) => ({ authorization: basic(password) })),
      { authorization: `Bearer ${credentials}` },
      { authorization: 'Basic %%%' },
      {},
    ]) {
      const answer = await asked(headers as Fields);
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([
        401,
        'Basic realm="phoenixd"',
      ]);
    }
  });

  test('may not be a page of another site: Host and Origin are guarded, and no CORS header is sent', async () => {
    const authorization = basic((await clientWith(SHOP)).client_credentials);
    const guards: Fields[] = [
      { host: 'evil.example' },
      { origin: 'https://evil.example' },
      { 'sec-fetch-site': 'cross-site' },
    ];
    for (const guarded of guards) {
      for (const path of ['/getinfo', '/websocket']) {
        expect((await asked({ authorization, ...guarded }, {}, path)).status).toBe(403);
      }
    }
    const { headers } = await asked({ authorization });
    expect(headers.get('access-control-allow-origin')).toBeNull();
    expect(headers.get('cache-control')).toBe('no-store');
  });

  test('sends forms, each field once, of at most 64 KiB', async () => {
    const { client_credentials: credentials } = await clientWith(SHOP);
    const authorization = basic(credentials);
    const body = async (text: string, type = 'application/x-www-form-urlencoded') => {
      const init = { method: 'POST', body: text };
      const answer = await asked({ authorization, 'content-type': type }, init, '/createinvoice');
      return answer.status;
    };
    expect(await body('amountSat=5&description=tea')).toBe(200);
    expect(await body('amountSat=5&amountSat=6&description=tea')).toBe(400);
    expect(await body('{"amountSat":5}', 'application/json')).toBe(415);
    expect(await body(`description=${'x'.repeat(70_000)}`)).toBe(413);
    const { get, post } = asClient({ client_credentials: credentials });
    const missing = [await get('/nope'), await get('/payinvoice'), await post('/constructor')];
    expect(missing.map(({ status }) => status)).toEqual([404, 404, 404]);
  });

  test('is dead at once when it is revoked, on its websocket too', async () => {
    const made = await clientWith(SHOP);
    const { get, post } = asClient(made);
    const bill = await billOf('11');
    const socket = await listening(made);
    expect((await get('/getbalance')).status).toBe(200);
    await owner('/v2/node/revoke_client', { client_pk: made.client_pk });
    expect((await get('/getbalance')).status).toBe(401);
    const pay = await post('/payinvoice', { invoice: bill.invoice });
    const own = await post('/sendtoaddress', {
      ...{ address: ADDRESS, amountSat: '1000', feerateSatByte: '5', externalId: 'x' },
    });
    expect([pay.status, own.status]).toEqual([401, 401]);
    expect(await socket.closed).toBe(1001);
    expect(await sent({ id_part: bill.payment_hash })).toEqual([]);
  });
});

/** Opens the websocket of a client. */
async function listening({ client_credentials }: Body, url = base) {
  const messages: Body[] = [];
  const headers = { authorization: basic(client_credentials) };
  const socket = new WebSocket(`${url.replace('http', 'ws')}/websocket`, { headers } as never);
  const closed = new Promise<number>((resolve) => {
    socket.onclose = ({ code }) => resolve(code);
  });
  socket.onmessage = ({ data }) => messages.push(JSON.parse(String(data)));
  await Promise.race([new Promise((resolve) => (socket.onopen = resolve)), closed]);
  return { messages, closed, close: () => socket.close() };
}

describe('receiving', () => {
  test('an invoice is made, told of once when it is paid, and read and listed', async () => {
    const made = await clientWith(SHOP);
    const { get, post } = asClient(made);
    const socket = await listening(made);
    const form = { amountSat: '150', description: 'tea', externalId: 'order-7' };
    const { body } = await post('/createinvoice', { ...form, expirySeconds: '120' });
    expect(body).toEqual({
      amountSat: 150,
      paymentHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      serialized: expect.stringMatching(/^lnbcrt1500n/),
    });
    const { paymentHash } = body;
    const path = `/payments/incoming/${paymentHash}`;
    const unpaid = (await get(path)).body;
    expect(unpaid).toMatchObject({ isPaid: false, isExpired: false, receivedSat: 0, preimage: '' });
    expect(unpaid.expiresAt - unpaid.createdAt).toBeWithin(119_000, 121_001);
    expect(unpaid.completedAt).toBeUndefined();
    const listed = async (query: string) =>
      (await get(`/payments/incoming?${query}`)).body.map((one: Body) => one.paymentHash);
    expect(await listed('externalId=order-7')).toEqual([]);
    expect(await listed('externalId=order-7&all=true')).toEqual([paymentHash]);

    await owner('/sandbox/pay', { payable: body.serialized });
    await until(() => socket.messages.length > 0);
    expect((await get(path)).body).toMatchObject({
      ...{ type: 'incoming_payment', subType: 'lightning', paymentHash, externalId: 'order-7' },
      ...{ description: 'tea', isPaid: true, requestedSat: 150, receivedSat: 150, fees: 0 },
      preimage: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const [{ index }] = (
      await sendOk(sidecar.baseUrl, 'GET', '/v2/node/list_payments', {
        query: { filter: 'all', external_id: 'order-7' },
      })
    ).payments;
    await owner('/v2/node/update_personal_note', { index, personal_note: 'changed' });
    const second = (await post('/createinvoice', { description: '' })).body;
    expect(second.amountSat).toBeUndefined();
    await owner('/sandbox/pay', { payable: second.serialized, amount: '12' });
    await until(() => socket.messages.length > 1);
    expect(socket.messages).toEqual([
      {
        type: 'payment_received',
        timestamp: expect.any(Number),
        amountSat: 150,
        paymentHash,
        externalId: 'order-7',
      },
      {
        type: 'payment_received',
        timestamp: expect.any(Number),
        amountSat: 12,
        paymentHash: second.paymentHash,
      },
    ]);
    socket.close();
    const both = [second.paymentHash, paymentHash];
    expect(await listed(`limit=1&from=${unpaid.createdAt}`)).toEqual([both[0]]);
    expect(await listed(`limit=1&offset=1&from=${unpaid.createdAt}`)).toEqual([both[1]]);
    expect(await listed(`to=${unpaid.createdAt}&from=${unpaid.createdAt}`)).toContain(both[1]);
  });

  test('an invoice has a description or its hash, and no webhook of its own', async () => {
    const { post } = asClient(await clientWith(SHOP));
    const status = async (form: Fields) => (await post('/createinvoice', form)).status;
    expect(await status({ amountSat: '1' })).toBe(400);
    expect(await status({ description: 'a', descriptionHash: 'ab'.repeat(32) })).toBe(400);
    expect(await status({ descriptionHash: 'ab'.repeat(32), externalId: '' })).toBe(200);
    const bad = await post('/createinvoice', { description: '', amountSat: '1.5' });
    expect([bad.status, bad.text]).toEqual([400, 'amountSat: must be a whole number']);
    const hook = await post('/createinvoice', {
      description: 'a',
      webhookUrl: 'https://a.example',
    });
    expect([hook.status, hook.text]).toEqual([501, expect.stringContaining('/websocket')]);
  });

  test('what is read of the node has the fields and units of phoenixd', async () => {
    const { get, post } = asClient(await clientWith(SHOP));
    const info = (await get('/getinfo')).body;
    expect(info).toMatchObject({ chain: 'regtest', version: expect.stringMatching(/^0\.9\./) });
    expect(info.channels[0]).toMatchObject({ state: 'Normal', balanceSat: expect.any(Number) });
    expect((await get('/listchannels')).body).toEqual(info.channels);
    const node = await sendOk(sidecar.baseUrl, 'GET', '/v2/node/node_info');
    expect((await get('/getbalance')).body).toEqual({
      balanceSat: Math.floor(Number(node.lightning_max_sendable_balance)),
      feeCreditSat: 0,
    });
    const offer = (await get('/getoffer')).text;
    expect([offer, (await get('/getoffer')).text]).toEqual([expect.stringMatching(/^lno1/), offer]);
    const { invoice, payment_hash: paymentHash } = await billOf('21');
    expect((await post('/decodeinvoice', { invoice })).body).toMatchObject({
      ...{ chain: 'regtest', amount: 21_000, paymentHash },
    });
    expect((await post('/decodeoffer', { offer })).body.offerId).toMatch(/^[0-9a-f]{64}$/);
    expect((await post('/export')).text.split('\n')[0]).toContain('completed_at');
    expect((await post('/closechannel')).status).toBe(501);
    expect((await get(`/payments/incoming/${'0'.repeat(64)}`)).status).toBe(404);
  });
});

describe('paying', () => {
  test('an invoice is paid once, however often it is asked for, and side by side', async () => {
    const { get, post } = asClient(await clientWith(SHOP));
    const { invoice, payment_hash: paymentHash } = await billOf('77');
    const answers = await Promise.all([1, 2, 3, 4].map(() => post('/payinvoice', { invoice })));
    const [first] = answers;
    expect(first?.body).toEqual({
      ...{ recipientAmountSat: 77, routingFeeSat: expect.any(Number), paymentHash },
      paymentId: expect.any(String),
      paymentPreimage: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    for (const { body } of [...answers, await post('/payinvoice', { invoice })]) {
      expect(body).toEqual(first?.body);
    }
    const [payment, ...others] = await sent({ id_part: paymentHash });
    expect(others).toEqual([]);
    const outgoing = (await get(`/payments/outgoingbyhash/${paymentHash}`)).body;
    const feesMsat = Math.round(Number(payment.fees) * 1000);
    expect(outgoing).toMatchObject({ isPaid: true, fees: feesMsat, invoice });
    expect(outgoing.sent).toBe(Math.floor((77_000 + feesMsat) / 1000));
    expect((await get(`/payments/outgoing/${first?.body.paymentId}`)).body).toEqual(outgoing);
    expect((await get('/payments/outgoing?limit=1')).body).toEqual([outgoing]);
  });

  test('what has failed is told as failed, and is tried again when it is asked for again', async () => {
    const { get, post } = asClient(await clientWith(SHOP));
    const { invoice, payment_hash: paymentHash } = await billOf('78', 'fail');
    for (const attempts of [1, 2]) {
      const { status, body } = await post('/payinvoice', { invoice });
      expect([status, body]).toEqual([200, { paymentHash, reason: expect.any(String) }]);
      const tried = await sent({ filter: 'failed', id_part: paymentHash });
      expect(tried.length).toBe(attempts);
    }
    const outgoing = (await get(`/payments/outgoingbyhash/${paymentHash}`)).body;
    expect(outgoing).toMatchObject({ isPaid: false, completedAt: expect.any(Number) });
    expect((await get('/payments/outgoing?limit=1')).body[0]?.paymentHash).not.toBe(paymentHash);
  });

  test('over the budget, or without the permission, nothing is sent and the answer is no payment', async () => {
    const budget = { amount: '50', period: 'total' };
    const { payment_hash: hash, invoice } = await billOf('90');
    for (const grant of [{ ...SHOP, budget }, { scopes: ['read_payments'] }]) {
      const { get, post } = asClient(await clientWith(grant));
      const { status, text } = await post('/payinvoice', { invoice });
      expect([status, text]).toEqual([403, expect.stringMatching(/\w/)]);
      expect((await get(`/payments/outgoingbyhash/${hash}`)).status).toBe(404);
    }
    const { post } = asClient(await clientWith({ scopes: ['send'] }));
    expect((await post('/payinvoice', { invoice })).body.paymentHash).toBe(hash);
  });

  test('what waits for approval is not paid and never failed, until somebody decides', async () => {
    const { get, post } = asClient(await clientWith({ ...SHOP, approve_above: '100' }));
    const ended = async (decision: 'approve' | 'reject') => {
      const { invoice, payment_hash: paymentHash } = await billOf('500');
      const { status, body } = await post('/payinvoice', { invoice });
      const waits = { paymentHash, isPaid: false, status: 'awaiting approval' };
      expect([status, body]).toEqual([200, { paymentId: expect.any(String), ...waits }]);
      const path = `/payments/outgoingbyhash/${paymentHash}`;
      const pending = (await get(path)).body;
      expect([pending.isPaid, pending.completedAt]).toEqual([false, undefined]);
      await owner(`/v2/node/${decision}`, { index: body.paymentId });
      await until(async () => (await get(path)).body.completedAt);
      return post('/payinvoice', { invoice });
    };
    expect((await ended('approve')).body.paymentPreimage).toMatch(/^[0-9a-f]{64}$/);
    expect((await ended('reject')).body).toMatchObject({ isPaid: false });
    const send = { address: ADDRESS, amountSat: '3000', feerateSatByte: '20' };
    const chain = await post('/sendtoaddress', send);
    expect([chain.status, chain.text]).toEqual([202, expect.stringContaining('awaiting approval')]);
  });

  test('offers, names, LNURL and addresses have no id of their own: the same call again is a repeat, an externalId is another payment', async () => {
    const { post } = asClient(await clientWith(SHOP));
    const { offer } = await owner('/sandbox/offer');
    const terms = { tag: 'payRequest', min_amount: '10', max_amount: '1000' };
    const { lnurl } = await owner('/sandbox/lnurl', terms);
    const calls: [string, Fields][] = [
      ['/payoffer', { offer, amountSat: '33', message: 'hello' }],
      ['/lnurlpay', { lnurl, amountSat: '34' }],
      ['/sendtoaddress', { address: ADDRESS, amountSat: '2000', feerateSatByte: '20' }],
    ];
    for (const [path, form] of calls) {
      const id = async (more: Fields = {}) => {
        const { status, text, body } = await post(path, { ...form, ...more });
        expect([path, status]).toEqual([path, 200]);
        return body?.paymentId ?? text;
      };
      const first = await id();
      expect([path, await id()]).toEqual([path, first]);
      const other = await id({ externalId: `${path} 2` });
      expect(other).not.toBe(first);
      expect(await id({ externalId: `${path} 2` })).toBe(other);
      expect(await id({ amountSat: '2100' }).catch(() => '')).not.toBe(first);
    }
    const dearer = { address: ADDRESS, amountSat: '2000', feerateSatByte: '30' };
    const chain = (await post('/sendtoaddress', { ...dearer, feerateSatByte: '20' })).text;
    expect((await post('/sendtoaddress', dearer)).text).toBe(chain);
    const used = await post('/sendtoaddress', { ...dearer, externalId: '/sendtoaddress 2' });
    expect(used.status).toBe(422);
    const cheap = { address: ADDRESS, amountSat: '2500', feerateSatByte: '0' };
    expect((await post('/sendtoaddress', cheap)).status).toBe(400);
    const bump = async () => (await post('/bumpfee', { feerateSatByte: '50' })).text;
    const txid = await bump();
    expect([txid, await bump()]).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/), txid]);
  });
});

test('after a kill between request and answer the same call pays once, on every rail', async () => {
  let [own, url, ports] = await start('killed');
  const made = await clientWith(SHOP, own);
  const { offer } = await owner('/sandbox/offer', {}, own);
  const rounds = 12;
  for (let round = 0; round < rounds; round++) {
    const bill = await billOf(String(100 + round), 'settle', own);
    const amountSat = String(5000 + round);
    const calls: [string, Fields][] = [
      ['/payinvoice', { invoice: bill.invoice }],
      ['/payoffer', { offer, amountSat }],
      ['/sendtoaddress', { address: ADDRESS, amountSat, feerateSatByte: '20' }],
    ];
    const { get, post } = asClient(made, url);
    // A kill may leave the coins of a send locked that never was.
    await owner('/sandbox/fund', { amount: '20000', rail: 'onchain' }, own);
    await owner('/sandbox/blocks', { count: 1 }, own);
    const cut = calls.map(([path, form]) => post(path, form).catch(() => null));
    // Later in each round, by what else is answered meanwhile.
    for (let others = 0; others < round; others++) await get('/getbalance');
    await own.kill();
    await Promise.all(cut);
    [own, url, ports] = await start('killed', ports);
    const again = asClient(made, url);
    for (const [path, form] of calls) {
      const { status, text, body } = await again.post(path, form);
      expect([path, status]).toEqual([path, 200]);
      expect(body?.paymentPreimage ?? text).toMatch(/^[0-9a-f]{64}$/);
    }
    expect((await sent({ id_part: bill.payment_hash }, own)).length).toBe(1);
  }
  const paid = await sent({ filter: 'all' }, own);
  const of = (rail: string) => paid.filter((one) => one.rail === rail && one.status !== 'failed');
  expect(['invoice', 'offer', 'onchain'].map((rail) => of(rail).length)).toEqual(
    Array(3).fill(rounds),
  );
  await own.stop();
});

test('a payment that is held is pending in every look-up, also after a kill, and is paid once', async () => {
  let [own, url, ports] = await start('held');
  const made = await clientWith(SHOP, own);
  const { invoice, payment_hash: hash } = await billOf('321', 'hold', own);
  const cut = asClient(made, url)
    .post('/payinvoice', { invoice })
    .catch(() => null);
  const path = `/payments/outgoingbyhash/${hash}`;
  await until(async () => {
    const { status, body } = await asClient(made, url).get(path);
    return status === 200 && body.isPaid === false && body.invoice !== undefined;
  });
  await own.kill();
  expect(await cut).toBeNull();
  [own, url, ports] = await start('held', ports);
  const { get, post } = asClient(made, url);
  expect((await get(path)).body).toMatchObject({ isPaid: false });
  const again = post('/payinvoice', { invoice });
  await owner('/sandbox/holds', { payment_hash: hash, settle: true }, own);
  expect((await again).body.paymentPreimage).toMatch(/^[0-9a-f]{64}$/);
  expect((await sent({ id_part: hash }, own)).length).toBe(1);
  await own.stop();
});

test('a websocket that is closed takes no place of its client any more', async () => {
  // An eighth of the descriptors are places for the streams of one client, and at least 16.
  const [own, url] = await start('streams', freePorts(2), { openFiles: 128 });
  const made = await clientWith(SHOP, own);
  for (let opened = 0; opened < 40; opened++) {
    const socket = await listening(made, url);
    socket.close();
    expect(await socket.closed).not.toBe(1006);
  }
  const last = await listening(made, url);
  const { serialized } = (await asClient(made, url).post('/createinvoice', { description: '' }))
    .body;
  await owner('/sandbox/pay', { payable: serialized, amount: '5' }, own);
  await until(() => last.messages.length === 1);
  await own.stop();
});

test('without its option nothing listens, and an address in use stops the start', async () => {
  const [port = 0, other = 0] = freePorts(2);
  const plain = await startDevSidecar({ dataDir: join(folder, 'plain'), port });
  expect(plain.log()).not.toContain('phoenixd');
  await plain.stop();
  const taken = Number(new URL(base).port);
  const failed = start('taken', [other, taken]);
  expect(await throwing(failed)).toThrow(/--phoenixd-listen-addr/);
});

test('the page of this API names every call, and no others', () => {
  const named = rowsOf('docs/phoenixd.md', 'Calls').flatMap(([call]) => codeIn(call));
  expect(named.toSorted()).toEqual([...CALLS.keys(), 'GET /websocket'].toSorted());
});
