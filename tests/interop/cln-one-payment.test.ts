import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { decodeBolt11 } from '../../src/codecs/bolt11/index.ts';
import { sleep } from '../../src/lib/sleep.ts';
import { blankPayment, type Payment } from '../../src/model/payment.ts';
import { paymentId, paymentIndex } from '../../src/model/payment-index.ts';
import type {
  NodeConnector,
  PayInvoiceCommand,
  SendOutcome,
  SendReport,
  WalletNode,
} from '../../src/nodes/node.ts';
import type { FaultProxy } from '../hostile/fault-proxy.ts';
import { SLOW_TEST_MS, waitUntil } from '../support/until.ts';
import { type ClnPart, clnOutsider, clnParts } from './cln-outsider.ts';
import { type ClnNode, ClnRpcError, describeClnNetwork } from './harness/index.ts';
import { behindFaultProxy, clnNode } from './kinds.ts';
import { openConnector } from './node-world.ts';

setDefaultTimeout(2 * SLOW_TEST_MS);

/**
 * That Core Lightning makes one payment of a hash, whatever happens in between, and that the connector says whose it
 * is. Sending the same request again rests on the first (docs/decisions.md 155).
 */

/** How often two programs race; INTEROP_RACES=500 is the long run. */
const RACES = Number(process.env.INTEROP_RACES ?? 6);
/** By how much the other program is ahead at most, and behind: the sidecar asks the node for more before it pays. */
const MOST_AHEAD_MS = 10;
const MOST_BEHIND_MS = 90;
const STEP_MS = 17;

