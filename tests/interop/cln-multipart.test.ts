import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { sha256 } from '@noble/hashes/sha2.js';
import { hex } from '@scure/base';
import type { Fault, FaultProxy } from '../hostile/fault-proxy.ts';
import type { Body } from '../support/requests.ts';
import { SLOW_TEST_MS, waitUntil } from '../support/until.ts';

import { type ClnPart, clnOutsider, clnParts } from './cln-outsider.ts';
import { type ClnNode, describeClnPartsNetwork } from './harness/index.ts';
import { behindFaultProxy, clnNode } from './kinds.ts';
import { type NodeSidecar, paymentEnd } from './node-sidecar.ts';
import { type NoticeReceiver, startNoticed } from './notices.ts';

setDefaultTimeout(2 * SLOW_TEST_MS);

/** Longer than the node may begin new tries, and a margin. */
const GIVES_UP_WITHIN_MS = 110_000;

/** Of BOLT 4: the payee has not got the other parts in time, so that the payer may try again. */
const MPP_TIMEOUT = '0017';
/** Of BOLT 4: the payee does not know these details, so that the payer gives up; an amount and a height follow. */
const UNKNOWN_DETAILS = `400f${'00'.repeat(8)}${'00'.repeat(4)}`;

/** From this much on, carol returns what she was paid, in that many pieces. */
const WORTH_RETURNING_MSAT = 1_000_000_000;
const PIECES = 5;

interface HeldPart {
  readonly id: string;
  readonly hash: string;
}

interface SplitOrder {
  readonly invoice: string;
  readonly hash: string;
  readonly amountMsat: number;
}

