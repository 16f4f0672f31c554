import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hex } from '@scure/base';
import * as nip44 from 'nostr-tools/nip44';
import { generateSecretKey, getPublicKey } from 'nostr-tools/pure';
import { decodeBolt11 } from '../../src/codecs/bolt11/index.ts';
import { toNoonOfTenth } from '../conformance/wallet-steps.ts';
import { runBinary } from '../support/binary.ts';
import { type DevSidecar, startDevSidecar } from '../support/dev-sidecar.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { metricsReader } from '../support/metrics-reader.ts';
import { startNostrRelay } from '../support/nostr-relay.ts';
import { type NwcApp, nwcApp } from '../support/nwc-app.ts';
import { codeIn, rowsOf } from '../support/pages.ts';
import { freePort } from '../support/ports.ts';
import { type Body, sendOk } from '../support/requests.ts';
import { startSocksServer } from '../support/socks-server.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

const ALL = { scopes: ['read_info', 'read_payments', 'receive', 'send'] };
const folder = temporaryFolder('nwc');
const port = freePort();
const relay = startNostrRelay();
let sidecar: DevSidecar;
/** When the sidecar was started, or before. */
let startedSecs: number;

beforeAll(async () => {
  await start();
  await toNoonOfTenth({ post: owner });
});
afterAll(async () => {
  await sidecar.kill();
  relay.stop();
  removeFolder(folder);
});

async function start(): Promise<void> {
  const env = { SERVICE_NWC_RELAYS: relay.url };
  startedSecs = Math.floor(Date.now() / 1000);
  sidecar = await startDevSidecar({ dataDir: join(folder, 'data'), port, env });
}
async function restart(): Promise<void> {
  await sidecar.kill();
  await start();
}

const owner = (path: string, body: object = {}): Promise<Body> =>
  sendOk(sidecar.baseUrl, 'POST', path, { body });
const billOf = (amount = '100', behavior = 'settle'): Promise<Body> =>
  owner('/sandbox/invoice', { amount, behavior });
const update = (app: Paired, change: object): Promise<Body> =>
  sendOk(sidecar.baseUrl, 'PUT', '/v2/node/update_client', {
    body: { client_pk: app.clientPk, ...change },
  });
const health = async (): Promise<string> =>
  (await sendOk(sidecar.baseUrl, 'GET', '/v2/health')).status;

type Paired = NwcApp & { readonly clientPk: string };
/** Pairs an application, and waits until it was told what it may do. */
async function paired(grant: object = ALL, at = relay): Promise<Paired> {
  const nwc = { relays: [at.url] };
  const { nwc_uri, client_pk } = await owner('/v2/node/create_client', { ...grant, nwc });
  const app = nwcApp(nwc_uri, at);
  await until(() => app.info());
  return { ...app, clientPk: client_pk };
}

/** How often the wallet has paid a hash. */
const paidTimes = async (bill: Body): Promise<number> => (await listed('completed', bill)).length;
async function listed(filter: string, { payment_hash }: Body): Promise<Body[]> {
  await sendOk(sidecar.baseUrl, 'PUT', '/v2/node/sync_payments', { body: {} });
  const query = { filter, direction: 'outbound', id_part: payment_hash };
  return (await sendOk(sidecar.baseUrl, 'GET', '/v2/node/list_payments', { query })).payments;
}
const codeOf = async (answer: Promise<Body>): Promise<string> => (await answer).error?.code;
/** A node to which anything can be sent. */
const outsidePk = async () => decodeBolt11((await billOf()).invoice).payeePubkey;
/** What came before is taken or dropped once a later request is answered, which asks the node. */
const taken = (app: Paired): Promise<Body> => app.ask('list_transactions');

describe('nothing before a pairing', () => {
  test('is connected, and what serves it is not loaded', async () => {
    expect(relay.connected()).toBe(0);
    expect(await health()).toBe('ok');
    await paired();
    expect(relay.connected()).toBe(1);
  });
});

