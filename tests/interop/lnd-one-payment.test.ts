import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { base64, hex } from '@scure/base';
import { SLOW_TEST_MS, waitUntil } from '../support/until.ts';
import { fund, openChannel, usable } from './harness/channels.ts';
import { hasNativeSql } from './harness/describe-network.ts';
import { describeNetwork, type LndNode, LndRestError } from './harness/index.ts';
import { lndSteps } from './harness/lnd-steps.ts';
import { type LndPayment, lndPayments, outsider } from './outsider.ts';

setDefaultTimeout(2 * SLOW_TEST_MS);

/** A channel in the graph, with the fees that its two ends have told. */
interface Edge {
  readonly node1_policy: unknown;
  readonly node2_policy: unknown;
}

/** The gRPC status by which LND refuses a payment because it has another one of the hash. */
const ALREADY_EXISTS = 6;
const LONG_MS = 600_000;
/** Milliseconds after the request at which LND is killed. */
const KILLED_AFTER_MS = [0, 20, 150];
/** Requests that are sent again after that. */
const ROUNDS = 12;

/**
 * What docs/decisions.md 151 rests on: in every state LND makes at most one payment of a hash, so that a request may be
 * sent again.
 */
describeNetwork(
  'LND makes one payment of a hash',
  (network) => {
    let carol: LndNode;
    beforeAll(async () => {
      const { bob, alice, btcd } = network();
      carol = await network().addBeyondBob('carol');
      // A second, longer way to carol, over dave. Of the first one bob then has too little left for 3,000,000 sats.
      const dave = await network().addBeyondBob('dave');
      const [from, to] = [lndSteps(dave), lndSteps(carol)];
      await fund(btcd, [from]);
      await openChannel(btcd, from, to);
      await usable([from, to]);
      await waitUntil('alice knows both channels of dave', async () => {
        const path = `/v1/graph/node/${dave.pubkey}?include_channels=true`;
        const { channels } = await alice.rest<{ channels: Edge[] }>('GET', path);
        return channels.filter((one) => one.node1_policy && one.node2_policy).length === 2;
      });
      const { invoice } = await outsider(carol).invoice({ value: '8000000' });
      expect(await outsider(bob).pays(invoice)).toBe('SUCCEEDED');
    }, LONG_MS);

    /** Asks LND to pay, and returns once it has answered: its first word on the payment, or the code of its refusal. */
    async function asks(invoice: string, feeLimitMsat = 100_000): Promise<LndPayment | number> {
      const body = {
        payment_request: invoice,
        fee_limit_msat: `${feeLimitMsat}`,
        timeout_seconds: 60,
      };
      try {
        for await (const first of network().alice.stream<LndPayment>(
          'POST',
          '/v2/router/send',
          body,
        )) {
          return first;
        }
      } catch (error) {
        if (error instanceof LndRestError) {
          return (error.body as { error: { code: number } }).error.code;
        }
        throw error;
      }
      throw new Error('LND said nothing');
    }
    const listed = (hash: string) => lndPayments(network().alice, hash);
    const isNow = (hash: string, status: string) =>
      waitUntil(`the payment is ${status}`, async () => {
        const [payment] = await listed(hash);
        return payment?.status === status && payment;
      });
    const paidMsat = async (node: LndNode, hash: string) =>
      (await node.rest<{ amt_paid_msat: string }>('GET', `/v1/invoice/${hash}`)).amt_paid_msat;
    async function restarted(how: 'stop' | 'kill' = 'stop'): Promise<void> {
      const { alice } = network();
      await alice[how]();
      await alice.start();
      await network().channelUsable();
    }

    test(
      'while it is in flight and after it was paid, also over restarts',
      async () => {
        const hold = await outsider(network().bob).holds('1000000');
        const first = await asks(hold.invoice);
        expect(first).toMatchObject({ payment_hash: hold.hash });
        expect(await asks(hold.invoice)).toBe(ALREADY_EXISTS);
        await hold.accepted();
        expect(await asks(hold.invoice)).toBe(ALREADY_EXISTS);
        await restarted();
        expect(await asks(hold.invoice)).toBe(ALREADY_EXISTS);
        await restarted('kill');
        expect(await asks(hold.invoice)).toBe(ALREADY_EXISTS);
        await hold.settle();
        const { creation_time_ns } = await isNow(hold.hash, 'SUCCEEDED');
        expect(await asks(hold.invoice)).toBe(ALREADY_EXISTS);
        await restarted();
        expect(await asks(hold.invoice)).toBe(ALREADY_EXISTS);
        const [payment, ...more] = await listed(hold.hash);
        expect(more).toEqual([]);
        expect(payment).toMatchObject({ status: 'SUCCEEDED', creation_time_ns });
        expect(first).toMatchObject({ creation_time_ns });
        expect(payment?.htlcs.filter(({ status }) => status === 'SUCCEEDED')).toHaveLength(1);
      },
      LONG_MS,
    );

    test(
      'while a part has failed and another is in flight',
      async () => {
        const hold = await outsider(carol).holds('3000000000');
        await asks(hold.invoice, 10_000_000);
        await hold.accepted();
        const states = async () =>
          (await listed(hold.hash))[0]?.htlcs.map(({ status }) => status).toSorted();
        expect(await states()).toContain('FAILED');
        expect(await states()).toContain('IN_FLIGHT');
        expect(await asks(hold.invoice, 10_000_000)).toBe(ALREADY_EXISTS);
        await restarted();
        expect(await asks(hold.invoice, 10_000_000)).toBe(ALREADY_EXISTS);
        await hold.settle();
        await isNow(hold.hash, 'SUCCEEDED');
        expect(await asks(hold.invoice, 10_000_000)).toBe(ALREADY_EXISTS);
        expect(await paidMsat(carol, hold.hash)).toBe('3000000000');
      },
      LONG_MS,
    );

    test(
      'and another only after it has failed, which has a later creation time',
      async () => {
        const { invoice, hash } = await outsider(carol).invoice({ value_msat: '1000000' });
        const times: bigint[] = [];
        for (const feeLimitMsat of [0, 0, 0, 100_000]) {
          const attempt = await asks(invoice, feeLimitMsat);
          expect(attempt).toMatchObject({ payment_hash: hash });
          const { creation_time_ns } = await isNow(
            hash,
            feeLimitMsat === 0 ? 'FAILED' : 'SUCCEEDED',
          );
          times.push(BigInt(creation_time_ns) / 1000n);
          expect(await listed(hash)).toHaveLength(1);
          if (times.length === 2) await restarted();
        }
        expect(times.toSorted((a, b) => Number(a - b))).toEqual(times);
        expect(new Set(times).size).toBe(times.length);
        expect(await asks(invoice)).toBe(ALREADY_EXISTS);
        expect(await paidMsat(carol, hash)).toBe('1000000');
      },
      LONG_MS,
    );

    test(
      'of two requests that meet, and of one that is sent again after LND was killed',
      async () => {
        const met = await outsider(network().bob).invoice({ value_msat: '1000000' });
        const answers = await Promise.all([1, 2, 3, 4].map(() => asks(met.invoice)));
        expect(answers.filter((one) => one !== ALREADY_EXISTS)).toHaveLength(1);
        for (const afterMs of KILLED_AFTER_MS) {
          const { invoice, hash } = await outsider(network().bob).invoice({
            value_msat: '2000000',
          });
          const lost = asks(invoice).catch(() => null);
          await Bun.sleep(afterMs);
          await restarted('kill');
          await lost;
          // LND fails or ends what was cut off once its channel is usable, or leaves it in flight for good.
          let status = '';
          for (let round = 0; round < ROUNDS && status !== 'SUCCEEDED'; round++) {
            await asks(invoice);
            await Bun.sleep(500);
            const all = await listed(hash);
            expect(all).toHaveLength(1);
            status = all[0]?.status ?? '';
          }
          expect(['SUCCEEDED', 'IN_FLIGHT']).toContain(status);
          expect(await asks(invoice)).toBe(ALREADY_EXISTS);
          const paid = status === 'SUCCEEDED' ? '2000000' : '0';
          expect([afterMs, await paidMsat(network().bob, hash)]).toEqual([afterMs, paid]);
        }
      },
      LONG_MS,
    );

    test('also of a keysend, which has no invoice', async () => {
      const preimage = crypto.getRandomValues(new Uint8Array(32));
      const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', preimage));
      const body = {
        dest: base64.encode(hex.decode(network().bob.pubkey)),
        amt_msat: '3000000',
        payment_hash: base64.encode(hash),
        dest_custom_records: { '5482373484': base64.encode(preimage) },
        dest_features: [9],
        fee_limit_msat: '1000',
        timeout_seconds: 30,
      };
      const send = async () => {
        try {
          const { alice } = network();
          return (await Array.fromAsync(alice.stream<LndPayment>('POST', '/v2/router/send', body)))
            .length;
        } catch (error) {
          if (!(error instanceof LndRestError)) throw error;
          return (error.body as { error: { code: number } }).error;
        }
      };
      expect(await send()).toBeGreaterThan(0);
      expect(await send()).toMatchObject({ code: ALREADY_EXISTS });
      await restarted();
      expect(await send()).toMatchObject({ code: ALREADY_EXISTS });
    });
  },
  (version) => (hasNativeSql(version) ? ['bbolt', 'native-sql'] : ['bbolt']),
);
