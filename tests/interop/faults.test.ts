import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { Fault, FaultProxy } from '../hostile/fault-proxy.ts';
import type { Body } from '../support/requests.ts';
import { SLOW_TEST_MS, waitUntil } from '../support/until.ts';
import type { Network } from './harness/index.ts';
import { behindFaultProxy, describeKinds, type RealNetwork } from './kinds.ts';
import { type NodeSidecar, paymentEnd } from './node-sidecar.ts';
import { type NoticeReceiver, startNoticed } from './notices.ts';
import { lndPayments, outsider } from './outsider.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** Longer than Core Lightning may begin new tries, and a margin. */
const GIVES_UP_WITHIN_MS = 110_000;
/** The call that pays, of each kind. */
const SEND = /^\/v1\/xpay$|^\/v2\/router\/send$/;
const PAY = '/v2/node/pay_invoice';

const CUTS: readonly [string, Fault][] = [
  ['cut', { kind: 'cut-after' }],
  ["a proxy's page", { kind: 'page', status: 502 }],
  ['garbled', { kind: 'garble' }],
];

describeKinds('faults between the sidecar and its node', sharedCases, {
  lnd: (network, shared) => lndCases(network, shared()),
  cln(_, shared) {
    const { sidecar, notices, network, early, inFlight } = shared();

    test('a payment that the receiver refuses while the sidecar is down fails, and not before its time', async () => {
      const attempts = (hash: string) => network().alice.attempts(hash);
      const { hold, key } = await inFlight('38000');
      await sidecar().kill();
      await hold.cancel();
      await waitUntil('the part failed', async () =>
        (await attempts(hold.hash)).every((status) => status === 'failed'),
      );
      await sidecar().start();
      // The node may be between two tries.
      const soon = await early(hold.invoice, key);
      expect(soon.status).toBe('pending');
      const failed = await paymentEnd(sidecar(), soon.index, GIVES_UP_WITHIN_MS);
      expect(failed).toMatchObject({ status: 'failed', preimage: null });
      expect((await early(hold.invoice, key)).index).toBe(failed.index);
      expect(await attempts(hold.hash)).toEqual(['failed']);
      await notices().delivered(failed.index, 'failed');
    });
  },
});

type Shared = ReturnType<ReturnType<typeof sharedCases>>;