describe('a pairing', () => {
  test('is a client with a URI, shown once and the same to a repeat; the secret of its application is kept nowhere', async () => {
    const body = { ...ALL, nwc: {} };
    const headers = { 'idempotency-key': 'pair once' };
    const make = () => sendOk(sidecar.baseUrl, 'POST', '/v2/node/create_client', { body, headers });
    const { nwc_uri } = await make();
    expect((await make()).nwc_uri).toBe(nwc_uri);
    const [, service, at, secret = ''] =
      /^nostr\+walletconnect:\/\/([0-9a-f]{64})\?relay=([^&]+)&secret=([0-9a-f]{64})$/.exec(
        nwc_uri,
      ) ?? [];
    expect(decodeURIComponent(at ?? '')).toBe(relay.url);
    for (const name of readdirSync(join(folder, 'data'))) {
      const kept = readFileSync(join(folder, 'data', name));
      expect([name, kept.includes(secret), kept.includes(hex.decode(secret))]).toEqual([
        name,
        false,
        false,
      ]);
    }
    expect(service).not.toBe((await paired()).service);
    const { clients } = await sendOk(sidecar.baseUrl, 'GET', '/v2/node/list_clients');
    expect(JSON.stringify(clients)).not.toContain('nostr');
  });

  test('needs a relay by wss, or of this machine; without one it takes those of --nwc-relay', async () => {
    for (const relays of [[], ['ws://relay.example'], ['https://relay.example'], ['wss://a b']]) {
      const made = owner('/v2/node/create_client', { ...ALL, nwc: { relays } });
      expect(await made.catch(({ body }) => body.code)).toBe(7);
    }
  });
});

describe('an application that made its own key', () => {
  const key = generateSecretKey();
  const app = getPublicKey(key);
  const asked = `request_methods=get_info%20pay_invoice&max_amount=1000999&budget_renewal=monthly&isolated=true&relay=${encodeURIComponent(relay.url)}`;
  const uri = `nostr+walletauth://${app}?${asked}`;
  const create = (...flags: string[]) =>
    runBinary(['clients', 'create', '--url', sidecar.baseUrl, '--nwc-app', uri, ...flags]);
  const infos = () =>
    relay.seen.filter(
      ({ kind, tags }) => kind === 13194 && tags.some(([, value]) => value === app),
    );
  const found = (service: string) =>
    nwcApp(`nostr+walletconnect://${service}?secret=${hex.encode(key)}`, relay);

  test('is told by the command line what it asks for, and given what the owner names', async () => {
    const shown = await create();
    expect(shown.exitCode).toBe(2);
    expect(shown.stderr).toContain('--scope send --budget 1000/month --own');
    expect((await create('--scope', 'receive', '--nwc')).exitCode).toBe(2);
    const { clients } = await sendOk(sidecar.baseUrl, 'GET', '/v2/node/list_clients');
    const made = await create('--scope', 'receive');
    expect([made.exitCode, made.stdout.trim() in clients]).toEqual([0, false]);
    const [info] = await until(() => infos().length > 0 && infos());
    expect(info?.content.split(' ')).toContain('make_invoice');
    expect(info?.content).not.toContain('pay_invoice');
    const { result } = await found(info?.pubkey ?? '').ask('make_invoice', { amount: 1000 });
    expect(decodeBolt11(result.invoice).amountMsat).toBe(1000n);
  });

  test('is paired twice with two keys, and each speaks for its own client', async () => {
    const body = { scopes: ['read_info'], nwc: { app, relays: [relay.url] } };
    const made = await owner('/v2/node/create_client', body);
    expect('nwc_uri' in made).toBe(false);
    const services = () => [...new Set(infos().map(({ pubkey }) => pubkey))];
    const [first = '', second = ''] = await until(() => services().length > 1 && services());
    expect(await codeOf(found(first).ask('get_balance'))).toBe('RESTRICTED');
    expect((await found(second).ask('get_balance')).result.balance).toBeGreaterThan(0);
    await owner('/v2/node/revoke_client', { client_pk: made.client_pk });
    expect(await codeOf(found(second).ask('get_balance'))).toBe('UNAUTHORIZED');
    expect(await codeOf(found(first).ask('get_budget'))).toBeUndefined();
  });

  test('has a key that is one', async () => {
    for (const wrong of ['ff'.repeat(32), '0'.repeat(64)]) {
      const made = owner('/v2/node/create_client', { ...ALL, nwc: { app: wrong } });
      expect(await made.catch(({ body }) => body.code)).toBe(7);
    }
  });
});

