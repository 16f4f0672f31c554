import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PaymentJson } from '../../src/model/payment.ts';
import { type FaultSidecar, freePort, randomFrom, startFaultSidecar } from './sidecar.ts';

/** `FAULT_ROUNDS=300 FAULT_SEED=… npm run test:faults` for the long run; a failure prints its seed. */
const ROUNDS = Number(process.env.FAULT_ROUNDS ?? 12);
const SEED = Number(process.env.FAULT_SEED ?? Date.now() % 1_000_000);

const folder = mkdtempSync(join(tmpdir(), 'wallet-sidecar-kill-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Notice extends PaymentJson {
  readonly user_pk: string;
}

test(
  `killed ${ROUNDS} times under load (seed ${SEED}): no notice is lost or invented, no money is made or lost`,
  async () => {
    const random = randomFrom(SEED);
    const receiver = unreliableReceiver(random);
    const start = () =>
      startFaultSidecar({ dataDir: join(folder, 'data'), port: PORT, webhookUrl: receiver.url });
    let sidecar = await start();
    const second = (await sidecar.call('POST', '/sandbox/wallets', { body: {} })) as {
      client_credentials: string;
    };
    const credentials = second.client_credentials;
    const total = await totalSats(sidecar, credentials);

    for (let round = 0; round < ROUNDS; round++) {
      const load = keepPaying(sidecar, credentials, `${SEED}-${round}`);
      await Bun.sleep(20 + Math.floor(random() * 250));
      await sidecar.kill();
      await load;
      sidecar = await start();
    }

    receiver.behave();
    expect(await totalSats(sidecar, credentials)).toBe(total);
    for (const wallet of [null, credentials]) {
      const payments = await allPayments(sidecar, wallet);
      const finalized = payments.filter(
        ({ rail, status }) => rail === 'invoice' && status !== 'pending',
      );
      await deliverEverything(sidecar, wallet);
      await eventually(() =>
        finalized.every(({ index }) => receiver.ids(wallet !== null, index).size > 0),
      );
      const missing = finalized.filter(
        ({ index }) => receiver.ids(wallet !== null, index).size === 0,
      );
      expect(missing.map(({ index }) => index)).toEqual([]);
      for (const { index } of finalized) expect(receiver.ids(wallet !== null, index).size).toBe(1);
      const pending = payments.filter(
        ({ rail, status }) => rail === 'invoice' && status === 'pending',
      );
      expect(pending.filter(({ direction }) => direction === 'outbound')).toEqual([]);
      for (const { index } of pending) expect(receiver.ids(wallet !== null, index).size).toBe(0);
      await expectCacheEqualsNode(sidecar, wallet, payments);
    }
    expect(receiver.notices()).toBeGreaterThan(0);
    await sidecar.stop();
    await receiver.stop();
  },
  20 * 60_000,
);

const PORT = freePort();

/** Fails, hangs and answers slowly at random, until told to behave; remembers what it was told. */
function unreliableReceiver(random: () => number) {
  let good = false;
  const seen = new Map<string, Set<string>>();
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const notice = (await request.json()) as Notice;
      const id = request.headers.get('webhook-id') ?? '';
      expect(notice.status).not.toBe('pending');
      const mood = good ? 1 : random();
      if (mood < 0.1) await Bun.sleep(300);
      if (mood < 0.25) return new Response(null, { status: 503 });
      const key = `${notice.direction === 'outbound'} ${notice.index}`;
      seen.set(key, (seen.get(key) ?? new Set()).add(id));
      return new Response(null, { status: 200 });
    },
  });
  return {
    url: server.url.href,
    behave: () => {
      good = true;
    },
    /** Ids under which a payment was noticed; only the second wallet pays, so the direction names the wallet. */
    ids: (outbound: boolean, index: string) =>
      seen.get(`${outbound} ${index}`) ?? new Set<string>(),
    notices: () => seen.size,
    stop: () => server.stop(true),
  };
}

/** Invoices of the first wallet, paid by the second, several at a time, until the sidecar is gone. */
async function keepPaying(
  sidecar: FaultSidecar,
  credentials: string,
  prefix: string,
): Promise<void> {
  const worker = async (name: string) => {
    for (let turn = 0; ; turn++) {
      const key = { 'idempotency-key': `${prefix}-${name}-${turn}` };
      const created = (await sidecar.call('POST', '/v2/node/create_invoice', {
        body: { amount: '7' },
        headers: key,
      })) as { invoice: string };
      await sidecar.call('POST', '/v2/node/pay_invoice', {
        body: { invoice: created.invoice },
        headers: key,
        credentials,
      });
    }
  };
  await Promise.allSettled(['a', 'b', 'c', 'd'].map(worker));
}

async function totalSats(sidecar: FaultSidecar, credentials: string): Promise<number> {
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

async function allPayments(sidecar: FaultSidecar, wallet: string | null): Promise<PaymentJson[]> {
  const payments = new Map<string, PaymentJson>();
  let start: string | null = '';
  while (start !== null) {
    const page = (await sidecar.call('GET', '/v2/node/updated_payments', {
      query: { limit: '100', ...(start === '' ? {} : { start_index: start }) },
      ...(wallet === null ? {} : { credentials: wallet }),
    })) as { payments: PaymentJson[]; updated_index: string | null };
    for (const payment of page.payments) payments.set(payment.index, payment);
    start = page.updated_index;
  }
  return [...payments.values()];
}

/** Deliveries that the receiver failed three times are kept, and sent again on request. */
async function deliverEverything(sidecar: FaultSidecar, wallet: string | null): Promise<void> {
  const who = wallet === null ? {} : { credentials: wallet };
  const { deliveries } = (await sidecar.call('GET', '/v2/webhooks/deliveries', {
    query: { state: 'failed', limit: '500' },
    ...who,
  })) as { deliveries: { id: string }[] };
  for (const { id } of deliveries) {
    await sidecar.call('POST', '/v2/webhooks/redeliver', { body: { id }, ...who });
  }
}

async function expectCacheEqualsNode(
  sidecar: FaultSidecar,
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

async function eventually(holds: () => boolean): Promise<void> {
  for (let round = 0; round < 600 && !holds(); round++) await Bun.sleep(50);
}
