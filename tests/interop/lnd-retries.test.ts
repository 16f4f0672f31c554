import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { Body } from '../support/requests.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { connectLnd } from './connect.ts';
import { describeNetwork, type LndNode } from './harness/index.ts';
import { type NodeSidecar, paymentEnd } from './node-sidecar.ts';
import { type NoticeReceiver, startNoticed } from './notices.ts';
import { lndPayments, type OutsideInvoice, outsider } from './outsider.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** Retried payments; INTEROP_RETRIES=100 is the long run. */
const RETRIES = Number(process.env.INTEROP_RETRIES ?? 12);
/** The number of payments in progress at a time. */
const AT_ONCE = 24;
/** Seconds between the answer with the failure and the retry: none, and before and after LND's own pauses. */
const PAUSES_SECS = [0, 1, 6, 12] as const;
const LONG_MS = 600_000;
const ENOUGH = '10';

/** An invoice that was paid with too low a max_fee first, and then with enough. */
interface Retried extends OutsideInvoice {
  readonly how: string;
  readonly amountMsat: bigint;
  readonly failed: Body;
  readonly paid: Body;
}

const PAY = '/v2/node/pay_invoice';

describeNetwork('an invoice that failed and is paid again', (network) => {
  let notices: NoticeReceiver;
  let sidecar: NodeSidecar;
  let carol: LndNode;
  let client: { client_credentials: string };
  beforeAll(async () => {
    carol = await network().addBeyondBob('carol');
    ({ notices, sidecar } = await startNoticed(await connectLnd(network().alice)));
    client = await sidecar.post('/v2/node/create_client', {
      scopes: ['full'],
      budget: { amount: '1000000', period: 'total' },
    });
  }, LONG_MS);
  afterAll(async () => {
    await sidecar?.close();
    await notices?.stop();
  });

  async function attempt(invoice: string, maxFee: string, how: string): Promise<Body> {
    const { status, body } = await sidecar.call('POST', PAY, {
      body: { invoice, max_fee: maxFee },
      credentials: client.client_credentials,
      headers: how === 'respond-async' ? { prefer: how } : {},
    });
    expect(status).toBe(body.status === 'pending' ? 202 : 200);
    if (status === 200) return body;
    return paymentEnd(sidecar, body.index);
  }

  async function retried(nth: number): Promise<Retried> {
    const pauseSecs = PAUSES_SECS[nth % PAUSES_SECS.length] ?? 0;
    const how = Math.floor(nth / PAUSES_SECS.length) % 2 === 0 ? 'blocking' : 'respond-async';
    const amountMsat = 1_000_000n + BigInt(nth) * 1_000n;
    const made = await outsider(carol).invoice({ value_msat: `${amountMsat}` });
    const failed = await attempt(made.invoice, '0', how);
    await Bun.sleep(pauseSecs * 1000);
    const paid = await attempt(made.invoice, ENOUGH, how);
    return { ...made, how: `${how}, ${pauseSecs} s`, amountMsat, failed, paid };
  }

  const spentMsat = async () => {
    const info = await sidecar.get('/v2/node/client_info', {}, client.client_credentials);
    return Math.round(Number(info.budget.spent) * 1000);
  };
  const listed = () => lndPayments(network().alice);
  /** Every row of the cache after a sync, in the order of the list. */
  async function rows(): Promise<Body[]> {
    await sidecar.put('/v2/node/sync_payments');
    const all: Body[] = [];
    let after: string | undefined;
    while (true) {
      const { payments, next_index } = await sidecar.get('/v2/node/list_payments', {
        filter: 'all',
        limit: '10',
        ...(after === undefined ? {} : { after }),
      });
      all.push(...payments);
      if (next_index === null) return all;
      after = next_index;
    }
  }

  test(
    `is two payments, of which each has one end, one row and one webhook (${RETRIES} times)`,
    async () => {
      const done: Retried[] = [];
      for (let begun = 0; begun < RETRIES; begun += AT_ONCE) {
        const count = Math.min(AT_ONCE, RETRIES - begun);
        const round = Array.from({ length: count }, (_, nth) => retried(begun + nth));
        done.push(...(await Promise.all(round)));
      }

      const payments = await listed();
      for (const { hash, how, amountMsat, failed, paid } of done) {
        expect([how, failed.status]).toEqual([how, 'failed']);
        expect([how, paid.status]).toEqual([how, 'completed']);
        expect(paid.index).not.toBe(failed.index);
        const own = payments.filter(({ payment_hash }) => payment_hash === hash);
        expect(own.filter(({ status }) => status === 'SUCCEEDED')).toHaveLength(1);
        const succeeded = own.find(({ status }) => status === 'SUCCEEDED');
        expect(paid).toMatchObject({ hash, preimage: succeeded?.payment_preimage });
        expect(Math.round(Number(paid.fees) * 1000)).toBe(Number(succeeded?.fee_msat));
        expect(Number(succeeded?.fee_msat)).toBeGreaterThan(0);
        const received = await carol.rest<{ state: string; amt_paid_msat: string }>(
          'GET',
          `/v1/invoice/${hash}`,
        );
        expect(received).toMatchObject({ state: 'SETTLED', amt_paid_msat: `${amountMsat}` });
      }

      // A block makes the feed read LND's lists again. If it took an earlier attempt for a new one, that shows then.
      await network().btcd.generate(1);
      for (const { failed, paid } of done) {
        await notices.delivered(failed.index, 'failed');
        await notices.delivered(paid.index, 'completed');
      }
      const known = await rows();
      for (const { hash, failed, paid } of done) {
        const own = known.filter((row) => row.hash === hash);
        const states = own.map(({ index, status }) => `${index} ${status}`).toSorted();
        expect(states).toEqual([`${failed.index} failed`, `${paid.index} completed`].toSorted());
        for (const row of own) expect(row.amount).toBe(paid.amount);
        expect(notices.byIndex.get(failed.index)).toHaveLength(1);
        expect(notices.byIndex.get(paid.index)).toHaveLength(1);
      }
      expect(notices.byIndex.size).toBe(2 * done.length);
      const spent = payments
        .filter(({ status }) => status === 'SUCCEEDED')
        .reduce((sum, { value_msat, fee_msat }) => sum + Number(value_msat) + Number(fee_msat), 0);
      expect(await spentMsat()).toBe(spent);
      console.log(
        `Retried payments on LND ${network().version}: ${done.length} failed and paid again; ` +
          `${known.length} rows, ${notices.byIndex.size} webhooks, spent ${spent} msat, all as LND says.`,
      );
    },
    LONG_MS,
  );
});