function sharedCases(network: () => RealNetwork) {
  let proxy: FaultProxy;
  let sidecar: NodeSidecar;
  let notices: NoticeReceiver;
  beforeAll(async () => {
    const placed = await behindFaultProxy(network().alice);
    proxy = placed.proxy;
    ({ notices, sidecar } = await startNoticed(placed.credentials));
  });
  afterEach(() => proxy.rules());
  afterAll(async () => {
    await sidecar?.close();
    await notices?.stop();
    await proxy?.stop();
  });

  const startAlice = async () => {
    await network().alice.start();
    await network().channelUsable();
  };
  /** Sends the request and returns the payment as it is then, without waiting for its end. */
  const early = async (invoice: string, key: string | null = null): Promise<Body> => {
    const { body } = await sidecar.call('POST', PAY, {
      body: { invoice },
      headers: { prefer: 'respond-async', ...(key === null ? {} : { 'idempotency-key': key }) },
    });
    return body;
  };
  const inFlight = async (amountMsat: string) => {
    const hold = await network().bob.holds(amountMsat);
    const key = crypto.randomUUID();
    const headers = { 'idempotency-key': key };
    const body = { invoice: hold.invoice };
    const answer = sidecar.call('POST', PAY, { body, headers }).then((answered) => answered.body);
    answer.catch(() => undefined);
    await hold.accepted();
    return { hold, key, answer };
  };
  const outcome = (invoice: string) => sidecar.post(PAY, { invoice });
  /** That the payment is completed, by the one attempt of the node. */
  const isPaidOnce = async (paid: Body, hash: string) => {
    expect(paid.status).toBe('completed');
    expect(await network().alice.attempts(hash)).toEqual(['complete']);
    await notices.delivered(paid.index, 'completed');
  };
  const fault = (kind: Fault) => proxy.rules({ method: 'POST', path: SEND, nth: 1, fault: kind });

  test('the sidecar killed while a payment is in flight finds its end after the start, and delivers it once', async () => {
    const { hold, key } = await inFlight('31000');
    await sidecar.kill();
    await sidecar.start();
    const again = await early(hold.invoice, key);
    expect(again).toMatchObject({ status: 'pending', hash: hold.hash, amount: '31' });
    await hold.settle();
    const paid = await outcome(hold.invoice);
    expect(paid).toMatchObject({ index: again.index, preimage: hold.preimage, amount: '31' });
    await isPaidOnce(paid, hold.hash);
  });

  test('a payment that settles while the sidecar is down is completed after its start', async () => {
    const { hold } = await inFlight('32000');
    await sidecar.kill();
    await hold.settle();
    await sidecar.start();
    const paid = await outcome(hold.invoice);
    expect(paid.preimage).toBe(hold.preimage);
    await isPaidOnce(paid, hold.hash);
  });

  test('a payment that settles while the node restarts is completed, and the waiting request hears of it', async () => {
    const { hold, answer } = await inFlight('30000');
    await network().alice.stop();
    await hold.settle();
    await startAlice();
    const paid = await answer;
    expect(paid.preimage).toBe(hold.preimage);
    await isPaidOnce(paid, hold.hash);
  });

  test('the node killed after it was asked: the payment stays pending, and completes once', async () => {
    const { hold, key, answer } = await inFlight('33000');
    await network().alice.kill();
    const away = await early(hold.invoice, key);
    expect(away.status).toBe('pending');
    await startAlice();
    const { index } = away;
    expect(await early(hold.invoice, key)).toMatchObject({ index, status: 'pending' });
    await hold.settle();
    const paid = await answer;
    expect(paid).toMatchObject({ index, preimage: hold.preimage });
    await isPaidOnce(paid, hold.hash);
  });

  test.each(CUTS)(
    'the answer to a send %s: the payment is completed, and paid once',
    async (_, kind) => {
      fault(kind);
      const { invoice, hash } = await network().bob.invoice({ amountMsat: 34_000 });
      const key = crypto.randomUUID();
      const first = await early(invoice, key);
      expect(['pending', 'completed']).toContain(first.status);
      const paid = await outcome(invoice);
      expect(paid).toMatchObject({ index: first.index, amount: '34' });
      const path = expect.stringMatching(SEND);
      expect(proxy.fired.at(-1)).toMatchObject({ kind: kind.kind, path });
      expect((await early(invoice, key)).index).toBe(paid.index);
      await isPaidOnce(paid, hash);
    },
  );

  test('connections cut while the receiver holds: the payment stays pending until its end', async () => {
    const { hold, key, answer } = await inFlight('35000');
    proxy.drop();
    const cut = await early(hold.invoice, key);
    expect(cut.status).toBe('pending');
    await hold.settle();
    const paid = await answer;
    expect(paid.index).toBe(cut.index);
    await isPaidOnce(paid, hold.hash);
  });

  test('a request to pay that the node never got is never said to have failed while it may be paid', async () => {
    fault({ kind: 'cut-before' });
    const { invoice, hash } = await network().bob.invoice({ amountMsat: 36_000 });
    const key = crypto.randomUUID();
    const first = await early(invoice, key);
    expect(first.status).toBe('pending');
    expect(await early(invoice, key)).toMatchObject({ index: first.index, status: 'pending' });
    expect((await network().alice.attempts(hash)).length).toBeLessThanOrEqual(1);
    expect(notices.byIndex.has(first.index)).toBe(false);
  });

  test('an invoice that the operator is paying is not paid a second time', async () => {
    const { alice, bob } = network();
    const hold = await bob.holds('39000');
    const operator = alice.pays(hold.invoice);
    await hold.accepted();
    const answer = await early(hold.invoice, crypto.randomUUID());
    expect(answer).toMatchObject({ status: 'pending', hash: hold.hash });
    await hold.settle();
    await operator;
    const paid = await outcome(hold.invoice);
    expect(paid).toMatchObject({
      index: answer.index,
      status: 'completed',
      preimage: hold.preimage,
    });
    expect(await alice.attempts(hold.hash)).toEqual(['complete']);
    await sidecar.put('/v2/node/sync_payments');
    const { payments } = await sidecar.get('/v2/node/list_payments', { filter: 'all' });
    const own = payments.filter(({ hash }: { hash: string }) => hash === hold.hash);
    expect(own).toMatchObject([{ index: paid.index, status: 'completed' }]);
  });

  test('orders with several keys for one invoice make one payment', async () => {
    const { invoice, hash } = await network().bob.invoice({ amountMsat: 40_000 });
    const answers = await Promise.all([1, 2, 3].map(() => early(invoice, crypto.randomUUID())));
    const paid = await outcome(invoice);
    expect(answers.map(({ index }) => index)).toEqual(answers.map(() => paid.index));
    await isPaidOnce(paid, hash);
  });

  test('without the node nothing was sent, and the invoice is paid once it is back', async () => {
    const { invoice, hash } = await network().bob.invoice({ amountMsat: 37_000 });
    await network().alice.stop();
    const refused = await sidecar.call('POST', PAY, { body: { invoice } });
    expect(refused.body).toMatchObject({ code: 3, data: { sent: 'no' } });
    await startAlice();
    const paid = await outcome(invoice);
    expect(await outcome(invoice)).toEqual(paid);
    await isPaidOnce(paid, hash);
  });

  test('invoices paid while the sidecar is down are delivered when it is back, once each by id', async () => {
    const made = await Promise.all(
      ['1', '2', '3'].map((amount) => sidecar.post('/v2/node/create_invoice', { amount })),
    );
    await sidecar.kill();
    for (const { invoice } of made) expect(await network().bob.pays(invoice)).toBe(true);
    await sidecar.start();
    for (const { index } of made) await notices.delivered(index, 'completed');
  });

  test('waits go on over a restart of the node, and hear what comes after', async () => {
    for (const end of [network().alice.stop, network().alice.kill]) {
      const made = await sidecar.post('/v2/node/create_invoice', { amount: '5' });
      const query = { index: made.index, timeout_secs: '90' };
      const waiting = sidecar.get('/v2/node/wait_for_payment', query);
      await end();
      await startAlice();
      expect(await network().bob.pays(made.invoice)).toBe(true);
      expect(await waiting).toMatchObject({ status: 'completed' });
    }
  });

  test('without the node every call that needs it is error 3, health says so until it is back, and the cache still answers', async () => {
    await sidecar.put('/v2/node/sync_payments');
    await network().alice.stop();
    const answer = await sidecar.call('GET', '/v2/node/node_info');
    expect(answer).toMatchObject({ status: 503, body: { code: 3 } });
    expect((await sidecar.get('/v2/health')).status).toMatch(/did not answer/);
    const { payments } = await sidecar.get('/v2/node/list_payments', { filter: 'completed' });
    expect(payments.length).toBeGreaterThan(3);
    await startAlice();
    expect((await sidecar.get('/v2/node/node_info')).num_usable_channels).toBe(1);
    await waitUntil('health is ok', async () => (await sidecar.get('/v2/health')).status === 'ok');
  });

  return () => ({
    network,
    sidecar: () => sidecar,
    notices: () => notices,
    startAlice,
    early,
    inFlight,
  });
}