describeClnPartsNetwork('payments in parts on Core Lightning', (network) => {
  let proxy: FaultProxy;
  let sidecar: NodeSidecar;
  let notices: NoticeReceiver;
  beforeAll(async () => {
    const placed = await behindFaultProxy(clnNode(network().alice));
    proxy = placed.proxy;
    ({ notices, sidecar } = await startNoticed(placed.credentials));
  });
  afterEach(async () => {
    proxy.rules();
    await network().carol.rpc('passparts');
    await giveBack();
  });
  afterAll(async () => {
    await sidecar?.close();
    await notices?.stop();
    await proxy?.stop();
  });

  /** What the node can send over each channel to that peer. */
  async function sendableMsat(from: ClnNode, to: ClnNode): Promise<number[]> {
    const { channels } = await from.rpc<{
      channels: { peer_id: string; spendable_msat: number }[];
    }>('listpeerchannels');
    return channels
      .filter(({ peer_id }) => peer_id === to.pubkey)
      .map(({ spendable_msat }) => spendable_msat);
  }

  /** An amount that two channels carry together, and neither alone. */
  async function amountForTwo(from: ClnNode, to: ClnNode): Promise<number> {
    const each = await sendableMsat(from, to);
    const most = Math.max(...each);
    const others = each.reduce((sum, one) => sum + one, 0) - most;
    return Math.floor((most + others / 3) / 1000) * 1000 + 1;
  }

  /**
   * Carol pays alice nearly everything that she has got. Bob passes each piece on over the channel in which he has
   * most, so alice's channels become equal.
   */
  async function giveBack(): Promise<void> {
    const { alice, bob, carol } = network();
    const [most = 0] = await sendableMsat(carol, bob);
    if (most < WORTH_RETURNING_MSAT) return;
    const amount_msat = Math.floor((most * 0.95) / PIECES);
    for (let piece = 0; piece < PIECES; piece += 1) {
      const { invoice } = await clnOutsider(alice).invoice({ amount_msat });
      expect(await clnOutsider(carol).pays(invoice)).toBe(true);
    }
  }

  /** An invoice of carol that alice cannot pay over one channel. */
  async function splitInvoice(): Promise<SplitOrder> {
    const { alice, bob, carol } = network();
    const amountMsat = await amountForTwo(alice, bob);
    return { ...(await clnOutsider(carol).invoice({ amount_msat: amountMsat })), amountMsat };
  }

  const parts = (hash: string) => clnParts(network().alice, hash);
  const statuses = async (hash: string) =>
    (await parts(hash)).map(({ status }) => status).toSorted();

  const hold = () => network().carol.rpc('holdparts');
  const held = async (hash: string) => {
    const all = await network().carol.rpc<{ parts: HeldPart[] }>('heldparts');
    return all.parts.filter((part) => part.hash === hash);
  };
  /** The parts of a payment at carol, once there are that many. */
  const heldParts = (hash: string, count = 2) =>
    waitUntil(`carol holds ${count} parts`, async () => {
      const all = await held(hash);
      return all.length === count && all;
    });
  const refuse = ({ id }: HeldPart, failure: string) =>
    network().carol.rpc('decidepart', { id, failure });
  const accept = async (hash: string) => {
    await network().carol.rpc('passparts');
    for (const { id } of await held(hash)) await network().carol.rpc('decidepart', { id });
  };

  /** A client whose budget is more than a payment needs. */
  async function budgetClient(): Promise<string> {
    const { client_credentials } = await sidecar.post('/v2/node/create_client', {
      scopes: ['full'],
      budget: { amount: '20000000', period: 'total' },
    });
    return client_credentials;
  }
  const spent = async (credentials: string) =>
    (await sidecar.get('/v2/node/client_info', {}, credentials)).budget.spent;

  const bodyOf = ({ invoice }: SplitOrder) => ({ invoice, max_fee: '2000' });
  const pays = (order: SplitOrder, credentials?: string): Promise<Body> =>
    sidecar.post('/v2/node/pay_invoice', bodyOf(order), credentials);
  /** Orders the payment and returns it as it stands, without waiting for its end. */
  async function begins(order: SplitOrder, credentials?: string): Promise<Body> {
    const { body } = await sidecar.call('POST', '/v2/node/pay_invoice', {
      body: bodyOf(order),
      headers: { prefer: 'respond-async' },
      credentials,
    });
    return body;
  }
  const paymentAt = (index: string) => sidecar.get('/v2/node/payment', { index });
  const endOf = (index: string, patienceMs?: number) => paymentEnd(sidecar, index, patienceMs);
  const sats = (amountMsat: number) => `${amountMsat / 1000}`;

  /** The parts that were paid. The payment is completed with the first of them, and the others follow. */
  async function completeParts(hash: string): Promise<ClnPart[]> {
    const all = await waitUntil('each part has ended', async () => {
      const some = await parts(hash);
      return some.every(({ status }) => status !== 'pending') && some;
    });
    return all.filter(({ status }) => status === 'complete');
  }

  /** Compares the payment with what the node says of its parts, and its notices and its row in the list. */
  async function isPaidOnce(payment: Body, { hash, amountMsat }: SplitOrder): Promise<number> {
    const complete = await completeParts(hash);
    expect(complete.length).toBeGreaterThan(1);
    const delivered = complete.reduce((sum, part) => sum + part.amount_msat, 0);
    const sent = complete.reduce((sum, part) => sum + part.amount_sent_msat, 0);
    expect(delivered).toBe(amountMsat);
    expect(sent).toBeGreaterThan(delivered);
    expect(payment).toMatchObject({
      status: 'completed',
      direction: 'outbound',
      hash,
      amount: sats(amountMsat),
      fees: sats(sent - delivered),
    });
    expect(hex.encode(sha256(hex.decode(payment.preimage)))).toBe(hash);
    await notices.delivered(payment.index, 'completed');
    await isListedOnce(payment, hash);
    return sent;
  }
  async function isListedOnce({ index, status }: Body, hash: string): Promise<void> {
    await sidecar.put('/v2/node/sync_payments');
    const { payments } = await sidecar.get('/v2/node/list_payments', { filter: 'all' });
    expect(payments.filter((one: Body) => one.hash === hash)).toMatchObject([{ index, status }]);
  }
  async function isPending(index: string): Promise<void> {
    expect(await paymentAt(index)).toMatchObject({ status: 'pending', preimage: null });
    expect(notices.byIndex.has(index)).toBe(false);
  }

  /** Begins a payment whose parts carol holds, and that costs a budget. */
  async function begunAndHeld() {
    const credentials = await budgetClient();
    const order = await splitInvoice();
    await hold();
    const { index } = await begins(order, credentials);
    return { credentials, order, index: index as string };
  }
  type Begun = Awaited<ReturnType<typeof begunAndHeld>>;
  async function endsPaid({ credentials, order, index }: Begun): Promise<void> {
    const sent = await isPaidOnce(await endOf(index), order);
    expect(await spent(credentials)).toBe(sats(sent));
  }
  async function endsFailed({ credentials, order, index }: Begun): Promise<Body> {
    const failed = await endOf(index, GIVES_UP_WITHIN_MS);
    expect(failed).toMatchObject({ status: 'failed', preimage: null, fees: '0' });
    expect(await statuses(order.hash)).toEqual(['failed', 'failed']);
    await notices.delivered(index, 'failed');
    expect(await spent(credentials)).toBe('0');
    return failed;
  }
  /** Refuses one of two parts for good, and returns the other. */
  async function refuseOne(hash: string): Promise<HeldPart | undefined> {
    const [first, second] = await heldParts(hash);
    if (first) await refuse(first, UNKNOWN_DETAILS);
    await waitUntil('one part failed', async () => (await statuses(hash)).includes('failed'));
    return second;
  }

  test('a payment that xpay splits is one payment with all parts and fees, and costs a budget just that', async () => {
    const credentials = await budgetClient();
    const order = await splitInvoice();
    const paid = await pays(order, credentials);
    const sent = await isPaidOnce(paid, order);
    expect(await spent(credentials)).toBe(sats(sent));
    expect(await pays(order, credentials)).toEqual(paid);
  });

  test('a part that fails while another is on its way, or all between two tries, ends nothing', async () => {
    const { credentials, order, index } = await begunAndHeld();
    const [first] = await heldParts(order.hash);
    await isPending(index);
    if (first) await refuse(first, MPP_TIMEOUT);
    const again = await heldParts(order.hash);
    await sidecar.put('/v2/node/sync_payments');
    await isPending(index);
    // Now nothing of it is on its way for a moment.
    for (const part of again) await refuse(part, MPP_TIMEOUT);
    await waitUntil(
      'each part was sent again',
      async () => (await held(order.hash)).length > 0 && (await parts(order.hash)).length > 4,
    );
    await sidecar.put('/v2/node/sync_payments');
    await isPending(index);
    await accept(order.hash);
    await endsPaid({ credentials, order, index });
    expect((await statuses(order.hash)).filter((status) => status === 'failed').length).toBe(3);
  });

  test('a payment whose parts are all refused gives its whole budget back, and may be tried again', async () => {
    const { credentials, order, index } = await begunAndHeld();
    const second = await refuseOne(order.hash);
    await sidecar.put('/v2/node/sync_payments');
    await isPending(index);
    expect(Number(await spent(credentials))).toBeGreaterThanOrEqual(order.amountMsat / 1000);
    if (second) await refuse(second, UNKNOWN_DETAILS);
    await endsFailed({ credentials, order, index });
    await network().carol.rpc('passparts');
    const paid = await pays(order, credentials);
    expect(paid).toMatchObject({ status: 'completed', amount: sats(order.amountMsat) });
    expect(paid.index).not.toBe(index);
    const complete = await completeParts(order.hash);
    const sent = complete.reduce((sum, part) => sum + part.amount_sent_msat, 0);
    expect(await spent(credentials)).toBe(sats(sent));
    expect((await paymentAt(index)).status).toBe('failed');
  });

  test('the sidecar killed between parts ends in what the node did: completed', async () => {
    const { credentials, order, index } = await begunAndHeld();
    const [first] = await heldParts(order.hash);
    await sidecar.kill();
    if (first) await refuse(first, MPP_TIMEOUT);
    await waitUntil('the part was sent again', async () => (await parts(order.hash)).length === 3);
    await sidecar.start();
    await heldParts(order.hash);
    expect(await begins(order, credentials)).toMatchObject({ index, status: 'pending' });
    await isPending(index);
    await accept(order.hash);
    await endsPaid({ credentials, order, index });
  });

  test('the sidecar killed between parts ends in what the node did: failed', async () => {
    const { credentials, order, index } = await begunAndHeld();
    const second = await refuseOne(order.hash);
    await sidecar.kill();
    await sidecar.start();
    await isPending(index);
    if (second) await refuse(second, UNKNOWN_DETAILS);
    await isListedOnce(await endsFailed({ credentials, order, index }), order.hash);
  });

  test('parts that settle while the sidecar is down are one completed payment after its start', async () => {
    const { credentials, order, index } = await begunAndHeld();
    await heldParts(order.hash);
    await sidecar.kill();
    await accept(order.hash);
    await waitUntil('the node has paid', async () =>
      (await statuses(order.hash)).every((status) => status === 'complete'),
    );
    await sidecar.start();
    await endsPaid({ credentials, order, index });
  });

  const CUTS: readonly [string, Fault][] = [
    ['cut', { kind: 'cut-after' }],
    ["a proxy's page", { kind: 'page', status: 502 }],
    ['garbled', { kind: 'garble' }],
  ];
  test.each(CUTS)('the answer of xpay for several parts %s: it is paid once', async (_, kind) => {
    const credentials = await budgetClient();
    const order = await splitInvoice();
    proxy.rules({ method: 'POST', path: /^\/v1\/xpay$/, nth: 1, fault: kind });
    const { index } = await begins(order, credentials);
    const paid = await endOf(index);
    expect(proxy.fired.at(-1)).toMatchObject({ kind: kind.kind, path: '/v1/xpay' });
    const sent = await isPaidOnce(paid, order);
    expect(await spent(credentials)).toBe(sats(sent));
  });

  test('connections cut while parts are held: a part that is sent again completes the payment', async () => {
    const { credentials, order, index } = await begunAndHeld();
    const [first] = await heldParts(order.hash);
    proxy.drop();
    if (first) await refuse(first, MPP_TIMEOUT);
    await waitUntil('the part was sent again', async () => (await parts(order.hash)).length === 3);
    await heldParts(order.hash);
    await sidecar.put('/v2/node/sync_payments');
    await isPending(index);
    await accept(order.hash);
    await endsPaid({ credentials, order, index });
  });

  test('an invoice that is paid in parts is one receipt of the whole', async () => {
    const { alice, bob } = network();
    const amountMsat = await amountForTwo(bob, alice);
    const made = await sidecar.post('/v2/node/create_invoice', { amount: sats(amountMsat) });
    expect(await clnOutsider(bob).pays(made.invoice)).toBe(true);
    const arrived = (await clnParts(bob, made.payment_hash)).filter(
      ({ status }) => status === 'complete',
    );
    expect(arrived.length).toBeGreaterThan(1);
    const paid = await endOf(made.index);
    expect(paid).toMatchObject({ status: 'completed', amount: sats(amountMsat), fees: '0' });
    await notices.delivered(made.index, 'completed');
    await isListedOnce(paid, made.payment_hash);
  });

  test('an invoice of which a part has arrived is pending until the others are there', async () => {
    const { alice, bob, carol } = network();
    await giveCarol(200_000_000);
    const made = await sidecar.post('/v2/node/create_invoice', { amount: '100000' });
    const half = { invstring: made.invoice, partial_msat: 50_000_000 };
    const one = bob.rpc('xpay', half);
    await waitUntil('a part is at alice', async () => {
      const { channels } = await alice.rpc<{
        channels: { htlcs: { direction: string; payment_hash: string; state: string }[] }[];
      }>('listpeerchannels');
      return channels
        .flatMap(({ htlcs }) => htlcs)
        .some(
          ({ direction, payment_hash, state }) =>
            direction === 'in' &&
            payment_hash === made.payment_hash &&
            state === 'RCVD_ADD_ACK_REVOCATION',
        );
    });
    await sidecar.put('/v2/node/sync_payments');
    expect(await paymentAt(made.index)).toMatchObject({ status: 'pending', amount: '100000' });
    await Promise.all([one, carol.rpc('xpay', half)]);
    const paid = await endOf(made.index);
    expect(paid).toMatchObject({ status: 'completed', amount: '100000', fees: '0' });
    await notices.delivered(made.index, 'completed');
    await isListedOnce(paid, made.payment_hash);
  });

  /** Alice pays carol so much that she can send it on. */
  async function giveCarol(amount_msat: number): Promise<void> {
    const { alice, carol } = network();
    const { invoice } = await clnOutsider(carol).invoice({ amount_msat });
    expect(await clnOutsider(alice).pays(invoice)).toBe(true);
  }
});