describe('methods', () => {
  test('answer in the forms of NIP-47', async () => {
    const app = await paired({ ...ALL, label: 'Shop', budget: { amount: '5000', period: 'day' } });
    const info = (await app.ask('get_info')).result;
    expect([info.alias, info.network, info.methods]).toEqual([
      'Shop',
      'regtest',
      app
        .info()
        ?.content.split(' ')
        .filter((one) => one !== 'notifications'),
    ]);
    expect((await app.ask('get_balance')).result.balance).toBeGreaterThan(5_000_000);
    expect((await app.ask('get_budget')).result).toMatchObject({
      used_budget: 0,
      total_budget: 5_000_000,
      renewal_period: 'daily',
    });
    const made = await app.ask('make_invoice', { amount: 21_500, description: 'Tea', expiry: 60 });
    expect(made).toMatchObject({ result_type: 'make_invoice', error: null });
    const { invoice, payment_hash, created_at, expires_at } = made.result;
    expect(made.result).toMatchObject({ type: 'incoming', state: 'pending', amount: 21_500 });
    expect(expires_at - created_at).toBe(60);
    expect((await app.ask('lookup_invoice', { payment_hash })).result.preimage).toBeUndefined();
    await owner('/sandbox/pay', { payable: invoice });
    const settled = { state: 'settled', type: 'incoming', amount: 21_500, description: 'Tea' };
    expect((await app.ask('lookup_invoice', { invoice })).result).toMatchObject(settled);
    const bill = await billOf();
    const paid = await app.ask('pay_invoice', { invoice: bill.invoice });
    expect(paid.result.preimage).toMatch(/^[0-9a-f]{64}$/);
    const listed = await app.ask('list_transactions', { limit: 2 });
    expect(listed.result.transactions).toMatchObject([
      { type: 'outgoing', payment_hash: bill.payment_hash, preimage: paid.result.preimage },
      settled,
    ]);
    const second = await app.ask('list_transactions', { limit: 1, offset: 1, type: 'incoming' });
    expect(second.result.transactions).not.toContainEqual(listed.result.transactions[1]);
    expect((await app.ask('get_budget')).result.used_budget).toBe(100_000 + paid.result.fees_paid);
  });

  test('several invoices are answered one by one, each under its id; keysend pays a node', async () => {
    const app = await paired();
    const bills = [await billOf(), await billOf('100', 'fail')];
    const invoices = [{ id: 'a', invoice: bills[0].invoice }, { invoice: bills[1].invoice }];
    const event = app.eventOf('multi_pay_invoice', { invoices });
    app.send(event);
    const answers = await app.answered(event, 2);
    const byId = Object.fromEntries(answers.map((one) => [one.d, one]));
    expect(byId.a.result.preimage).toHaveLength(64);
    expect(byId[bills[1].payment_hash].error.code).toBe('PAYMENT_FAILED');
    const pubkey = await outsidePk();
    const sent = await app.ask('pay_keysend', { pubkey, amount: 1000 });
    expect(sent.result.preimage).toHaveLength(64);
    const tlv = app.ask('pay_keysend', { pubkey, amount: 1000, tlv_records: [{}] });
    expect(await codeOf(tlv)).toBe('NOT_IMPLEMENTED');
  });

  test('hold invoices are made, told when they are held, settled and canceled', async () => {
    const app = await paired();
    const hold = async () => {
      const preimage = randomBytes(32);
      const payment_hash = createHash('sha256').update(preimage).digest('hex');
      const made = await app.ask('make_hold_invoice', { amount: 2000, payment_hash });
      void owner('/sandbox/pay', { payable: made.result.invoice }).catch(() => undefined);
      const accepted = 'hold_invoice_accepted';
      await until(() =>
        app
          .notifications()
          .some(
            (one) =>
              one.notification_type === accepted && one.notification.payment_hash === payment_hash,
          ),
      );
      return { payment_hash, preimage: preimage.toString('hex') };
    };
    const { preimage, payment_hash } = await hold();
    expect((await app.ask('settle_hold_invoice', { preimage })).error).toBeNull();
    const state = async (of: object) => (await app.ask('lookup_invoice', of)).result.state;
    await until(async () => (await state({ payment_hash })) === 'settled');
    const other = await hold();
    const canceled = { payment_hash: other.payment_hash };
    expect((await app.ask('cancel_hold_invoice', canceled)).error).toBeNull();
    await until(async () => (await state(canceled)) === 'failed');
  });

  test('payments are told as they end, to a client that may see them', async () => {
    const [app, blind] = [await paired(), await paired({ scopes: ['receive'] })];
    const { invoice, payment_hash } = (await app.ask('make_invoice', { amount: 3000 })).result;
    await owner('/sandbox/pay', { payable: invoice });
    const bill = await billOf();
    await app.ask('pay_invoice', { invoice: bill.invoice });
    const told = await until(() => app.notifications().length >= 2 && app.notifications());
    expect(told).toMatchObject([
      { notification_type: 'payment_received', notification: { payment_hash, amount: 3000 } },
      { notification_type: 'payment_sent', notification: { payment_hash: bill.payment_hash } },
    ]);
    expect(blind.notifications()).toEqual([]);
    expect(blind.info()?.tags).toEqual([
      ['p', blind.pk],
      ['encryption', 'nip44_v2'],
    ]);
  });
});

