import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { Body } from '../support/requests.ts';
import { SLOW_TEST_MS, waitUntil } from '../support/until.ts';
import { connectLnd } from './connect.ts';
import { describeNetwork } from './harness/index.ts';
import { type NodeSidecar, startNodeSidecar } from './node-sidecar.ts';
import { type NoticeReceiver, startNoticeReceiver } from './notices.ts';
import { outsider } from './outsider.ts';

setDefaultTimeout(SLOW_TEST_MS);

describeNetwork('faults between the sidecar and LND', (network) => {
  let sidecar: NodeSidecar;
  let notices: NoticeReceiver;
  beforeAll(async () => {
    notices = startNoticeReceiver();
    sidecar = await startNodeSidecar([
      '--client-credentials',
      await connectLnd(network().alice),
      ...notices.flags,
    ]);
  });
  afterAll(async () => {
    await sidecar?.close();
    await notices?.stop();
  });

  const bob = () => outsider(network().bob);
  const restartAlice = async () => {
    await network().alice.stop();
    await network().alice.start();
    await network().channelUsable();
  };
  const inFlight = async (amountMsat: string) => {
    const hold = await bob().holds(amountMsat);
    const answer = sidecar.post('/v2/node/pay_invoice', { invoice: hold.invoice });
    answer.catch(() => undefined);
    await hold.accepted();
    return { hold, answer };
  };
  const outcome = async (invoice: string) => sidecar.post('/v2/node/pay_invoice', { invoice });
  /** The payment after a few seconds of waiting. */
  const soon = async (invoice: string) => {
    const headers = { prefer: 'wait=5' };
    const { body } = await sidecar.call('POST', '/v2/node/pay_invoice', {
      body: { invoice },
      headers,
    });
    return body;
  };

  test('a payment that settles while LND restarts is completed, and the waiting request hears of it', async () => {
    const { hold, answer } = await inFlight('31000');
    await network().alice.stop();
    await hold.settle();
    await network().alice.start();
    const paid = await answer;
    expect(paid).toMatchObject({ status: 'completed', preimage: hold.preimage });
    await notices.delivered(paid.index, 'completed');
  });

  test('a payment in flight is never failed while LND is away, and fails only when LND says so', async () => {
    const { hold, answer } = await inFlight('32000');
    await network().alice.stop();
    const early = await sidecar.call('POST', '/v2/node/pay_invoice', {
      body: { invoice: hold.invoice },
      headers: { prefer: 'respond-async' },
    });
    expect(early.body.status).toBe('pending');
    await network().alice.start();
    await network().channelUsable();
    await hold.cancel();
    const failed = await answer;
    expect(failed).toMatchObject({ index: early.body.index, status: 'failed' });
    await notices.delivered(failed.index, 'failed');
  });

  test('the sidecar killed while a payment is in flight finds its end after the start and delivers it', async () => {
    const { hold } = await inFlight('33000');
    await sidecar.kill();
    await hold.settle();
    await sidecar.start();
    const paid = await outcome(hold.invoice);
    expect(paid).toMatchObject({ status: 'completed', preimage: hold.preimage });
    await notices.delivered(paid.index, 'completed');
  });

  test('invoices paid while the sidecar is down are delivered when it is back, once each by id', async () => {
    const invoices = await Promise.all(
      ['1', '2', '3'].map((amount) => sidecar.post('/v2/node/create_invoice', { amount })),
    );
    await sidecar.kill();
    for (const { invoice } of invoices) expect(await bob().pays(invoice)).toBe('SUCCEEDED');
    await sidecar.start();
    for (const { index } of invoices) {
      await notices.delivered(index, 'completed');
    }
  });

  test('an invoice canceled at LND behind our back is failed when next looked at', async () => {
    const made = await sidecar.post('/v2/node/create_invoice', { amount: '4' });
    await outsider(network().alice).cancel(made.payment_hash);
    expect(await sidecar.get('/v2/node/payment', { index: made.index })).toMatchObject({
      status: 'failed',
      status_msg: 'canceled',
    });
    await notices.delivered(made.index, 'failed');
  });

  test('waits go on over a restart of LND, and hear what comes after', async () => {
    const made = await sidecar.post('/v2/node/create_invoice', { amount: '5' });
    const waiting = sidecar.get('/v2/node/wait_for_payment', {
      index: made.index,
      timeout_secs: '90',
    });
    await restartAlice();
    expect(await bob().pays(made.invoice)).toBe('SUCCEEDED');
    expect(await waiting).toMatchObject({ status: 'completed' });
  });

  test('without LND every call that needs it is error 3, health says so, and the cache still answers', async () => {
    await sidecar.put('/v2/node/sync_payments');
    await network().alice.stop();
    const answer = await sidecar.call('GET', '/v2/node/node_info');
    expect(answer.status).toBe(503);
    expect(answer.body.code).toBe(3);
    expect((await sidecar.get('/v2/health')).status).toMatch(/did not answer/);
    const { payments } = await sidecar.get('/v2/node/list_payments', { filter: 'completed' });
    expect(payments.length).toBeGreaterThan(3);
    await network().alice.start();
    await network().channelUsable();
    expect((await sidecar.get('/v2/node/node_info')).num_usable_channels).toBe(1);
    expect((await sidecar.get('/v2/health')).status).toBe('ok');
  });

  test('a connection that died with LND unnoticed costs no invoice', async () => {
    await sidecar.post('/v2/node/create_invoice', { amount: '1' });
    await restartAlice();
    for (const amount of ['1', '2', '3']) await sidecar.post('/v2/node/create_invoice', { amount });
  });

  test('a send that was cut off before LND had it is not paid twice when it is tried again', async () => {
    await network().alice.stop();
    const { invoice } = await bob().invoice({ value: '6' });
    const refused = await sidecar.call('POST', '/v2/node/pay_invoice', { body: { invoice } });
    expect(refused.body).toMatchObject({ code: 3, data: { sent: 'no' } });
    await network().alice.start();
    await network().channelUsable();
    const paid = await outcome(invoice);
    expect(paid.status).toBe('completed');
    expect(await outcome(invoice)).toEqual(paid);
  });

  test('killed again and again under payments in both directions, the sidecar agrees with LND on every one', async () => {
    const paid: string[] = [];
    const received: { index: string; invoice: string }[] = [];
    for (let round = 0; round < 6; round++) {
      const invoices = await Promise.all(
        ['11', '12', '13'].map((value) => bob().invoice({ value })),
      );
      const mine = await Promise.all(
        ['21', '22'].map((amount) => sidecar.post('/v2/node/create_invoice', { amount })),
      );
      received.push(...mine);
      paid.push(...invoices.map(({ invoice }) => invoice));
      const load = Promise.allSettled([
        ...invoices.map(({ invoice }) =>
          sidecar.call('POST', '/v2/node/pay_invoice', { body: { invoice } }),
        ),
        ...mine.map(({ invoice }) => bob().pays(invoice)),
      ]);
      await Bun.sleep(20 + round * 30);
      await sidecar.kill();
      await load;
      await sidecar.start();
    }
    const payments = new Map<string, Body>();
    // A payment whose request had not left is given up at the start, and is paid now. One that was killed just before
    // its request left stays pending, because the request may have left.
    for (const invoice of paid) payments.set(invoice, await soon(invoice));
    for (const { index } of received) {
      await waitUntil('the invoice is completed', async () => {
        const payment = await sidecar.get('/v2/node/payment', { index });
        return payment.status === 'completed';
      });
      await notices.delivered(index, 'completed');
    }
    const lnd = await network().alice.rest<{
      payments: { status: string; payment_request: string; payment_preimage: string }[];
    }>('GET', '/v1/payments?include_incomplete=true');
    await sidecar.put('/v2/node/sync_payments');
    const rows: Body[] = (
      await sidecar.get('/v2/node/list_payments', { filter: 'all', limit: '1000' })
    ).payments;
    for (const [invoice, payment] of payments) {
      const attempts = lnd.payments.filter(({ payment_request }) => payment_request === invoice);
      const own = rows.filter((row) => row.invoice === invoice);
      expect(own.map(({ index }) => index)).toEqual([payment.index]);
      expect(own.map(({ status }) => status)).toEqual([payment.status]);
      if (payment.status === 'pending') {
        // The node cannot show that LND never got the request before the invoice has been expired for ten minutes.
        expect(attempts).toEqual([]);
        expect((await soon(invoice)).index).toBe(payment.index);
        expect(notices.byIndex.has(payment.index)).toBe(false);
        continue;
      }
      expect(payment.status).toBe('completed');
      expect(attempts).toMatchObject([{ status: 'SUCCEEDED', payment_preimage: payment.preimage }]);
      await notices.delivered(payment.index, 'completed');
    }
    const unseen = [...payments.values()].filter(({ status }) => status === 'pending').length;
    console.log(`Kills on LND ${network().version}: ${unseen} of ${paid.length} sends not seen.`);
  });
});
