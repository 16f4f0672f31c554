import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { Body } from '../support/requests.ts';
import { SLOW_TEST_MS, waitUntil } from '../support/until.ts';
import { connectLnd } from './connect.ts';
import { hasNativeSql } from './harness/describe-network.ts';
import { describeNetwork, type LndDatabase, type LndNode } from './harness/index.ts';
import type { NodeSidecar } from './node-sidecar.ts';
import { type NoticeReceiver, startNoticed } from './notices.ts';
import { type LndPayment, outsider } from './outsider.ts';

setDefaultTimeout(2 * SLOW_TEST_MS);

const ENOUGH = '10';
const LONG_MS = 600_000;

describeNetwork(
  'an LND that moves to native SQL under a followed wallet',
  (network) => {
    let notices: NoticeReceiver;
    let sidecar: NodeSidecar;
    let carol: LndNode;
    beforeAll(async () => {
      carol = await network().addBeyondBob('carol');
      ({ notices, sidecar } = await startNoticed(await connectLnd(network().alice)));
    }, LONG_MS);
    afterAll(async () => {
      await sidecar?.close();
      await notices?.stop();
    });

    const listed = async (omitHops = false): Promise<readonly LndPayment[]> => {
      const path = `/v1/payments?include_incomplete=true&omit_hops=${omitHops}`;
      return (await network().alice.rest<{ payments: LndPayment[] }>('GET', path)).payments;
    };
    const pay = (invoice: string, maxFee: string) =>
      sidecar.post('/v2/node/pay_invoice', { invoice, max_fee: maxFee });
    const made = (amountMsat: string) => outsider(carol).invoice({ value_msat: amountMsat });
    /** The rows of outgoing payments of that hash, the oldest first. */
    async function rowsOf(hash: string): Promise<Body[]> {
      await sidecar.put('/v2/node/sync_payments');
      const { payments } = await sidecar.get('/v2/node/list_payments', { filter: 'all' });
      return payments
        .filter((one: Body) => one.hash === hash)
        .toSorted((a: Body, b: Body) => (a.index < b.index ? -1 : 1));
    }
    const states = async (hash: string) => (await rowsOf(hash)).map(({ status }) => status);
    async function restartedWith(database: LndDatabase) {
      const { alice } = network();
      await alice.stop();
      await alice.start(database);
      await network().channelUsable();
    }

    test(
      'shows each payment once, with its end and its fees, and tells of retries as before',
      async () => {
        const { alice } = network();
        const [failed, retried, paid, others] = [
          await made('1000000'),
          await made('2000000'),
          await made('3000000'),
          await made('4000000'),
        ];
        expect((await pay(failed.invoice, '0')).status).toBe('failed');
        expect((await pay(retried.invoice, '0')).status).toBe('failed');
        expect((await pay(paid.invoice, ENOUGH)).status).toBe('completed');
        for (const round of [1, 2]) {
          expect([round, (await pay(retried.invoice, '0')).status]).toEqual([round, 'failed']);
        }
        expect((await pay(retried.invoice, ENOUGH)).status).toBe('completed');
        expect(await outsider(alice).pays(others.invoice)).toBe('SUCCEEDED');
        const hold = await outsider(network().bob).holds('5000000');
        const waiting = sidecar.post('/v2/node/pay_invoice', { invoice: hold.invoice });
        waiting.catch(() => undefined);
        await hold.accepted();
        await waitUntil('all are told', async () => (await states(others.hash)).length === 1);
        const hashes = [failed, retried, paid, others, hold].map(({ hash }) => hash);
        const before = await Promise.all(hashes.map(rowsOf));
        expect(before.map(({ length }) => length)).toEqual([1, 4, 1, 1, 1]);
        const old = await listed();

        await restartedWith('native-sql');
        const now = await listed();
        // What the test is about: other numbers, the same times.
        const numbers = (all: readonly LndPayment[]) => all.map((one) => Number(one.payment_index));
        expect(Math.max(...numbers(now))).toBeLessThan(Math.max(...numbers(old)));
        expect(numbers(now)).toEqual(now.map((_, at) => at + 1));
        for (const one of old) {
          const { creation_time_ns } =
            now.find((same) => same.payment_hash === one.payment_hash) ?? {};
          expect(creation_time_ns).toBe(one.creation_time_ns);
        }
        const feesOf = (all: readonly LndPayment[], hash: string) =>
          Number(all.find((one) => one.payment_hash === hash)?.fee_msat);
        expect(feesOf(now, paid.hash)).toBeGreaterThan(0);
        expect(feesOf(await listed(true), paid.hash)).toBe(0);

        await hold.settle();
        expect(await waiting).toMatchObject({ status: 'completed', preimage: hold.preimage });
        // A payment in the new database, so that the feed has read on since.
        const later = await made('6000000');
        const done = await pay(later.invoice, ENOUGH);
        expect(done.status).toBe('completed');
        await network().btcd.generate(1);
        await Bun.sleep(3000);
        const after = await Promise.all(hashes.map(rowsOf));
        expect(after.slice(0, 4)).toEqual(before.slice(0, 4));
        expect(after[4]).toMatchObject([{ status: 'completed', index: before[4]?.[0]?.index }]);
      },
      LONG_MS,
    );

    test(
      'tells of a retry that keeps the number of the attempt before, by this wallet and by others',
      async () => {
        const { alice } = network();
        const own = await made('7000000');
        for (const round of [1, 2]) {
          expect([round, (await pay(own.invoice, '0')).status]).toEqual([round, 'failed']);
        }
        expect((await pay(own.invoice, ENOUGH)).status).toBe('completed');
        expect(await states(own.hash)).toEqual(['failed', 'failed', 'completed']);

        // Another program retries while the sidecar is away, the last one LND has, and then pays another.
        const theirs = await made('8000000');
        const poor = { payment_request: theirs.invoice, fee_limit_msat: '0', timeout_seconds: 30 };
        await Array.fromAsync(alice.stream('POST', '/v2/router/send', poor));
        await waitUntil('it is told', async () => (await states(theirs.hash)).length === 1);
        const number = (await listed()).at(-1)?.payment_index;
        await network().btcd.generate(1);
        await Bun.sleep(3000);
        await sidecar.stop();
        expect(await outsider(alice).pays(theirs.invoice)).toBe('SUCCEEDED');
        expect((await listed()).at(-1)?.payment_index).toBe(number);
        const next = await made('9000000');
        expect(await outsider(alice).pays(next.invoice)).toBe('SUCCEEDED');
        await sidecar.start();
        await waitUntil('both are told', async () => (await states(next.hash)).length === 1);
        expect(await states(theirs.hash)).toEqual(['failed', 'completed']);
        expect(await states(next.hash)).toEqual(['completed']);
        const fees = (await listed()).find((one) => one.payment_hash === next.hash)?.fee_msat;
        expect(Number(fees)).toBeGreaterThan(0);
        expect((await rowsOf(next.hash))[0]?.fees).toBe(`${Number(fees) / 1000}`);
      },
      LONG_MS,
    );
  },
  (version) => (hasNativeSql(version) ? ['sqlite'] : []),
);
