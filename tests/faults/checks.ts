import { expect } from 'bun:test';
import type { PaymentJson } from '../../src/model/payment.ts';
import type { DevSidecar } from '../support/dev-sidecar.ts';
import { until } from '../support/until.ts';
import type { UnreliableReceiver } from './receiver.ts';

/** What both wallets hold, satoshis. */
export async function totalSats(sidecar: DevSidecar, credentials: string): Promise<number> {
  const infos = await Promise.all(
    [null, credentials].map((wallet) =>
      sidecar.call('GET', '/v2/node/node_info', wallet === null ? {} : { credentials: wallet }),
    ),
  );
  return infos.reduce(
    (sum: number, info) => sum + Number((info as { balance: string }).balance),
    0,
  );
}

/**
 * Checks both wallets after the load has ended. Every final invoice payment (the second wallet pays) was delivered
 * under exactly one id, and no pending one was. No outbound payment is pending, and the caches are correct. The
 * receiver must accept everything by then.
 */
export async function expectNothingLost(
  sidecar: DevSidecar,
  credentials: string,
  receiver: UnreliableReceiver,
): Promise<void> {
  for (const wallet of [null, credentials]) {
    const payments = await allPayments(sidecar, wallet);
    const byInvoice = payments.filter(({ rail }) => rail === 'invoice');
    const finalized = byInvoice.filter(({ status }) => status !== 'pending');
    const ids = ({ index }: PaymentJson) => receiver.ids(wallet !== null, index);
    await eventually(async () => {
      // An attempt that was on its way when the receiver began to behave may be the last one of its delivery.
      await deliverEverything(sidecar, wallet);
      return finalized.every((payment) => ids(payment).size > 0);
    });
    const missing = finalized.filter((payment) => ids(payment).size === 0);
    expect(missing.map(({ index }) => index)).toEqual([]);
    for (const payment of finalized) expect(ids(payment).size).toBe(1);
    const pending = byInvoice.filter(({ status }) => status === 'pending');
    expect(pending.filter(({ direction }) => direction === 'outbound')).toEqual([]);
    for (const payment of pending) expect(ids(payment).size).toBe(0);
    await expectCacheEqualsNode(sidecar, wallet, payments);
  }
  expect(receiver.invalid()).toEqual([]);
  expect(receiver.accepted().size).toBeGreaterThan(0);
}

/** Every payment of a wallet (null is the default one), in the order of its last update, which only goes forward. */
async function allPayments(sidecar: DevSidecar, wallet: string | null): Promise<PaymentJson[]> {
  const payments = new Map<string, PaymentJson>();
  let start: string | null = '';
  let lastMs = 0;
  while (start !== null) {
    const page = (await sidecar.call('GET', '/v2/node/updated_payments', {
      query: { limit: '100', ...(start === '' ? {} : { start_index: start }) },
      ...(wallet === null ? {} : { credentials: wallet }),
    })) as { payments: PaymentJson[]; updated_index: string | null };
    for (const payment of page.payments) {
      expect(payment.updated_at).toBeGreaterThan(lastMs);
      lastMs = payment.updated_at;
      payments.set(payment.index, payment);
    }
    start = page.updated_index;
  }
  return [...payments.values()];
}

/** Deliveries that the receiver failed three times are kept, and sent again on request. */
async function deliverEverything(sidecar: DevSidecar, wallet: string | null): Promise<void> {
  const who = wallet === null ? {} : { credentials: wallet };
  const { deliveries } = (await sidecar.call('GET', '/v2/webhooks/deliveries', {
    query: { state: 'failed', limit: '500' },
    ...who,
  })) as { deliveries: { id: string }[] };
  for (const { id } of deliveries) {
    await sidecar.call('POST', '/v2/webhooks/redeliver', { body: { id }, ...who });
  }
}

/** Checks that the cache holds exactly these payments after a sync. */
async function expectCacheEqualsNode(
  sidecar: DevSidecar,
  wallet: string | null,
  payments: readonly PaymentJson[],
): Promise<void> {
  const who = wallet === null ? {} : { credentials: wallet };
  await sidecar.call('PUT', '/v2/node/sync_payments', who);
  const cached: PaymentJson[] = [];
  let after: string | null = '';
  while (after !== null) {
    const page = (await sidecar.call('GET', '/v2/node/list_payments', {
      query: { filter: 'all', order: 'asc', limit: '1000', ...(after === '' ? {} : { after }) },
      ...who,
    })) as { payments: PaymentJson[]; next_index: string | null };
    cached.push(...page.payments);
    after = page.next_index;
  }
  expect(cached).toEqual(payments.toSorted((a, b) => (a.index < b.index ? -1 : 1)));
}

/**
 * Waits until `holds` returns true, at most for the given time. It does not throw: the check that follows tells what is
 * missing.
 */
export async function eventually(
  holds: () => boolean | Promise<boolean>,
  mostMs = 30_000,
): Promise<void> {
  await until(holds, 'it held', mostMs).catch(() => undefined);
}
