import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { startNostrRelay } from '../support/nostr-relay.ts';
import { nwcApp } from '../support/nwc-app.ts';
import { freePort } from '../support/ports.ts';
import type { Body } from '../support/requests.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { describeKinds } from './kinds.ts';
import { type NodeSidecar, startNodeSidecar } from './node-sidecar.ts';
import type { OutsideInvoice } from './outsider.ts';

setDefaultTimeout(SLOW_TEST_MS);

const GRANT = {
  scopes: ['read_info', 'read_payments', 'receive', 'send'],
  budget: { amount: '5000', period: 'total' },
};

/** What a payment is to an application. */
type State = 'paid' | 'unpaid' | 'failed' | 'missing';
/** What an application was answered when it paid: the preimage, that it failed, or that the call was refused. */
type Paid = { readonly preimage: string } | 'failed' | 'refused';

/** An application of a client with {@link GRANT}, in words that both protocols share. Amounts are in sats. */
interface App {
  makes(amount: number, description: string): Promise<OutsideInvoice>;
  pays(invoice: string, amount?: number): Promise<Paid>;
  state(hash: string): Promise<State>;
  /** The last payments that were paid: hash and sats. */
  lists(): Promise<readonly (readonly [hash: string, amount: number])[]>;
  /** The hashes of the payments that it was told to have received. */
  told(): readonly string[];
  balance(): Promise<number>;
  close(): void;
}

/** The sidecar before the first node of a network, with both ways for applications. */
interface World {
  readonly sidecar: NodeSidecar;
  readonly relay: ReturnType<typeof startNostrRelay>;
  readonly phoenixd: string;
}

/** An application by Nostr Wallet Connect. */
async function overNostr({ sidecar, relay }: World) {
  const nwc = { relays: [relay.url] };
  const app = nwcApp(
    (await sidecar.post('/v2/node/create_client', { ...GRANT, nwc })).nwc_uri,
    relay,
  );
  await until(() => app.info(), 'the application is told what it may do');
  const paid = ({ result, error }: Body): Paid => {
    if (error === null) return { preimage: result.preimage };
    return error.code === 'PAYMENT_FAILED' ? 'failed' : 'refused';
  };
  const states: Readonly<Record<string, State>> = { settled: 'paid', failed: 'failed' };
  return {
    ...app,
    async makes(amount: number, description: string) {
      const { result } = await app.ask('make_invoice', { amount: amount * 1000, description });
      return { invoice: result.invoice, hash: result.payment_hash };
    },
    pays: async (invoice: string, amount?: number) =>
      paid(await app.ask('pay_invoice', { invoice, ...(amount && { amount: amount * 1000 }) })),
    async state(hash: string) {
      const { result } = await app.ask('lookup_invoice', { payment_hash: hash });
      return result === null ? 'missing' : (states[result.state] ?? 'unpaid');
    },
    async lists() {
      const { result } = await app.ask('list_transactions', {});
      return result.transactions.map((one: Body) => [one.payment_hash, one.amount / 1000]);
    },
    told: () =>
      app
        .notifications()
        .filter(({ notification_type: type }) => type === 'payment_received')
        .map(({ notification }) => notification.payment_hash),
    balance: async () => (await app.ask('get_balance')).result.balance / 1000,
    close: () => undefined,
  } satisfies App;
}

/** An application by phoenixd's API. */
async function overPhoenixd({ sidecar, phoenixd }: World) {
  const { client_credentials } = await sidecar.post('/v2/node/create_client', GRANT);
  const headers = {
    authorization: `Basic ${Buffer.from(`:${client_credentials}`).toString('base64')}`,
  };
  const call = async (path: string, form?: Readonly<Record<string, string>>) => {
    const body = form ? new URLSearchParams(form) : null;
    const init = { method: form ? 'POST' : 'GET', headers, body };
    const response = await fetch(`http://${phoenixd}/${path}`, init);
    const text = await response.text();
    const isJson = response.headers.get('content-type') === 'application/json';
    return { status: response.status, body: (isJson ? JSON.parse(text) : text) as Body };
  };
  const told: string[] = [];
  const socket = new WebSocket(`ws://${phoenixd}/websocket`, { headers });
  socket.onmessage = ({ data }) => told.push(JSON.parse(String(data)).paymentHash);
  await until(() => socket.readyState === WebSocket.OPEN, 'the websocket is open');
  const app: App = {
    async makes(amount, description) {
      const { body } = await call('createinvoice', { amountSat: `${amount}`, description });
      return { invoice: body.serialized, hash: body.paymentHash };
    },
    async pays(invoice, amount) {
      const { status, body } = await call('payinvoice', {
        ...{ invoice, ...(amount && { amountSat: `${amount}` }) },
      });
      if (status !== 200) return 'refused';
      return body.reason ? 'failed' : { preimage: body.paymentPreimage };
    },
    async state(hash) {
      const received = await call(`payments/incoming/${hash}`);
      const { status, body } =
        received.status === 200 ? received : await call(`payments/outgoingbyhash/${hash}`);
      if (status !== 200) return 'missing';
      if (body.isPaid) return 'paid';
      return body.completedAt ? 'failed' : 'unpaid';
    },
    async lists() {
      const received = (await call('payments/incoming')).body;
      const sent = (await call('payments/outgoing')).body;
      return [...received, ...sent]
        .filter(({ isPaid }) => isPaid)
        .map((one) => [one.paymentHash, one.receivedSat ?? one.sent - one.fees / 1000]);
    },
    told: () => told,
    balance: async () => (await call('getbalance')).body.balanceSat,
    close: () => socket.close(),
  };
  return { ...app, call };
}

