import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { blankPayment, type Payment } from '../../src/model/payment.ts';
import type { NodeConnector, PayInvoiceCommand, WalletNode } from '../../src/nodes/node.ts';
import { follow, payCommand, questionOf } from '../contracts/node/steps.ts';
import { memoryState } from '../support/memory-state.ts';
import { SLOW_TEST_MS, waitUntil } from '../support/until.ts';
import { clnOutsider, clnParts } from './cln-outsider.ts';
import { caughtUp } from './harness/channels.ts';
import { clnSteps } from './harness/cln-steps.ts';
import { ClnRpcError, describeClnNetwork } from './harness/index.ts';
import { clnNode } from './kinds.ts';
import { openConnector } from './node-world.ts';

setDefaultTimeout(4 * SLOW_TEST_MS);

/**
 * lightningd writes a part down before its channel has it. Killed in between, it lists the part as pending for ever and
 * pays the invoice never again (docs/decisions.md 169). Here the program of the channel is paused at that moment.
 */

const STILL_MS = 5 * 60_000;

describeClnNetwork('a part that Core Lightning has lost', (network) => {
  const times = { passedMs: 0 };
  const state = memoryState();
  const connectors: NodeConnector[] = [];
  let node: WalletNode;

  async function connect(): Promise<WalletNode> {
    const entry = await clnNode(network().alice).entry();
    const elapsedMs = () => performance.now() + times.passedMs;
    const connector = openConnector(network(), [entry], state, elapsedMs);
    connectors.push(connector);
    return (await connector.connectConfigured(entry)).node;
  }
  beforeAll(async () => {
    node = await connect();
  });
  afterAll(async () => {
    for (const connector of connectors) await connector.close();
  });

  const parts = (hash: string) => clnParts(network().alice, hash);

  /** What a feed that opens now tells of that payment. */
  async function told(payment: Payment): Promise<Payment | undefined> {
    const feed = follow(node, null, [payment]);
    await waitUntil('the feed has caught up', async () => feed.isCaughtUp());
    await feed.end();
    return feed.observations.findLast((one) => one.payment.index === payment.index)?.payment;
  }

  async function mine(blocks: number): Promise<void> {
    const { alice, bob, btcd } = network();
    await btcd.generate(blocks);
    await caughtUp(btcd, [clnSteps(alice), clnSteps(bob)]);
  }

  async function toldAfterBlock(payment: Payment, passedMs = STILL_MS) {
    await mine(1);
    times.passedMs += passedMs;
    return told(payment);
  }

  /** The state of a channel of alice; null once she has forgotten it. */
  async function stateOf(channelId: string): Promise<string | null> {
    const { channels } = await network().alice.rpc<{
      channels: { channel_id?: string; state: string }[];
    }>('listpeerchannels');
    return channels.find(({ channel_id }) => channel_id === channelId)?.state ?? null;
  }

  /** Begins a payment while alice's channels are paused, and kills her once she has written a part of it down. */
  async function lose(invoice: string): Promise<Payment> {
    const { alice, channelUsable } = network();
    const paused = channelsOf(alice.dir);
    expect(paused.length).toBeGreaterThan(0);
    for (const pid of paused) process.kill(pid, 'SIGSTOP');
    const command = payCommand(node, invoice);
    const report = node.payInvoice(command);
    await waitUntil('a part is written down', async () => {
      const [part] = await parts(command.invoice.paymentHash);
      return part?.status === 'pending';
    });
    await alice.kill();
    expect((await report).state).toMatch(/^(?:known|unknown)$/);
    await alice.start();
    await channelUsable();
    const outcome = await node.sendOutcome(questionOf(blankOf(command)));
    if (outcome.state !== 'known') throw new Error(`The outcome is ${outcome.state}.`);
    expect(outcome.payment.index).toBe(command.index);
    return outcome.payment;
  }

  test('has failed, once its channels do not have it in two looks with a block between', async () => {
    const { bob, alice } = network();
    const { invoice, hash } = await clnOutsider(bob).invoice({ amount_msat: 61_000 });
    const payment = await lose(invoice);
    expect(await told(payment)).toMatchObject({ status: 'pending' });
    expect((await parts(hash)).map(({ status }) => status)).toEqual(['pending']);
    expect(await toldAfterBlock(payment)).toMatchObject({ status: 'pending' });
    expect(await toldAfterBlock(payment)).toMatchObject({ status: 'failed' });
    expect((await parts(hash)).map(({ status }) => status)).toEqual(['pending']);
    expect(await node.sendOutcome(questionOf(payment))).toMatchObject({
      state: 'known',
      payment: { status: 'failed' },
    });

    // The node itself never pays it again, and the sidecar says so at once, also after a restart of its own.
    const again = await alice.rpc('xpay', { invstring: invoice }).catch((error: unknown) => error);
    expect(again).toBeInstanceOf(ClnRpcError);
    expect(String(again)).toMatch(/still in progress, cannot retry/);
    for (const one of [node, await connect()]) {
      expect(await one.payInvoice(payCommand(one, invoice))).toMatchObject({ state: 'refused' });
    }
    const { invoices } = await bob.rpc<{ invoices: { status: string }[] }>('listinvoices', {
      payment_hash: hash,
    });
    expect(invoices.map(({ status }) => status)).toEqual(['unpaid']);
  });

  test('stays pending while a channel is being closed, and has failed when that one has carried nothing', async () => {
    const { alice, bob } = network();
    const { channel_id } = await alice.rpc<{ channel_id: string }>('fundchannel', {
      id: bob.pubkey,
      amount: '200000sat',
    });
    await mine(6);
    await waitUntil('it is open', async () => (await stateOf(channel_id)) === 'CHANNELD_NORMAL');
    const { invoice } = await clnOutsider(bob).invoice({ amount_msat: 63_000 });
    const payment = await lose(invoice);
    await told(payment);
    await waitUntil('it can be closed', async () =>
      alice.rpc('close', { id: channel_id }).then(
        () => true,
        () => false,
      ),
    );
    for (let look = 0; look < 3; look += 1) {
      expect(await toldAfterBlock(payment)).toMatchObject({ status: 'pending' });
    }
    expect(await stateOf(channel_id)).toBe('ONCHAIN');
    const [connector] = connectors;
    expect(connector?.problems().join()).toContain('that none of its channels has');
    await mine(100);
    await waitUntil('it is forgotten', async () => (await stateOf(channel_id)) === null);
    // By these the sidecar knows when a channel was closed, and whether it has carried anything.
    const { closedchannels } = await alice.rpc<{
      closedchannels: { channel_id: string; total_htlcs_sent: number }[];
    }>('listclosedchannels');
    expect(closedchannels).toMatchObject([{ channel_id, total_htlcs_sent: 0 }]);
    const { chainmoves } = await alice.rpc<{
      chainmoves: { account_id: string; primary_tag: string }[];
    }>('listchainmoves');
    expect(chainmoves).toContainEqual(
      expect.objectContaining({ account_id: channel_id, primary_tag: 'channel_close' }),
    );
    expect(await toldAfterBlock(payment, 3_600_000)).toMatchObject({ status: 'failed' });
    expect(connector?.problems()).toEqual([]);
  });

  test('is none while a channel has it, however long, and also after lightningd was killed', async () => {
    const { alice, channelUsable } = network();
    const hold = await clnOutsider(network().bob).holds('62000');
    const report = node.payInvoice(payCommand(node, hold.invoice));
    await hold.accepted();
    const seen = await report;
    if (seen.state !== 'known') throw new Error(`The report is ${seen.state}.`);
    for (let look = 0; look < 3; look += 1) {
      expect(await toldAfterBlock(seen.payment)).toMatchObject({ status: 'pending' });
    }
    await alice.kill();
    await alice.start();
    await channelUsable();
    for (let look = 0; look < 3; look += 1) {
      expect(await toldAfterBlock(seen.payment)).toMatchObject({ status: 'pending' });
    }
    await hold.settle();
    await waitUntil('it is paid', async () => (await told(seen.payment))?.status === 'completed');
  });
});

/** The row that the wallet has of a payment that it has asked for. */
function blankOf({ index, createdAtMs, amountMsat, invoice }: PayInvoiceCommand): Payment {
  const kind = { rail: 'invoice', direction: 'outbound' } as const;
  const pending = { status: 'pending', statusMsg: 'pending', updatedAtMs: createdAtMs } as const;
  const payment = blankPayment({ index, createdAtMs, ...kind, ...pending });
  return { ...payment, amountMsat, hash: invoice.paymentHash, expiresAtMs: invoice.expiresAtMs };
}

/** The processes of the channels of the lightningd with that folder. */
function channelsOf(dir: string): number[] {
  const read = (pid: string, file: string) => {
    try {
      return readFileSync(`/proc/${pid}/${file}`, 'utf8');
    } catch {
      // It has ended.
      return '';
    }
  };
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const node = pids.find((pid) => {
    const words = read(pid, 'cmdline').split('\0');
    return words[0]?.endsWith('/lightningd') && words.includes(`--lightning-dir=${dir}`);
  });
  return pids
    .filter((pid) => read(pid, 'cmdline').includes('lightning_channeld'))
    .filter((pid) => read(pid, 'stat').split(') ')[1]?.split(' ')[1] === node)
    .map(Number);
}