describe('what a client may do', () => {
  test('is what the info event says, and it follows changes of the grant', async () => {
    const app = await paired({ scopes: ['receive'] });
    expect(app.info()?.content).toBe('get_info get_budget make_invoice');
    await update(app, { scopes: ['read_info'] });
    await until(() => app.info()?.content === 'get_info get_balance get_budget');
    expect(await codeOf(app.ask('make_invoice', { amount: 1000 }))).toBe('RESTRICTED');
  });

  test('who sees only its own has what is left of its budget for a balance', async () => {
    const budget = { amount: '700', period: 'total' };
    const app = await paired({ ...ALL, own: true, budget });
    expect((await app.ask('get_balance')).result).toEqual({ balance: 700_000 });
    const unbounded = await paired({ ...ALL, own: true });
    expect(unbounded.info()?.content).not.toContain('get_balance');
    expect(await codeOf(unbounded.ask('get_balance'))).toBe('RESTRICTED');
  });

  test('a revoked pairing is dead: UNAUTHORIZED, an empty info event, nothing is told', async () => {
    const app = await paired();
    await owner('/v2/node/revoke_client', { client_pk: app.clientPk });
    expect(await codeOf(app.ask('get_balance'))).toBe('UNAUTHORIZED');
    const bill = await billOf();
    const createdAt = startedSecs;
    const pay = app.eventOf('pay_invoice', { invoice: bill.invoice }, { createdAt });
    app.send(pay);
    await until(() => app.info()?.content === '', 'the info event was empty');
    expect(await codeOf(app.ask('get_balance'))).toBe('UNAUTHORIZED');
    const told = app.notifications().length;
    await (await paired()).ask('pay_invoice', { invoice: bill.invoice });
    expect(app.notifications()).toHaveLength(told);
    // It was written too early for the process to know that no earlier one has begun to pay it.
    expect(app.answersTo(pay)).toEqual([]);
    expect(await paidTimes(bill)).toBe(1);
  });
});

