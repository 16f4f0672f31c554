import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type Fault, type FaultProxy, startFaultProxy } from '../hostile/fault-proxy.ts';
import { credentialsOf } from '../hostile/sidecar-on-fake.ts';
import type { Answer, Body } from '../support/requests.ts';
import { SLOW_TEST_MS, waitUntil } from '../support/until.ts';
import { ALL_FAULT_CASES, FAULT_SAMPLE, type FaultCase } from './fault-cases.ts';
import { describeNetwork, type LndNode } from './harness/index.ts';
import { type NodeSidecar, startNodeSidecar } from './node-sidecar.ts';
import { type NoticeReceiver, startNoticeReceiver } from './notices.ts';
import { lndPayments, outsider } from './outsider.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** INTEROP_FAULTS=all makes every call meet every fault; another value takes the cases whose name holds it. */
const CASES = chosen(process.env.INTEROP_FAULTS);
const LONG_MS = 300_000;
const COINS = 40;
const COIN_SAT = 1_000_000n;
const MAX_FEE_SAT = 10;
/** Answers that are no payment. A connection that is cut is tried again. */
const HIDING: ReadonlySet<Fault['kind']> = new Set(['page', 'unavailable', 'garble']);
const WAITING: ReadonlySet<FaultCase['operation']> = new Set(['pay_invoice', 'pay_spontaneous']);