function lndCases(
  network: () => Network,
  { sidecar, notices, network: real, startAlice, early, inFlight }: Shared,
): void {
  const bob = () => real().bob;

  test('a payment in flight is never failed while LND is away, and fails only when LND says so', async () => {
    const { hold, answer } = await inFlight('32000');
    await network().alice.stop();
    const away = await early(hold.invoice);
    expect(away.status).toBe('pending');
    await startAlice();
    await hold.cancel();
    const failed = await answer;
    expect(failed).toMatchObject({ index: away.index, status: 'failed' });
    await notices().delivered(failed.index, 'failed');
  });

  test('an invoice canceled at LND behind our back is failed when next looked at', async () => {
    const { index, payment_hash } = await sidecar().post('/v2/node/create_invoice', {
      amount: '4',
    });
    await outsider(network().alice).cancel(payment_hash);
    expect(await sidecar().get('/v2/node/payment', { index })).toMatchObject({
      status: 'failed',
      status_msg: 'canceled',
    });
    await notices().delivered(index, 'failed');
  });

  test('a connection that died with LND unnoticed costs no invoice', async () => {
    await sidecar().post('/v2/node/create_invoice', { amount: '1' });
    await network().alice.stop();
    await startAlice();
    for (const amount of ['1', '2', '3']) {
      await sidecar().post('/v2/node/create_invoice', { amount });
    }
  });

  /** The payment after a few seconds of waiting. */
  const soon = async (invoice: string) => {
    const headers = { prefer: 'wait=5' };
    return (await sidecar().call('POST', PAY, { body: { invoice }, headers })).body;
  };

  test('killed again and again under payments in both directions, the sidecar agrees with LND on every one', async () => {
    const paid: string[] = [];
    const received: { index: string; invoice: string }[] = [];
    for (let round = 0; round < 6; round++) {
      const invoices = await Promise.all(
        ['11', '12', '13'].map((value) => bob().invoice({ amountMsat: `${value}000` })),
      );
      const mine = await Promise.all(
        ['21', '22'].map((amount) => sidecar().post('/v2/node/create_invoice', { amount })),
      );
      received.push(...mine);
      paid.push(...invoices.map(({ invoice }) => invoice));
      const load = Promise.allSettled([
        ...invoices.map(({ invoice }) => sidecar().call('POST', PAY, { body: { invoice } })),
        ...mine.map(({ invoice }) => bob().pays(invoice)),
      ]);
      await Bun.sleep(20 + round * 30);
      await sidecar().kill();
      await load;
      await sidecar().start();
    }
    const payments = new Map<string, Body>();
    // A payment whose request had not left is given up at the start, and is paid now. One that was killed just before
    // its request left stays pending, because the request may have left.
    for (const invoice of paid) payments.set(invoice, await soon(invoice));
    for (const { index } of received) {
      await waitUntil('the invoice is completed', async () => {
        const payment = await sidecar().get('/v2/node/payment', { index });
        return payment.status === 'completed';
      });
      await notices().delivered(index, 'completed');
    }
    // What LND did not show may have been sent again meanwhile (docs/decisions.md 143).
    for (const invoice of payments.keys()) payments.set(invoice, await early(invoice));
    const listed = await lndPayments(network().alice);
    await sidecar().put('/v2/node/sync_payments');
    const rows: Body[] = (
      await sidecar().get('/v2/node/list_payments', { filter: 'all', limit: '1000' })
    ).payments;
    for (const [invoice, payment] of payments) {
      const attempts = listed.filter(({ payment_request }) => payment_request === invoice);
      const own = rows.filter((row) => row.invoice === invoice);
      expect(own.map(({ index }) => index)).toEqual([payment.index]);
      expect(own.map(({ status }) => status)).toEqual([payment.status]);
      if (payment.status === 'pending') {
        // The node cannot show that LND never got the request before the invoice has been expired for ten minutes.
        expect(attempts).toEqual([]);
        expect(notices().byIndex.has(payment.index)).toBe(false);
        expect((await soon(invoice)).index).toBe(payment.index);
        continue;
      }
      expect(payment.status).toBe('completed');
      expect(attempts).toMatchObject([{ status: 'SUCCEEDED', payment_preimage: payment.preimage }]);
      await notices().delivered(payment.index, 'completed');
    }
    const unseen = [...payments.values()].filter(({ status }) => status === 'pending').length;
    console.log(`Kills on LND ${network().version}: ${unseen} of ${paid.length} sends not seen.`);
  });
}