describe('errors', () => {
  test('have the codes of NIP-47', async () => {
    const budget = { amount: '1000', period: 'total' };
    const [app, bounded] = [await paired(), await paired({ ...ALL, budget })];
    const pay = async (amount: string, behavior = 'settle', by = app) =>
      codeOf(by.ask('pay_invoice', { invoice: (await billOf(amount, behavior)).invoice }));
    expect(await pay('2000', 'settle', bounded)).toBe('QUOTA_EXCEEDED');
    expect(await pay('100000000')).toBe('INSUFFICIENT_BALANCE');
    expect(await pay('100', 'fail')).toBe('PAYMENT_FAILED');
    const payment_hash = '0'.repeat(64);
    expect(await codeOf(app.ask('lookup_invoice', { payment_hash }))).toBe('NOT_FOUND');
    expect(await codeOf(app.ask('sign_message', { message: 'x' }))).toBe('NOT_IMPLEMENTED');
    expect(await codeOf(app.ask('pay_invoice', { invoice: 'lnbc1' }))).toBe('OTHER');
    expect(await codeOf(app.ask('make_invoice', { amount: 'much' }))).toBe('OTHER');
    const old = app.ask('get_balance', {}, { encryption: [] });
    expect(await codeOf(old)).toBe('UNSUPPORTED_ENCRYPTION');
  });

  test('more than 16 requests in progress of a client are answered RATE_LIMITED, payments wait, and others go on', async () => {
    const [app, other] = [await paired(), await paired()];
    const held: Body[] = [];
    for (let n = 0; n < 16; n += 1) held.push(await billOf('1', 'hold'));
    const events = held.map(({ invoice }) => app.eventOf('pay_invoice', { invoice }));
    events.forEach(app.send);
    await until(async () => (await codeOf(app.ask('get_budget'))) === 'RATE_LIMITED');
    const late = await billOf();
    app.send(app.eventOf('pay_invoice', { invoice: late.invoice }));
    expect(await codeOf(app.ask('get_budget'))).toBe('RATE_LIMITED');
    expect(await paidTimes(late)).toBe(0);
    expect((await other.ask('get_budget')).error).toBeNull();
    for (const { payment_hash } of held) {
      await until(() =>
        owner('/sandbox/holds', { payment_hash, settle: true }).then(
          () => true,
          () => false,
        ),
      );
    }
    for (const event of events) expect((await app.answered(event))[0].error).toBeNull();
    await until(async () => (await paidTimes(late)) === 1);
  });
});

