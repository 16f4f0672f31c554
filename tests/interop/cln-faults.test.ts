import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { Fault, FaultProxy } from '../hostile/fault-proxy.ts';
import { SLOW_TEST_MS, waitUntil } from '../support/until.ts';
import { behindFaultProxy } from './cln-node-world.ts';
import { clnOutsider } from './cln-outsider.ts';
import { describeClnNetwork } from './harness/index.ts';
import { type NodeSidecar, startNodeSidecar } from './node-sidecar.ts';
import { type NoticeReceiver, startNoticeReceiver } from './notices.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** Longer than the node may begin new tries, and a margin. */
const GIVES_UP_WITHIN_MS = 110_000;

describeClnNetwork('faults between the sidecar and Core Lightning', (network) => {
  let proxy: FaultProxy;
  let sidecar: NodeSidecar;
  let notices: NoticeReceiver;
  beforeAll(async () => {
    const placed = await behindFaultProxy(network().alice);
    proxy = placed.proxy;
    notices = startNoticeReceiver();
    sidecar = await startNodeSidecar([
      '--client-credentials',
      placed.credentials,
      ...notices.flags,
    ]);
  });
  afterEach(() => proxy.rules());
  afterAll(async () => {
    await sidecar?.close();
    await notices?.stop();
    await proxy?.stop();
  });

  const bob = () => clnOutsider(network().bob);
  const restartAlice = async () => {
    await network().alice.start();
    await network().channelUsable();
  };
  /** Sends the request and does not wait for the payment's end. */
  const early = (invoice: string, key: string | null = null) =>
    sidecar.call('POST', '/v2/node/pay_invoice', {
      body: { invoice },
      headers: {
        prefer: 'respond-async',
        ...(key === null ? {} : { 'idempotency-key': key }),
      },
    });
  const inFlight = async (amountMsat: string) => {
    const hold = await bob().holds(amountMsat);
    const key = crypto.randomUUID();
    const headers = { 'idempotency-key': key };
    const body = { invoice: hold.invoice };
    const answer = sidecar.call('POST', '/v2/node/pay_invoice', { body, headers });
    answer.catch(() => undefined);
    await hold.accepted();
    return { hold, key, answer };
  };
  const outcome = (invoice: string) => sidecar.post('/v2/node/pay_invoice', { invoice });
  /** The attempts of the node to pay the hash, with their states. */
  const attempts = async (payment_hash: string) => {
    const { payments } = await network().alice.rpc<{
      payments: { groupid: number; status: string }[];
    }>('listsendpays', { payment_hash });
    return payments.map(({ status }) => status);
  };
  const fault = (method: string, kind: Fault) =>
    proxy.rules({ method: 'POST', path: new RegExp(`^/v1/${method}$`), nth: 1, fault: kind });

  test('the sidecar killed while xpay runs finds the end after its start, and delivers it once', async () => {
    const { hold, key } = await inFlight('31000');
    await sidecar.kill();
    await sidecar.start();
    const again = await early(hold.invoice, key);
    expect(again.body).toMatchObject({ status: 'pending', hash: hold.hash, amount: '31' });
    await hold.settle();
    const paid = await outcome(hold.invoice);
    expect(paid).toMatchObject({
      index: again.body.index,
      status: 'completed',
      preimage: hold.preimage,
      amount: '31',
    });
    expect(await attempts(hold.hash)).toEqual(['complete']);
    await notices.delivered(paid.index, 'completed');
  });

  test('a payment that settles while the sidecar is down is completed after its start', async () => {
    const { hold } = await inFlight('32000');
    await sidecar.kill();
    await hold.settle();
    await sidecar.start();
    const paid = await outcome(hold.invoice);
    expect(paid).toMatchObject({ status: 'completed', preimage: hold.preimage });
    expect(await attempts(hold.hash)).toEqual(['complete']);
    await notices.delivered(paid.index, 'completed');
  });

  test('lightningd killed after xpay was asked: the payment stays pending, and completes once', async () => {
    const { hold, key, answer } = await inFlight('33000');
    await network().alice.kill();
    const away = await early(hold.invoice, key);
    expect(away.body.status).toBe('pending');
    await restartAlice();
    const back = await early(hold.invoice, key);
    expect(back.body).toMatchObject({ index: away.body.index, status: 'pending' });
    await hold.settle();
    const { body: paid } = await answer;
    expect(paid).toMatchObject({
      index: away.body.index,
      status: 'completed',
      preimage: hold.preimage,
    });
    expect(await attempts(hold.hash)).toEqual(['complete']);
    await notices.delivered(paid.index, 'completed');
  });

  const CUTS: readonly [string, Fault][] = [
    ['cut', { kind: 'cut-after' }],
    ["a proxy's page", { kind: 'page', status: 502 }],
    ['garbled', { kind: 'garble' }],
  ];
  test.each(CUTS)(
    'the answer of xpay %s: the payment is completed, and paid once',
    async (_, kind) => {
      fault('xpay', kind);
      const { invoice, hash } = await bob().invoice({ amount_msat: 34_000 });
      const key = crypto.randomUUID();
      const first = await early(invoice, key);
      expect(['pending', 'completed']).toContain(first.body.status);
      const paid = await outcome(invoice);
      expect(paid).toMatchObject({ index: first.body.index, status: 'completed', amount: '34' });
      expect(proxy.fired.at(-1)).toMatchObject({ kind: kind.kind, path: '/v1/xpay' });
      expect((await early(invoice, key)).body.index).toBe(paid.index);
      expect(await attempts(hash)).toEqual(['complete']);
      await notices.delivered(paid.index, 'completed');
    },
  );

  test('connections cut while the receiver holds: the payment stays pending until its end', async () => {
    const { hold, key, answer } = await inFlight('35000');
    proxy.drop();
    const cut = await early(hold.invoice, key);
    expect(cut.body.status).toBe('pending');
    await hold.settle();
    const { body: paid } = await answer;
    expect(paid).toMatchObject({ index: cut.body.index, status: 'completed' });
    expect(await attempts(hold.hash)).toEqual(['complete']);
  });

  test('a request for xpay that the node never got is never said to have failed while it may be paid', async () => {
    fault('xpay', { kind: 'cut-before' });
    const { invoice, hash } = await bob().invoice({ amount_msat: 36_000 });
    const key = crypto.randomUUID();
    const first = await early(invoice, key);
    expect(first.body.status).toBe('pending');
    const again = await early(invoice, key);
    expect(again.body).toMatchObject({ index: first.body.index, status: 'pending' });
    expect((await attempts(hash)).length).toBeLessThanOrEqual(1);
    expect(notices.byIndex.has(first.body.index)).toBe(false);
  });

  test('a payment that the receiver refuses while the sidecar is down fails, and not before its time', async () => {
    const { hold, key } = await inFlight('38000');
    await sidecar.kill();
    await hold.cancel();
    await waitUntil('the part failed', async () =>
      (await attempts(hold.hash)).every((status) => status === 'failed'),
    );
    await sidecar.start();
    // The node may be between two tries.
    const soon = await early(hold.invoice, key);
    expect(soon.body.status).toBe('pending');
    const failed = await waitUntil(
      'the payment failed',
      async () => {
        const payment = await sidecar.get('/v2/node/payment', { index: soon.body.index });
        return payment.status !== 'pending' && payment;
      },
      GIVES_UP_WITHIN_MS,
    );
    expect(failed).toMatchObject({ status: 'failed', preimage: null });
    expect((await early(hold.invoice, key)).body.index).toBe(failed.index);
    expect(await attempts(hold.hash)).toEqual(['failed']);
    await notices.delivered(failed.index, 'failed');
  });

  test('an invoice that the operator is paying is not paid a second time', async () => {
    const hold = await bob().holds('39000');
    const operator = network().alice.rpc('xpay', { invstring: hold.invoice });
    await hold.accepted();
    const answer = await early(hold.invoice, crypto.randomUUID());
    expect(answer.body).toMatchObject({ status: 'pending', hash: hold.hash });
    await hold.settle();
    await operator;
    const paid = await outcome(hold.invoice);
    expect(paid).toMatchObject({
      index: answer.body.index,
      status: 'completed',
      preimage: hold.preimage,
    });
    expect(await attempts(hold.hash)).toEqual(['complete']);
    await sidecar.put('/v2/node/sync_payments');
    const { payments } = await sidecar.get('/v2/node/list_payments', { filter: 'all' });
    const own = payments.filter(({ hash }: { hash: string }) => hash === hold.hash);
    expect(own).toMatchObject([{ index: paid.index, status: 'completed' }]);
  });

  test('orders with several keys for one invoice make one payment', async () => {
    const { invoice, hash } = await bob().invoice({ amount_msat: 40_000 });
    const answers = await Promise.all([1, 2, 3].map(() => early(invoice, crypto.randomUUID())));
    const paid = await outcome(invoice);
    expect(paid.status).toBe('completed');
    expect(answers.map(({ body }) => body.index)).toEqual(answers.map(() => paid.index));
    expect(await attempts(hash)).toEqual(['complete']);
  });

  test('without lightningd nothing was sent, and the invoice is paid once it is back', async () => {
    const { invoice, hash } = await bob().invoice({ amount_msat: 37_000 });
    await network().alice.stop();
    const refused = await sidecar.call('POST', '/v2/node/pay_invoice', { body: { invoice } });
    expect(refused.body).toMatchObject({ code: 3, data: { sent: 'no' } });
    await restartAlice();
    const paid = await outcome(invoice);
    expect(paid.status).toBe('completed');
    expect(await outcome(invoice)).toEqual(paid);
    expect(await attempts(hash)).toEqual(['complete']);
  });

  test('invoices paid while the sidecar is down are delivered when it is back', async () => {
    const made = await Promise.all(
      ['1', '2', '3'].map((amount) => sidecar.post('/v2/node/create_invoice', { amount })),
    );
    await sidecar.kill();
    for (const { invoice } of made) expect(await bob().pays(invoice)).toBe(true);
    await sidecar.start();
    for (const { index } of made) await notices.delivered(index, 'completed');
  });

  test('waits go on over a restart of lightningd, and hear what comes after', async () => {
    const made = await sidecar.post('/v2/node/create_invoice', { amount: '5' });
    const query = { index: made.index, timeout_secs: '90' };
    const waiting = sidecar.get('/v2/node/wait_for_payment', query);
    await network().alice.kill();
    await restartAlice();
    expect(await bob().pays(made.invoice)).toBe(true);
    expect(await waiting).toMatchObject({ status: 'completed' });
  });

  test('without lightningd health says so, and says when it is back', async () => {
    await network().alice.stop();
    const answer = await sidecar.call('GET', '/v2/node/node_info');
    expect(answer).toMatchObject({ status: 503, body: { code: 3 } });
    expect((await sidecar.get('/v2/health')).status).toMatch(/did not answer/);
    await restartAlice();
    expect((await sidecar.get('/v2/node/node_info')).num_usable_channels).toBe(1);
    await waitUntil('health is ok', async () => (await sidecar.get('/v2/health')).status === 'ok');
  });
});