describeClnNetwork('one payment of a hash on Core Lightning', (network) => {
  let proxy: FaultProxy;
  let connector: NodeConnector;
  let node: WalletNode;
  beforeAll(async () => {
    const alice = clnNode(network().alice);
    proxy = (await behindFaultProxy(alice)).proxy;
    const entry = { ...(await alice.entry()), url: proxy.url, cert: proxy.cert };
    connector = openConnector(network(), [entry]);
    ({ node } = await connector.connectConfigured(entry));
  });
  afterAll(async () => {
    await connector?.close();
    await proxy?.stop();
  });

  const bob = () => clnOutsider(network().bob);
  const parts = (hash: string) => clnParts(network().alice, hash);
  const restart = async () => {
    await network().alice.kill();
    await network().alice.start();
    await network().channelUsable();
  };

  /** Pays with `xpay` at the node itself. Returns the preimage, or the error. */
  const xpay = (invstring: string, label = 'the same', from: ClnNode = network().alice) =>
    from
      .rpc<{ payment_preimage: string; successful_parts: number }>('xpay', { invstring, label })
      .then(
        (paid) => ({ paid, error: null }),
        (error: unknown) => ({ paid: null, error }),
      );
  const codeOf = ({ error }: { readonly error: unknown }) =>
    error instanceof ClnRpcError ? error.code : error;
  /** What the receiver has got for an invoice, in millisatoshis. */
  async function received(payment_hash: string): Promise<number | undefined> {
    const { invoices } = await network().bob.rpc<{
      invoices: { amount_received_msat?: number }[];
    }>('listinvoices', { payment_hash });
    return invoices[0]?.amount_received_msat;
  }
  /** That the hash was paid by one attempt, and the receiver has got the amount once. */
  async function expectPaidOnce(hash: string, amountMsat: number): Promise<ClnPart> {
    const complete = (await parts(hash)).filter(({ status }) => status === 'complete');
    expect(complete).toHaveLength(1);
    expect(await received(hash)).toBe(amountMsat);
    const [part] = complete;
    if (part === undefined) throw new Error('nothing was paid');
    return part;
  }
  /** Whether a channel of alice has a part of the hash. */
  async function isInChannel(hash: string): Promise<boolean> {
    const { channels } = await network().alice.rpc<{
      channels: { htlcs: { payment_hash: string }[] }[];
    }>('listpeerchannels');
    return channels.some(({ htlcs }) => htlcs.some(({ payment_hash }) => payment_hash === hash));
  }
  /** What alice has in her channel, once nothing is on its way. */
  async function ownMsat(): Promise<number> {
    return waitUntil('nothing is on its way', async () => {
      const { channels } = await network().alice.rpc<{
        channels: { to_us_msat: number; htlcs: unknown[] }[];
      }>('listpeerchannels');
      const [channel] = channels;
      return channel?.htlcs.length === 0 && channel.to_us_msat;
    });
  }

  describe('a second xpay of a hash, with the same label,', () => {
    test('gives way while the first is held, also after lightningd was killed', async () => {
      const hold = await bob().holds('51000');
      const first = xpay(hold.invoice);
      await hold.accepted();
      const second = await xpay(hold.invoice);
      expect(codeOf(second)).toBe(-3);
      expect(String(second.error)).toMatch(/injectpaymentonion error 200: .*still in progress/);
      await restart();
      await first;
      const third = await xpay(hold.invoice);
      expect(codeOf(third)).toBe(-3);
      expect((await parts(hold.hash)).map(({ status }) => status)).toEqual(['pending']);
      await hold.settle();
      await waitUntil('it is paid', async () =>
        (await parts(hold.hash)).every(({ status }) => status === 'complete'),
      );
      await expectPaidOnce(hold.hash, 51_000);
    });

    test('is error 219 once it is paid, also after lightningd was killed', async () => {
      const { invoice, hash } = await bob().invoice({ amount_msat: 52_000 });
      const first = await xpay(invoice);
      // By this the connector knows that an answer tells of the call itself.
      expect(first.paid).toMatchObject({ successful_parts: 1 });
      const before = await ownMsat();
      expect(codeOf(await xpay(invoice))).toBe(219);
      expect(codeOf(await xpay(invoice, 'another'))).toBe(219);
      await restart();
      expect(codeOf(await xpay(invoice))).toBe(219);
      await expectPaidOnce(hash, 52_000);
      expect(await ownMsat()).toBe(before);
    });

    test('pays after the first has failed, and a third does not', async () => {
      const hold = await bob().holds('53000');
      const first = xpay(hold.invoice);
      await hold.accepted();
      await hold.cancel();
      expect((await first).error).not.toBeNull();
      expect((await parts(hold.hash)).map(({ status }) => status)).toEqual(['failed']);
      const second = xpay(hold.invoice);
      await hold.accepted();
      await hold.settle();
      expect((await second).paid).not.toBeNull();
      expect([219, -3]).toContain(codeOf(await xpay(hold.invoice)) as number);
      await expectPaidOnce(hold.hash, 53_000);
    });

    test('makes one payment with the first when both are asked for at once', async () => {
      const before = await ownMsat();
      const rounds = 5;
      for (let round = 0; round < rounds; round += 1) {
        const { invoice, hash } = await bob().invoice({ amount_msat: 54_000 });
        const all = await Promise.all([1, 2, 3, 4].map(() => xpay(invoice)));
        expect(all.filter(({ paid }) => paid !== null)).toHaveLength(1);
        await expectPaidOnce(hash, 54_000);
      }
      expect(before - (await ownMsat())).toBe(rounds * 54_000);
    });

    test('makes at most one payment with the first when lightningd is killed at any moment in between', async () => {
      const before = await ownMsat();
      let paidMsat = 0;
      for (const delayMs of [0, 3, 10, 20, 30, 40, 50, 60, 80, 100]) {
        const { invoice, hash } = await bob().invoice({ amount_msat: 55_000 });
        const first = xpay(invoice);
        await sleep(delayMs);
        await restart();
        await first;
        const isPaid = await waitUntil('the part is over, or lost', async () => {
          const { error } = await xpay(invoice);
          const [part] = await parts(hash);
          if (part?.status === 'complete') return 'yes';
          // Killed between two writes, lightningd keeps a part that no channel has, and gives way to it for ever.
          const isLost = part?.status === 'pending' && !(await isInChannel(hash));
          if (isLost) expect(codeOf({ error })).toBe(-3);
          return isLost && 'no';
        });
        if (isPaid === 'yes') await expectPaidOnce(hash, 55_000);
        else expect(await received(hash)).toBeUndefined();
        paidMsat += isPaid === 'yes' ? 55_000 : 0;
      }
      expect(before - (await ownMsat())).toBe(paidMsat);
    });
  });

  let created = Date.now();
  /** An order of the connector, and the row that the wallet has of it. */
  function order(invoice: string): { command: PayInvoiceCommand; payment: Payment } {
    const read = decodeBolt11(invoice);
    created += 1;
    const index = paymentIndex(created, paymentId('ln', read.paymentHash));
    const amountMsat = read.amountMsat ?? 0n;
    const begun = { index, createdAtMs: created, amountMsat };
    const kind = { rail: 'invoice', direction: 'outbound' } as const;
    const pending = { status: 'pending', statusMsg: 'pending', updatedAtMs: created } as const;
    const payment = { ...blankPayment({ ...begun, ...kind, ...pending }), amountMsat };
    return {
      command: {
        ...begun,
        maxFeeMsat: 5000n,
        personalNote: null,
        externalId: null,
        message: null,
        invoice: read,
      },
      payment: { ...payment, hash: read.paymentHash, expiresAtMs: read.expiresAtMs },
    };
  }
  const outcome = (payment: Payment): Promise<SendOutcome> =>
    node.sendOutcome({ payment, afterAttempt: null, attempt: null, signed: null, fetched: null });
  const completed = (payment: Payment) =>
    waitUntil('it is paid', async () => {
      const told = await outcome(payment);
      return told.state === 'known' && told.payment.status === 'completed';
    });
  const indexOf = (told: SendReport | SendOutcome) =>
    told.state === 'known' || told.state === 'taken' ? told.payment.index : null;

  describe('the connector', () => {
    test(
      `says whose payment it is when another program pays the same invoice (${RACES} races)`,
      async () => {
        const seen: Record<string, number> = {};
        for (let race = 0; race < RACES; race += 1) {
          const { invoice, hash } = await bob().invoice({ amount_msat: 56_000 });
          const { command, payment } = order(invoice);
          const lead = MOST_AHEAD_MS - ((race * STEP_MS) % (MOST_AHEAD_MS + MOST_BEHIND_MS));
          const [report] = await Promise.all([
            sleep(Math.max(0, lead)).then(() => node.payInvoice(command)),
            sleep(Math.max(0, -lead)).then(() =>
              network()
                .alice.rpc('xpay', { invstring: invoice })
                .catch(() => null),
            ),
          ]);
          const end = await waitUntil('it is known whose payment it is', async () => {
            const told = await outcome(payment);
            return told.state !== 'unknown' && told;
          });
          const isOurs = (await expectPaidOnce(hash, 56_000)).label !== undefined;
          const name = `${report.state}, ${end.state}`;
          seen[name] = (seen[name] ?? 0) + 1;
          if (isOurs) {
            expect(indexOf(report)).toBe(command.index);
            expect(end).toMatchObject({ payment: { index: command.index, status: 'completed' } });
            continue;
          }
          // Ours may have failed before the other began.
          const state = end.state === 'known' ? 'known' : 'taken';
          const status = end.state === 'known' ? 'failed' : 'completed';
          expect(report.state).toBe(state);
          expect(end).toMatchObject({ state, payment: { status } });
          const latest = await node.latestPayment(paymentId('ln', hash));
          if (state === 'taken') expect(indexOf(report)).toBe(latest?.payment.index ?? null);
        }
        console.log('races by report and outcome:', seen);
      },
      60_000 + RACES * 5000,
    );

    test('sends a request again that the node never got, and then not once more', async () => {
      proxy.rules({
        method: 'POST',
        path: /^\/v1\/xpay$/,
        nth: 1,
        fault: { kind: 'cut-before' },
      });
      const { invoice, hash } = await bob().invoice({ amount_msat: 57_000 });
      const { command, payment } = order(invoice);
      expect(await node.payInvoice(command)).toMatchObject({ state: 'unknown' });
      proxy.rules();
      expect(await outcome(payment)).toEqual({ state: 'unknown' });
      const repeat = { ...command, isRepeat: true };
      const mine = { state: 'known', payment: { index: command.index } };
      expect(await node.payInvoice(repeat)).toMatchObject(mine);
      expect(await node.payInvoice(repeat)).toMatchObject(mine);
      await completed(payment);
      await expectPaidOnce(hash, 57_000);
    });

    test('sends a request again whose answer was lost: the first attempt is the payment', async () => {
      const hold = await bob().holds('58000');
      proxy.rules({
        method: 'POST',
        path: /^\/v1\/xpay$/,
        nth: 1,
        fault: { kind: 'page', status: 502 },
      });
      const { command, payment } = order(hold.invoice);
      const report = node.payInvoice(command);
      await hold.accepted();
      const repeat = { ...command, isRepeat: true };
      expect(await node.payInvoice(repeat)).toMatchObject({
        state: 'known',
        payment: { index: command.index, status: 'pending' },
      });
      await restart();
      expect(await node.payInvoice(repeat)).toMatchObject({ state: 'known' });
      await hold.settle();
      await report;
      proxy.rules();
      await completed(payment);
      await expectPaidOnce(hold.hash, 58_000);
    });

    test('waits with a repeat while another program pays, and gives way when that has paid', async () => {
      const hold = await bob().holds('59000');
      const operator = network().alice.rpc('xpay', { invstring: hold.invoice });
      await hold.accepted();
      const { command, payment } = order(hold.invoice);
      const repeat = { ...command, isRepeat: true };
      expect(await node.payInvoice(repeat)).toMatchObject({ state: 'unknown' });
      expect(await node.payInvoice(command)).toMatchObject({
        state: 'taken',
        payment: { status: 'pending' },
      });
      await hold.settle();
      await operator;
      expect(await node.payInvoice(repeat)).toMatchObject({
        state: 'taken',
        payment: { status: 'completed', preimage: hold.preimage },
      });
      expect(await outcome(payment)).toMatchObject({ state: 'taken' });
      await expectPaidOnce(hold.hash, 59_000);
    });
  });
});