describe('a request', () => {
  test('counts only from the application of a pairing, to its own service, with its signature, and in its time', async () => {
    const [app, other] = [await paired(), await paired()];
    const bill = await billOf();
    const params = { invoice: bill.invoice };
    const now = Math.floor(Date.now() / 1000);
    const event = (change = {}, key = app.key) => app.eventOf('pay_invoice', params, change, key);
    const forged = [
      event({}, generateSecretKey()),
      event({}, other.key),
      { ...event(), sig: '0'.repeat(128) },
      { ...event(), pubkey: other.pk },
      { ...event(), content: event().content },
      event({ createdAt: now - 601 }),
      event({ createdAt: now + 600 }),
      event({ tags: [['expiration', String(now - 1)]] }),
      event({ tags: [['expiration', 'soon']] }),
      event({ kind: 23195 }),
      event({ to: other.service }),
      event({ content: nip44.encrypt('{}', generateSecretKey()) }),
      app.eventOf('pay_invoice', { ...params, large: 'x'.repeat(60_000) }),
      { ...event(), tags: 'none' },
      null,
      [],
    ];
    const before = app.answers().length;
    // One after the other, since a relay that tells a forged event is left, with what it tells after that.
    for (const one of forged) {
      relay.invent(one);
      await taken(app);
    }
    const tags = [['expiration', String(now + 600)]];
    const good = app.eventOf('pay_invoice', { ...params, large: 'x'.repeat(40_000) }, { tags });
    expect([await paidTimes(bill), app.answers().length - before]).toEqual([0, forged.length]);
    app.send(good);
    expect((await app.answered(good))[0].error).toBeNull();
  });

  test('is answered once: by a second copy, by a second relay, after a restart, and months later', async () => {
    const app = await paired();
    const bill = await billOf();
    const event = app.eventOf('pay_invoice', { invoice: bill.invoice });
    for (let copies = 0; copies < 3; copies += 1) app.send(event);
    const [first] = await app.answered(event);
    await taken(app);
    expect(app.answersTo(event)).toHaveLength(1);
    await restart();
    await until(() => relay.connected() > 0);
    app.send(event);
    const [, again] = await app.answered(event, 2);
    expect(again).toEqual(first);
    expect(await paidTimes(bill)).toBe(1);
    const keysend = { pubkey: await outsidePk(), amount: 1000 };
    const sent = app.eventOf('pay_keysend', keysend);
    app.send(sent);
    const [one] = await app.answered(sent);
    await restart();
    app.send(sent);
    expect((await app.answered(sent, 2))[1]).toEqual(one);
  });

  test('that was answered with an error is never paid, also after a restart with more budget', async () => {
    const app = await paired({ ...ALL, budget: { amount: '10', period: 'total' } });
    const bill = await billOf();
    const event = app.eventOf('pay_invoice', { invoice: bill.invoice });
    app.send(event);
    expect((await app.answered(event))[0].error.code).toBe('QUOTA_EXCEEDED');
    await update(app, { budget: { amount: '5000', period: 'total' } });
    await restart();
    await until(() => relay.connected() > 0);
    app.send(event);
    expect((await app.ask('get_budget')).error).toBeNull();
    const [, again] = await app.answered(event, 2);
    expect(again.error).toMatchObject({ code: 'OTHER' });
    expect(await paidTimes(bill)).toBe(0);
  });

  test.each([
    ['tells of it again', true],
    ['has forgotten it', false],
  ])(
    'whose outcome is unknown is answered when it is known, also after a kill, where the relay %s',
    async (_, keepsAll) => {
      const own = startNostrRelay({ keepsAll });
      const app = await paired(ALL, own);
      const bill = await billOf('100', 'hold');
      const event = app.eventOf('pay_invoice', { invoice: bill.invoice });
      app.send(event);
      await until(async () => (await listed('pending', bill)).length === 1);
      await restart();
      await until(() => own.connected() > 0);
      expect(app.answersTo(event)).toEqual([]);
      await owner('/sandbox/holds', { payment_hash: bill.payment_hash, settle: true });
      expect((await app.answered(event))[0].result.preimage).toHaveLength(64);
      expect(await paidTimes(bill)).toBe(1);
      expect(app.answersTo(event)).toHaveLength(1);
      own.stop();
    },
  );

  test('that is on its way when its client ends has no answer, since it may still be paid', async () => {
    const app = await paired();
    const bill = await billOf('100', 'hold');
    const event = app.eventOf('pay_invoice', { invoice: bill.invoice });
    app.send(event);
    await until(async () => (await listed('pending', bill)).length === 1);
    await owner('/v2/node/revoke_client', { client_pk: app.clientPk });
    expect((await app.ask('get_info')).error.code).toBe('UNAUTHORIZED');
    await until(() => app.info()?.content === '');
    expect((await app.ask('get_info')).error.code).toBe('UNAUTHORIZED');
    expect(app.answersTo(event)).toEqual([]);
    await owner('/sandbox/holds', { payment_hash: bill.payment_hash, settle: true });
    await until(async () => (await paidTimes(bill)) === 1);
    expect(app.answersTo(event)).toEqual([]);
  });

  test('that another client has paid is answered so at once, and never paid by a copy', async () => {
    const app = await paired({ scopes: ['receive', 'send'] });
    const other = await paired();
    const bill = await billOf();
    expect((await other.ask('pay_invoice', { invoice: bill.invoice })).error).toBeNull();
    for (let at = 0; at < 17; at += 1) {
      const { error } = await app.ask('pay_invoice', { invoice: bill.invoice });
      expect(error).toMatchObject({ code: 'OTHER', message: expect.stringContaining('has paid') });
    }
    const next = await billOf();
    expect((await app.ask('pay_invoice', { invoice: next.invoice })).error).toBeNull();
  });

  test('that waits for approval is answered when the owner has decided', async () => {
    const app = await paired({ ...ALL, approve_above: '50' });
    const decide = async (how: 'approve' | 'reject') => {
      const bill = await billOf();
      const event = app.eventOf('pay_invoice', { invoice: bill.invoice });
      app.send(event);
      const { index } = await until(async () => (await listed('awaiting', bill))[0]);
      expect(app.answersTo(event)).toEqual([]);
      await owner(`/v2/node/${how}`, { index });
      return (await app.answered(event))[0];
    };
    expect((await decide('approve')).error).toBeNull();
    expect((await decide('reject')).error).toMatchObject({ code: 'PAYMENT_FAILED' });
  });
});