const PROTOCOLS = [
  ['Nostr Wallet Connect', overNostr],
  ["phoenixd's API", overPhoenixd],
] as const;

describeKinds('applications', (network, { title, of }) => {
  let world: World;
  beforeAll(async () => {
    const relay = startNostrRelay();
    const phoenixd = `127.0.0.1:${freePort()}`;
    const sidecar = await startNodeSidecar([
      ...['--client-credentials', await network().alice.connect()],
      ...['--nwc-relay', relay.url, '--phoenixd-listen-addr', phoenixd],
    ]);
    world = { sidecar, relay, phoenixd };
  });
  afterAll(async () => {
    await world?.sidecar.close();
    world?.relay.stop();
  });

  const hashOf = (preimage: string) =>
    createHash('sha256').update(Buffer.from(preimage, 'hex')).digest('hex');
  const restart = async () => {
    await world.sidecar.kill();
    await world.sidecar.start();
  };
  /** What a payment by an invoice of the node beside is answered. */
  const expectPaid = (paid: Paid, hash: string) =>
    expect(typeof paid === 'string' ? paid : hashOf(paid.preimage)).toBe(hash);

  for (const [protocol, open] of PROTOCOLS) {
    describe(`by ${protocol}`, () => {
      let app: App;
      beforeAll(async () => {
        app = await open(world);
      });
      afterAll(() => app?.close());

      test(`${title} receives: the application is told once, looks it up and lists it`, async () => {
        const { invoice, hash } = await app.makes(700, 'tea & cake');
        expect(await app.state(hash)).toBe('unpaid');
        expect(await network().bob.pays(invoice)).toBe(true);
        await until(() => app.told().includes(hash), 'the application is told');
        expect(await app.state(hash)).toBe('paid');
        expect(await app.lists()).toContainEqual([hash, 700]);
        expect(app.told().filter((one) => one === hash)).toHaveLength(1);
      });

      test(`${title} pays: an invoice, one without an amount, and each once`, async () => {
        const { alice, bob } = network();
        const fixed = await bob.invoice({ amountMsat: 321_000 });
        expectPaid(await app.pays(fixed.invoice), fixed.hash);
        const open = await bob.invoice({ amountMsat: null });
        expectPaid(await app.pays(open.invoice, 123), open.hash);
        for (const { hash } of [fixed, open]) expect(await app.state(hash)).toBe('paid');
        expect(await app.lists()).toContainEqual([fixed.hash, 321]);
        expect(await app.lists()).toContainEqual([open.hash, 123]);
        await app.pays(fixed.invoice);
        expect(await alice.attempts(fixed.hash)).toEqual(['complete']);
      });

      test(`what the payee of ${title} refuses has failed, and what never was is missing`, async () => {
        const { invoice, hash } = await network().bob.invoice({ amountMsat: 45_000 });
        await network().bob.cancel(hash);
        expect(await app.pays(invoice)).toBe('failed');
        expect(await app.state(hash)).toBe('failed');
        expect(await app.state('ab'.repeat(32))).toBe('missing');
      });

      test(`more than the budget is refused before ${title} is asked`, async () => {
        const { invoice, hash } = await network().bob.invoice({ amountMsat: 5_000_000 });
        expect(await app.pays(invoice)).toBe('refused');
        expect(await network().alice.attempts(hash)).toEqual([]);
        expect(await app.state(hash)).toBe('missing');
      });

      test(`the balance is what ${title} can send over Lightning`, async () => {
        const { lightning_max_sendable_balance } = await world.sidecar.get('/v2/node/node_info');
        expect(await app.balance()).toBe(Math.floor(Number(lightning_max_sendable_balance)));
      });
    });
  }

  test('a payment that is held is pending over a kill, then told once it is known, and paid once', async () => {
    const { alice, bob } = network();
    const [app, shop] = [await overNostr(world), await overPhoenixd(world)];
    const [asked, bought] = [await bob.holds('55000'), await bob.holds('56000')];
    const event = app.eventOf('pay_invoice', { invoice: asked.invoice });
    app.send(event);
    const lost = shop.pays(bought.invoice).catch(() => 'lost');
    await Promise.all([asked.accepted(), bought.accepted()]);
    await restart();
    await lost;
    for (const { hash } of [asked, bought]) expect(await shop.state(hash)).toBe('unpaid');
    app.send(event);
    const repeat = shop.pays(bought.invoice);
    expect(app.answersTo(event)).toEqual([]);
    for (const one of [asked, bought]) await one.settle();
    expectPaid((await app.answered(event))[0]?.result, asked.hash);
    expectPaid(await repeat, bought.hash);
    app.send(event);
    expectPaid(await shop.pays(bought.invoice), bought.hash);
    for (const { hash } of [asked, bought]) {
      expect(await alice.attempts(hash)).toEqual(['complete']);
    }
    expect(app.answersTo(event)).toHaveLength(1);
    shop.close();
  });

  test('what was settled while the sidecar was down is answered, though the relay has forgotten the request', async () => {
    const app = await overNostr(world);
    const held = await network().bob.holds('57000');
    const event = app.eventOf('pay_invoice', { invoice: held.invoice });
    app.send(event);
    await held.accepted();
    await world.sidecar.kill();
    world.relay.kept.splice(0);
    await held.settle();
    await world.sidecar.start();
    expectPaid((await app.answered(event))[0]?.result, held.hash);
    expect(await network().alice.attempts(held.hash)).toEqual(['complete']);
  });

  test(`over Nostr ${title} has what it can: keysend and hold invoices`, async () => {
    const app = await overNostr(world);
    const { bob } = network();
    const methods = app.info()?.content.split(' ');
    const [can, cannot] = of({ lnd: () => [true, 'ok'], cln: () => [false, 'NOT_IMPLEMENTED'] });
    for (const method of ['pay_keysend', 'make_hold_invoice', 'settle_hold_invoice']) {
      expect([method, methods?.includes(method)]).toEqual([method, can]);
    }
    const codeOf = ({ error }: Body) => error?.code ?? 'ok';
    const gift = { pubkey: bob.pubkey, amount: 77_000 };
    expect(codeOf(await app.ask('pay_keysend', gift))).toBe(cannot);
    const preimage = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex');
    const payment_hash = hashOf(preimage);
    const made = await app.ask('make_hold_invoice', { amount: 66_000, payment_hash });
    expect(codeOf(made)).toBe(cannot);
    if (!can) return;
    const paying = bob.pays(made.result.invoice);
    const typesOf = () =>
      app
        .notifications()
        .filter(({ notification }) => notification.payment_hash === payment_hash)
        .map(({ notification_type }) => notification_type);
    await until(() => typesOf().length > 0, 'the application is told that it is held');
    expect(codeOf(await app.ask('settle_hold_invoice', { preimage }))).toBe('ok');
    expect(await paying).toBe(true);
    await until(() => typesOf().length > 1, 'the application is told that it has arrived');
    expect(typesOf()).toEqual(['hold_invoice_accepted', 'payment_received']);
    const other = hashOf(payment_hash);
    const back = await app.ask('make_hold_invoice', { amount: 65_000, payment_hash: other });
    const paid = bob.pays(back.result.invoice);
    const isHeld = async () =>
      (await app.ask('lookup_invoice', { payment_hash: other })).result?.state === 'accepted';
    await until(isHeld, 'it is held');
    expect(codeOf(await app.ask('cancel_hold_invoice', { payment_hash: other }))).toBe('ok');
    expect(await paid).toBe(false);
  });

  test(`by phoenixd's API ${title} has offers, or 501 says that it has none`, async () => {
    const shop = await overPhoenixd(world);
    const { bob } = network();
    const wanted = of({ lnd: () => 501, cln: () => 200 });
    const { status, body: offer } = await shop.call('getoffer');
    expect(status).toBe(wanted);
    expect((await shop.call('createoffer', { amountSat: '9', description: 'tea' })).status).toBe(
      wanted,
    );
    if (bob.offer === null) return;
    expect(await bob.pays(offer, '88000')).toBe(true);
    await until(() => shop.told().length === 1, 'the shop is told');
    const form = { offer: (await bob.offer('tip')).offer, amountSat: '87', externalId: 'tip 1' };
    const paid = await shop.call('payoffer', form);
    expect(paid).toMatchObject({ status: 200, body: { recipientAmountSat: 87 } });
    expect((await shop.call('payoffer', form)).body.paymentHash).toBe(paid.body.paymentHash);
    expect(await shop.lists()).toContainEqual([paid.body.paymentHash, 87]);
    expect(await shop.lists()).toContainEqual([shop.told()[0] ?? '', 88]);
    shop.close();
  });
});