describeNetwork('a fault at a call that moves money', (network) => {
  let proxy: FaultProxy;
  let notices: NoticeReceiver;
  let sidecar: NodeSidecar;
  let credentials: string;
  let startedAt = 0;

  beforeAll(async () => {
    const { alice, bob, btcd } = network();
    const outputs = await Promise.all(
      Array.from({ length: COINS }, async () => ({
        address: await newAddress(alice),
        amountSat: COIN_SAT,
      })),
    );
    await btcd.send(outputs);
    proxy = await startFaultProxy({
      url: alice.restUrl,
      cert: await readFile(alice.tlsCertPath, 'utf8'),
    });
    const place = { url: proxy.url, cert: proxy.cert, adminMacaroon: await macaroonOf(alice) };
    notices = startNoticeReceiver();
    sidecar = await startNodeSidecar([
      '--client-credentials',
      await credentialsOf(place),
      '--channel-peer',
      `${bob.pubkey}@${bob.peerAddress}`,
      ...notices.flags,
    ]);
    await mine(1);
    const budget = { amount: '100000000', period: 'total' };
    const client = await sidecar.post('/v2/node/create_client', { scopes: ['full'], budget });
    credentials = client.client_credentials;
    startedAt = performance.now();
  }, LONG_MS);
  afterAll(async () => {
    await sidecar?.close();
    await notices?.stop();
    await proxy?.stop();
  });
  afterEach(() => proxy.rules());

  const macaroonOf = async (node: LndNode) => (await readFile(node.macaroonPath)).toString('hex');
  const newAddress = async (node: LndNode) =>
    (await node.rest<{ address: string }>('GET', '/v1/newaddress?type=0')).address;

  async function mine(blocks: number): Promise<void> {
    const { btcd, alice, bob } = network();
    if (blocks > 0) await btcd.generate(blocks);
    const tip = await btcd.height();
    for (const node of [alice, bob]) {
      await waitUntil(`${node.name} knows the tip`, async () => {
        const info = await node.rest<{ block_height: number }>('GET', '/v1/getinfo');
        return info.block_height >= tip;
      });
    }
  }

  const idOf = (name: string) => createHash('sha256').update(name).digest('hex');
  const hashOf = (preimage: string) =>
    createHash('sha256').update(Buffer.from(preimage, 'hex')).digest('hex');
  const isHeld = (index: string) =>
    waitUntil('it is held', async () => (await payment(index)).status_msg === 'held');
  const payment = (index: string) => sidecar.get('/v2/node/payment', { index }, credentials);
  const spentMsat = async () => {
    const info = await sidecar.get('/v2/node/client_info', {}, credentials);
    return Math.round(Number(info.budget.spent) * 1000);
  };

  /**
   * Makes the request under the fault. Returns its answer, `ask`, which sends it again with the same key, and
   * `repeated`, which resolves with the first success.
   */
  async function underFault(one: FaultCase, path: string, body: object) {
    const ask = (waitSecs: number): Promise<Answer> =>
      sidecar.call('POST', path, {
        body,
        credentials,
        headers: {
          'idempotency-key': one.name,
          // Only these wait for the payment's end, so the others need no time limit.
          ...(WAITING.has(one.operation) ? { prefer: `wait=${waitSecs}` } : {}),
        },
      });
    const earlier = proxy.fired.length;
    proxy.rules(...one.rules);
    const first = await ask(3);
    await waitUntil(
      'every fault has struck',
      async () => proxy.fired.length >= earlier + one.rules.length,
    );
    proxy.rules();
    const repeated = () =>
      waitUntil('a repeat with the key succeeds', async () => {
        const answer = await ask(5);
        if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
        return answer.body as Body;
      });
    return { first, ask, repeated };
  }

  const attempts = (hash: string) => lndPayments(network().alice, hash);
  interface LndTransaction {
    readonly tx_hash: string;
    readonly total_fees: string;
    readonly output_details: readonly { readonly address: string }[];
  }
  async function transactions(): Promise<readonly LndTransaction[]> {
    const path = '/v1/transactions?end_height=-1';
    const answer = await network().alice.rest<{ transactions: LndTransaction[] }>('GET', path);
    return answer.transactions;
  }
  /** Fees of the transactions that are not in `before`, in millisatoshis. */
  const feesMsat = (all: readonly LndTransaction[], before: readonly LndTransaction[]) =>
    all
      .filter(({ tx_hash }) => before.every((one) => one.tx_hash !== tx_hash))
      .reduce((sum, { total_fees }) => sum + Number(total_fees) * 1000, 0);

  interface LndChannel {
    readonly channel_point: string;
    readonly memo: string;
    readonly capacity: string;
  }
  async function channelsOf(userChannelId: string): Promise<readonly LndChannel[]> {
    const { alice } = network();
    const [{ channels }, { pending_open_channels }] = await Promise.all([
      alice.rest<{ channels: LndChannel[] }>('GET', '/v1/channels'),
      alice.rest<{ pending_open_channels: { channel: LndChannel }[] }>(
        'GET',
        '/v1/channels/pending',
      ),
    ]);
    const all = [...channels, ...pending_open_channels.map(({ channel }) => channel)];
    return all.filter(({ memo }) => memo.includes(userChannelId));
  }
  const usable = (channelId: string) =>
    waitUntil('the channel is usable', async () => {
      const { channels } = await sidecar.get('/v2/node/list_channels');
      const found = channels.find((one: Body) => one.channel_id === channelId);
      return found?.is_usable === true;
    });

  /** Checks that LND made the payment once, and that answer, budget and webhook say what LND says. */
  async function expectPaidOnce(
    paid: Body,
    beforeMsat: number,
    { isAnothers = false } = {},
  ): Promise<void> {
    const [attempt, ...more] = await attempts(paid.hash);
    expect(more).toEqual([]);
    expect(attempt?.status).toBe('SUCCEEDED');
    expect(paid).toMatchObject({ status: 'completed', preimage: attempt?.payment_preimage });
    const lndMsat = Number(attempt?.value_msat) + Number(attempt?.fee_msat);
    expect((await spentMsat()) - beforeMsat).toBe(isAnothers ? 0 : lndMsat);
    await notices.delivered(paid.index, 'completed');
  }
  async function expectOneInvoice(memo: string): Promise<void> {
    const { invoices } = await network().alice.rest<{ invoices: { memo: string }[] }>(
      'GET',
      '/v1/invoices?num_max_invoices=10000',
    );
    expect(invoices.filter((invoice) => invoice.memo === memo)).toHaveLength(1);
  }
  const isSentTwice = ({ rules }: FaultCase) =>
    rules.some(({ method, fault }) => method === 'POST' && fault.kind === 'twice');
  /** Whether the sidecar cannot read which payment LND has, so that it takes it for its own. */
  const hidesThePayment = ({ rules }: FaultCase) =>
    rules.some(({ method, fault }) => method === 'GET' && HIDING.has(fault.kind));
  const channelOf = (one: FaultCase) => ({
    value: '100000',
    user_channel_id: idOf(one.name).slice(0, 32),
  });

  const checks: Readonly<Record<FaultCase['operation'], (one: FaultCase) => Promise<void>>> = {
    async pay_invoice(one) {
      const { invoice, hash } = await outsider(network().bob).invoice({ value: '1000' });
      const before = await spentMsat();
      const { first, ask, repeated } = await underFault(one, '/v2/node/pay_invoice', {
        invoice,
        max_fee: `${MAX_FEE_SAT}`,
      });
      if (first.body.data?.sent === 'no') expect(await attempts(hash)).toEqual([]);
      if (one.call === 'router/send' && one.fault.kind === 'cut-before') {
        // The sidecar cannot know that LND did not get the request: the payment is pending until ten minutes after the
        // expiry.
        const again = await ask(3);
        expect([again.status, again.body.status]).toEqual([202, 'pending']);
        expect(await attempts(hash)).toEqual([]);
        const reservedMsat = 1_000_000 + MAX_FEE_SAT * 1000;
        expect((await spentMsat()) - before).toBe(reservedMsat);
        return;
      }
      const paid = await repeated();
      // Where LND got the request twice, and says so, the payment counts as another program's (docs/decisions.md 149).
      const isAnothers = isSentTwice(one) && !hidesThePayment(one);
      await expectPaidOnce(paid, before, { isAnothers });
    },

    async pay_spontaneous(one) {
      const { pubkey } = network().bob;
      const before = await spentMsat();
      const { first, repeated } = await underFault(one, '/v2/node/pay_spontaneous', {
        node_pk: pubkey,
        amount: '900',
        message: one.name,
        max_fee: `${MAX_FEE_SAT}`,
      });
      const index = first.body.index ?? first.body.data?.index;
      expect(index).toBeString();
      // One that LND did not get is sent again after 20 seconds.
      await waitUntil(
        'it is completed',
        async () => (await payment(index)).status === 'completed',
        60_000,
      );
      const paid = await repeated();
      expect(paid.index).toBe(index);
      await expectPaidOnce(paid, before);
    },

    async pay_onchain(one) {
      const address = await newAddress(network().bob);
      const [before, known] = await Promise.all([spentMsat(), transactions()]);
      const { first, repeated } = await underFault(one, '/v2/node/pay_onchain', {
        address,
        amount: '20000',
        client_payment_id: idOf(one.name),
      });
      const paying = async () =>
        (await transactions()).filter(({ output_details }) =>
          output_details.some((output) => output.address === address),
        );
      if (first.body.data?.sent === 'no') expect(await paying()).toEqual([]);
      const sent = await repeated();
      expect(sent.txid).toBeString();
      await waitUntil('LND has the transaction', async () => (await paying()).length > 0);
      await mine(6);
      await waitUntil(
        'it is completed',
        async () => (await payment(sent.index)).status === 'completed',
      );
      expect((await paying()).map(({ tx_hash }) => tx_hash)).toEqual([sent.txid]);
      const feeMsat = feesMsat(await transactions(), known);
      expect((await spentMsat()) - before).toBe(20_000_000 + feeMsat);
      await notices.delivered(sent.index, 'completed');
    },

    async open_channel(one) {
      const [before, known] = await Promise.all([spentMsat(), transactions()]);
      const { repeated } = await underFault(one, '/v2/node/open_channel', channelOf(one));
      const opened = await repeated();
      expect(await channelsOf(opened.user_channel_id)).toHaveLength(1);
      await mine(6);
      await usable(opened.channel_id);
      expect((await spentMsat()) - before).toBe(feesMsat(await transactions(), known));
    },

    async close_channel(one) {
      const opened = await sidecar.post('/v2/node/open_channel', channelOf(one));
      await mine(6);
      await usable(opened.channel_id);
      const [channel] = await channelsOf(opened.user_channel_id);
      const before = await spentMsat();
      const { repeated } = await underFault(one, '/v2/node/close_channel', {
        channel_id: opened.channel_id,
      });
      await repeated();
      await mine(6);
      const closed = await waitUntil('LND has closed the channel', async () => {
        const { channels } = await network().alice.rest<{
          channels: { channel_point: string; capacity: string; settled_balance: string }[];
        }>('GET', '/v1/channels/closed');
        return (
          channels.find(({ channel_point }) => channel_point === channel?.channel_point) ?? null
        );
      });
      // alice had the whole balance of the channel.
      const feeSat = Number(closed.capacity) - Number(closed.settled_balance);
      expect((await spentMsat()) - before).toBe(feeSat * 1000);
    },

    async create_invoice(one) {
      const { repeated } = await underFault(one, '/v2/node/create_invoice', {
        amount: '700',
        description: one.name,
      });
      const made = await repeated();
      await expectOneInvoice(one.name);
      expect(await outsider(network().bob).pays(made.invoice)).toBe('SUCCEEDED');
      await notices.delivered(made.index, 'completed');
    },

    async create_hold_invoice(one) {
      const { repeated } = await underFault(one, '/v2/node/create_invoice', {
        amount: '700',
        description: one.name,
        payment_hash: hashOf(idOf(one.name)),
      });
      const made = await repeated();
      await expectOneInvoice(one.name);
      const paying = outsider(network().bob).pays(made.invoice);
      await isHeld(made.index);
      await sidecar.post('/v2/node/settle_invoice', {
        index: made.index,
        preimage: idOf(one.name),
      });
      expect(await paying).toBe('SUCCEEDED');
      await notices.delivered(made.index, 'completed');
    },

    async settle_invoice(one) {
      const preimage = idOf(one.name);
      const made = await sidecar.post(
        '/v2/node/create_invoice',
        { amount: '700', payment_hash: hashOf(preimage) },
        credentials,
      );
      const paying = outsider(network().bob).pays(made.invoice);
      await isHeld(made.index);
      const { repeated } = await underFault(one, '/v2/node/settle_invoice', {
        index: made.index,
        preimage,
      });
      await repeated();
      expect(await paying).toBe('SUCCEEDED');
      await notices.delivered(made.index, 'completed');
      expect(await payment(made.index)).toMatchObject({ status: 'completed', preimage });
    },

    async cancel_payment(one) {
      const made = await sidecar.post(
        '/v2/node/create_invoice',
        { amount: '700', description: one.name },
        credentials,
      );
      const { repeated } = await underFault(one, '/v2/node/cancel_payment', { index: made.index });
      await repeated();
      const invoice = await network().alice.rest<{ state: string }>(
        'GET',
        `/v1/invoice/${made.payment_hash}`,
      );
      expect(invoice.state).toBe('CANCELED');
      await notices.delivered(made.index, 'failed');
      expect(await payment(made.index)).toMatchObject({
        status: 'failed',
        status_msg: 'canceled',
      });
    },
  };

  test.each(CASES.map((one) => [one.name, one] as const))(
    '%s: at most one at LND, and key, budget and webhook tell the truth',
    async (_, one) => checks[one.operation](one),
    LONG_MS,
  );

  test(
    'a payment that LND never got fails, and is given back, ten minutes after its expiry by the clock of the chain',
    async () => {
      const made = await outsider(network().bob).invoice({ value: '1000', expiry: '3600' });
      proxy.rules({ method: 'POST', path: /^\/v2\/router\/send$/, fault: { kind: 'cut-before' } });
      const pay = () =>
        sidecar.call('POST', '/v2/node/pay_invoice', {
          body: { invoice: made.invoice, max_fee: `${MAX_FEE_SAT}` },
          credentials,
          headers: { 'idempotency-key': 'never', prefer: 'wait=2' },
        });
      const { index } = (await pay()).body;
      const before = await spentMsat();
      const atMinutes = async (minutes: number) => {
        await network().btcd.generateAt(Math.floor(Date.now() / 1000) + minutes * 60);
        await mine(0);
      };
      await atMinutes(65);
      expect((await pay()).body).toMatchObject({ index, status: 'pending' });
      await atMinutes(75);
      await notices.delivered(index, 'failed');
      expect((await pay()).body).toMatchObject({
        index,
        status: 'failed',
        status_msg: 'not sent',
      });
      expect(await attempts(made.hash)).toEqual([]);
      expect(await spentMsat()).toBeLessThanOrEqual(before - 1_000_000 - MAX_FEE_SAT * 1000);
    },
    LONG_MS,
  );

  test('every payment that is final had exactly one webhook-id, and no other had one', async () => {
    await sidecar.put('/v2/node/sync_payments');
    const { payments } = await sidecar.get('/v2/node/list_payments', {
      filter: 'finalized',
      limit: '1000',
    });
    // Received coins were not requested through the sidecar, so they have no webhook.
    const requested = (payments as Body[]).filter(
      ({ rail, direction }) => rail !== 'onchain' || direction === 'outbound',
    );
    for (const { index, status } of requested) await notices.delivered(index, status);
    expect([...notices.byIndex.keys()].toSorted()).toEqual(
      requested.map(({ index }) => index).toSorted(),
    );
    for (const [, seen] of notices.byIndex) expect(new Set(seen.map(({ id }) => id)).size).toBe(1);
    const all = [...notices.byIndex.values()];
    expect(new Set(all.map(([seen]) => seen?.id)).size).toBe(all.length);
    const secs = Math.round((performance.now() - startedAt) / 1000);
    console.log(
      `Faults on LND ${network().version}: ${CASES.length} of ${ALL_FAULT_CASES.length} cases, ` +
        `${all.length} webhooks, ${secs} s.`,
    );
  });
});

function chosen(part: string | undefined): readonly FaultCase[] {
  if (part === undefined || part === '') return FAULT_SAMPLE;
  return part === 'all'
    ? ALL_FAULT_CASES
    : ALL_FAULT_CASES.filter(({ name }) => name.includes(part));
}