describe('a relay', () => {
  test('that cannot be reached is named by health and metrics, and gets what it missed when it is back', async () => {
    const first = startNostrRelay({ port: freePort() });
    const app = await paired(ALL, first);
    const bill = await billOf('100', 'hold');
    const event = app.eventOf('pay_invoice', { invoice: bill.invoice });
    app.send(event);
    const { payment_hash } = bill;
    const settle = () => owner('/sandbox/holds', { payment_hash, settle: true });
    await until(async () => (await listed('pending', bill)).length === 1);
    first.stop();
    await settle();
    await until(async () => (await health()).includes(`The relay ${first.url} cannot be reached`));
    const shown = () =>
      metricsReader(() => sidecar.baseUrl).value(
        `wallet_sidecar_nwc_relay_connected{relay="${first.url}"}`,
      );
    expect(await shown()).toBe(0);
    const back = startNostrRelay({ ...first, keepsAll: true });
    expect((await app.answered(event))[0].error).toBeNull();
    await until(async () => !(await health()).includes(first.url));
    expect(await shown()).toBe(1);
    back.stop();
  });

  test('of pairings that have ended is left when many have, so that relays do not gather', async () => {
    const own = startNostrRelay();
    const end = async ({ clientPk }: { readonly clientPk: string }) =>
      owner('/v2/node/revoke_client', { client_pk: clientPk });
    const first = await paired(ALL, own);
    await end(first);
    expect((await first.ask('get_info')).error.code).toBe('UNAUTHORIZED');
    for (let at = 0; at < 20; at += 1) await end(await paired());
    await until(() => own.connected() === 0);
    own.stop();
  });

  test('that drops, repeats, reorders and invents changes nothing that is paid', async () => {
    const app = await paired();
    const bills: Body[] = [];
    for (let n = 0; n < 5; n += 1) bills.push(await billOf());
    const events = bills.map(({ invoice }) => app.eventOf('pay_invoice', { invoice }));
    const copies = [...events.toReversed(), ...events, ...events];
    for (const event of copies) {
      relay.tell(event);
      relay.invent({ ...event, created_at: event.created_at + 1 });
      relay.shout('["EVENT"]', `["OK","${event.id}",false,"no"]`, '["NOTICE","x"]', '{', '7');
    }
    for (const event of events) expect((await app.answered(event))[0].error).toBeNull();
    await taken(app);
    for (const bill of bills) expect(await paidTimes(bill)).toBe(1);
    for (const event of events) expect(app.answersTo(event)).toHaveLength(1);
  });
});

test('with --node-proxy relays are reached by it alone, and a pairing names none but those of --nwc-relay', async () => {
  const proxy = await startSocksServer();
  const env = { SERVICE_NWC_RELAYS: 'wss://relay.invalid', SERVICE_NODE_PROXY: proxy.address };
  const own = { dataDir: join(folder, 'proxied'), port: freePort(), env };
  const proxied = await startDevSidecar(own);
  const pair = (relays?: string[]): Promise<Body> =>
    sendOk(proxied.baseUrl, 'POST', '/v2/node/create_client', {
      body: { ...ALL, nwc: { relays } },
    });
  expect(await pair(['wss://other.invalid']).catch(({ body }) => body.msg)).toContain(
    '--node-proxy',
  );
  await pair();
  await until(() => proxy.asked.length > 1);
  expect(new Set(proxy.asked)).toEqual(new Set(['relay.invalid:443']));
  await pair([relay.url]);
  await until(() => relay.connected() > 1);
  await proxied.kill();
  proxy.stop();
});

test('the page of Nostr Wallet Connect names every method, and what the info event of a full client names', async () => {
  const named = rowsOf('docs/nwc.md', 'Calls').flatMap(([first]) => codeIn(first));
  const methods = named.filter((one) => /^[a-z]/.test(one)).toSorted();
  const app = await paired({ scopes: ['full'] });
  const shown = app.info()?.content.split(' ').toSorted();
  expect(shown).toEqual([...methods, 'notifications'].toSorted());
});
