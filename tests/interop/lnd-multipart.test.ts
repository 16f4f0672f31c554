import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { sha256 } from '@noble/hashes/sha2.js';
import { hex } from '@scure/base';
import type { Body } from '../support/requests.ts';
import { SLOW_TEST_MS, waitUntil } from '../support/until.ts';
import { commitmentsSettled } from './commitments.ts';
import { connectLnd } from './connect.ts';
import { describeNetwork, type LndNode } from './harness/index.ts';
import { lndSteps } from './harness/lnd-steps.ts';
import { type NodeSidecar, paymentEnd } from './node-sidecar.ts';
import { type NoticeReceiver, startNoticed } from './notices.ts';
import { type LndPayment, lndPayments, outsider } from './outsider.ts';

setDefaultTimeout(2 * SLOW_TEST_MS);

describeNetwork('payments in parts on LND', (network) => {
  let sidecar: NodeSidecar;
  let notices: NoticeReceiver;
  let carol: LndNode;
  beforeAll(async () => {
    await network().addChannel();
    carol = await network().addBeyondBob('carol');
    ({ notices, sidecar } = await startNoticed(await connectLnd(network().alice)));
  });
  afterAll(async () => {
    await sidecar?.close();
    await notices?.stop();
  });

  /** An amount that two channels of the node carry together, and neither alone. */
  async function amountForTwo(from: LndNode, to: LndNode): Promise<number> {
    await commitmentsSettled([network().alice, network().bob, carol].map(lndSteps));
    const { channels } = await from.rest<{
      channels: { remote_pubkey: string; local_balance: string }[];
    }>('GET', '/v1/channels');
    const each = channels
      .filter(({ remote_pubkey }) => remote_pubkey === to.pubkey)
      .map(({ local_balance }) => Number(local_balance));
    const most = Math.max(...each);
    const others = each.reduce((sum, one) => sum + one, 0) - most;
    return Math.floor(most + others / 3);
  }

  async function budgetClient(): Promise<string> {
    const { client_credentials } = await sidecar.post('/v2/node/create_client', {
      scopes: ['full'],
      budget: { amount: '40000000', period: 'total' },
    });
    return client_credentials;
  }
  const spent = async (credentials: string) =>
    (await sidecar.get('/v2/node/client_info', {}, credentials)).budget.spent;
  /** The payment as LND lists it, once it has ended, with the number of parts that arrived. */
  async function listed(node: LndNode, hash: string): Promise<LndPayment & { parts: number }> {
    const payment = await waitUntil('LND lists the end of the payment', async () => {
      const [found] = await lndPayments(node, hash);
      return found !== undefined && found.status !== 'IN_FLIGHT' && found;
    });
    const parts = payment.htlcs.filter(({ status }) => status === 'SUCCEEDED').length;
    return { ...payment, parts };
  }
  const endOf = (index: string) => paymentEnd(sidecar, index);
  async function rowsOf(hash: string): Promise<Body[]> {
    await sidecar.put('/v2/node/sync_payments');
    const { payments } = await sidecar.get('/v2/node/list_payments', { filter: 'all' });
    return payments.filter((one: Body) => one.hash === hash);
  }
  /** Begins to pay an invoice of bob that needs two channels and that he holds. */
  async function held() {
    const credentials = await budgetClient();
    const { alice, bob } = network();
    const amount = await amountForTwo(alice, bob);
    const hold = await outsider(bob).holds(`${amount}000`);
    const { body } = await sidecar.call('POST', '/v2/node/pay_invoice', {
      body: { invoice: hold.invoice },
      headers: { prefer: 'respond-async' },
      credentials,
    });
    await hold.accepted();
    return { hold, amount, credentials, index: body.index as string };
  }

  test('a payment that LND splits is one payment with all parts and fees, and costs a budget just that', async () => {
    const credentials = await budgetClient();
    const amount = await amountForTwo(network().alice, network().bob);
    const { invoice, hash } = await outsider(carol).invoice({ value: `${amount}` });
    const body = { invoice, max_fee: '2000' };
    const paid = await sidecar.post('/v2/node/pay_invoice', body, credentials);
    const { fee_msat, value_msat, parts } = await listed(network().alice, hash);
    expect(parts).toBeGreaterThan(1);
    expect(Number(fee_msat)).toBeGreaterThan(0);
    expect(paid).toMatchObject({
      status: 'completed',
      hash,
      amount: `${amount}`,
      fees: `${Number(fee_msat) / 1000}`,
    });
    expect(hex.encode(sha256(hex.decode(paid.preimage)))).toBe(hash);
    expect(await spent(credentials)).toBe(`${(Number(value_msat) + Number(fee_msat)) / 1000}`);
    await notices.delivered(paid.index, 'completed');
    expect(await rowsOf(hash)).toMatchObject([{ index: paid.index }]);
    expect(await sidecar.post('/v2/node/pay_invoice', body, credentials)).toEqual(paid);
  });

  test('an invoice that is paid in parts is one receipt of the whole', async () => {
    const { alice, bob } = network();
    const amount = await amountForTwo(bob, alice);
    const made = await sidecar.post('/v2/node/create_invoice', { amount: `${amount}` });
    expect(await outsider(bob).pays(made.invoice)).toBe('SUCCEEDED');
    expect((await listed(bob, made.payment_hash)).parts).toBeGreaterThan(1);
    const paid = await endOf(made.index);
    expect(paid).toMatchObject({ status: 'completed', amount: `${amount}`, fees: '0' });
    await notices.delivered(made.index, 'completed');
    expect(await rowsOf(made.payment_hash)).toMatchObject([{ index: made.index }]);
  });

  test('parts that settle while the sidecar is down are one completed payment after its start', async () => {
    const { hold, amount, credentials, index } = await held();
    expect((await sidecar.get('/v2/node/payment', { index })).status).toBe('pending');
    await sidecar.kill();
    await hold.settle();
    expect((await listed(network().alice, hold.hash)).parts).toBeGreaterThan(1);
    await sidecar.start();
    const paid = await endOf(index);
    expect(paid).toMatchObject({
      status: 'completed',
      amount: `${amount}`,
      preimage: hold.preimage,
    });
    expect(await spent(credentials)).toBe(`${amount}`);
    await notices.delivered(index, 'completed');
    expect(await rowsOf(hold.hash)).toMatchObject([{ index }]);
  });

  test('an AMP payment in parts is one receipt of the whole', async () => {
    const { alice, bob } = network();
    const amount = await amountForTwo(bob, alice);
    expect(await outsider(bob).sendsAmp(alice, `${amount}000`)).toBe('SUCCEEDED');
    const found = await waitUntil('the receipt is listed', async () => {
      await sidecar.put('/v2/node/sync_payments');
      const { payments } = await sidecar.get('/v2/node/list_payments', { filter: 'completed' });
      const receipts = payments.filter(({ rail }: Body) => rail === 'spontaneous');
      return receipts.length > 0 && (receipts as Body[]);
    });
    expect(found).toMatchObject([
      { direction: 'inbound', amount: `${amount}`, fees: '0', preimage: null },
    ]);
    const { invoices } = await alice.rest<{
      invoices: { is_amp: boolean; htlcs: { state: string }[] }[];
    }>('GET', '/v1/invoices');
    const amp = invoices.find(({ is_amp }) => is_amp);
    expect(amp?.htlcs.filter(({ state }) => state === 'SETTLED').length).toBeGreaterThan(1);
  });

  test('a payment whose parts are all given back gives its whole budget back, and may be tried again', async () => {
    const { hold, amount, credentials, index } = await held();
    expect(Number(await spent(credentials))).toBeGreaterThanOrEqual(amount);
    await hold.cancel();
    const failed = await endOf(index);
    expect(failed).toMatchObject({ status: 'failed', preimage: null, fees: '0' });
    await notices.delivered(index, 'failed');
    expect(await spent(credentials)).toBe('0');
    const again = await sidecar.post(
      '/v2/node/pay_invoice',
      { invoice: hold.invoice },
      credentials,
    );
    expect(again).toMatchObject({ status: 'failed' });
    expect(again.index).not.toBe(index);
    expect(await spent(credentials)).toBe('0');
  });
});
