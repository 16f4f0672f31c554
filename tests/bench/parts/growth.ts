import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { timed } from '../compared.ts';
import { residentMb } from '../floors.ts';
import { inWords, type Latency, latencyOf } from '../latency.ts';
import type { Point } from '../page/picture.ts';
import { makePair, newWallet, type Sandbox, startSandbox, TERMS } from '../sandbox.ts';
import { seedPayments } from '../seed-payments.ts';
import { seedSpending } from '../seed-spending.ts';
import { setting } from '../settings.ts';
import type { Bench } from './part.ts';

const SIZES = [1_000, 10_000, 100_000, 1_000_000];
/** Payments that are made to see what one takes on disk, which a page of the file would hide if they were few. */
const MADE = 500;
const LIST = '/v2/node/list_payments?filter=all&limit=100';

/** The wallets of this part, with a client whose budget has as many payments behind it as the wallet. */
interface Grown {
  readonly wallet: string;
  readonly payer: string;
  readonly payerWallet: string;
  readonly client: string;
  readonly credentials: string;
}

/** Measures latencies, memory and disk at growing numbers of payments, and draws them. */
export async function measureGrowth({ note, draw, folder }: Bench): Promise<void> {
  const sizes = SIZES.filter((size) => size <= setting('BENCH_GROWTH'));
  const latencies = new Map<string, Point[]>();
  const [memory, disk]: [Point[], Point[]] = [[], []];
  const database = join(folder, 'sidecar.sqlite');
  const grown = await prepare(folder);
  let before = 0;
  for (const rows of sizes) {
    seedPayments(join(folder, 'sandbox.sqlite'), grown.wallet, { rows, after: before });
    seedSpending(database, { wallet: grown.payerWallet, client: grown.client }, rows);
    const sidecar = await startSandbox(folder);
    try {
      await sidecar.call('POST', '/v2/node/clear_payments', {});
      await sidecar.call('PUT', '/v2/node/sync_payments');
      await changePeriod(sidecar, grown, 'day');
      const changeMs = await timed(() => changePeriod(sidecar, grown, 'total'));
      for (const [name, run] of callsAt(rows, sidecar, grown)) {
        const latency = await latencyOf(run);
        const points = latencies.get(name) ?? [];
        latencies.set(name, [...points, [rows, latency.p50Ms]]);
        if (rows === sizes.at(-1)) noteLatency(note, name, latency, points[0]);
      }
      memory.push([rows, residentMb(sidecar.pid)]);
      if (rows === sizes.at(-1)) {
        const name = `change of the period of a budget with ${rows} payments behind it`;
        note(name, `${changeMs.toFixed(0)} ms`);
      }
    } finally {
      await sidecar.stop();
    }
    disk.push([rows, sizeOf(database) / rows / 1000]);
    before = rows;
  }
  const most = memory.at(-1) ?? [0, 0];
  note(`memory with ${most[0]} payments`, `${most[1].toFixed(0)} MB`, {
    beside: `${memory[0]?.[1].toFixed(0)} MB, with ${memory[0]?.[0]}`,
  });
  await noteDisk(note, folder, database, grown);
  const x = { label: 'payments in the wallet', scale: 'log' } as const;
  const lines = [...latencies].map(([name, points]) => ({ name, points }));
  draw({
    name: 'growth',
    title: 'A wallet that grows',
    panels: [
      { x, y: { label: 'median latency, ms', scale: 'log' }, lines },
      {
        x,
        y: { label: 'memory, MB', scale: 'linear' },
        lines: [{ name: 'resident memory', points: memory }],
      },
      {
        x,
        y: { label: 'disk for each, kB', scale: 'linear' },
        lines: [{ name: 'disk of a payment', points: disk }],
      },
    ],
  });
}

async function prepare(folder: string): Promise<Grown> {
  const { call, stop } = await startSandbox(folder);
  const { user_pk: wallet = '' } = await call('GET', '/v2/node/node_info');
  const payer = await newWallet(call);
  const { user_pk: payerWallet = '' } = await call('GET', '/v2/node/node_info', undefined, payer);
  const made = await call(
    'POST',
    '/v2/node/create_client',
    { scopes: ['send', 'read_payments'], budget: { amount: '1000000', period: 'total' } },
    payer,
  );
  await stop();
  const { client_pk: client = '', client_credentials: credentials = '' } = made;
  return { wallet, payer, payerWallet, client, credentials };
}

/** Changes the period of the client's budget, for which its payments are summed up again. */
function changePeriod({ call }: Sandbox, { client, payer }: Grown, period: string) {
  const budget = { amount: '1000000', period };
  return call('PUT', '/v2/node/update_client', { client_pk: client, budget }, payer);
}

/** What is measured at each size, by name. */
function callsAt(rows: number, { call }: Sandbox, { payer, credentials }: Grown) {
  const middle = String(rows / 2).padStart(19, '0');
  const next = `/v2/node/wait_for_next_payment?start_index=u${middle}-ln_${'0'.repeat(64)}`;
  let index = '';
  return [
    [
      'wait_for_next_payment',
      async () => {
        const { payment } = await call('GET', next);
        index = (payment as unknown as { index: string }).index;
      },
    ],
    ['payment', () => call('GET', `/v2/node/payment?index=${index}`)],
    ['list_payments(100)', () => call('GET', LIST)],
    ['list_payments(100), filtered', () => call('GET', `${LIST}&direction=outbound&rail=invoice`)],
    ['create_invoice', () => call('POST', '/v2/node/create_invoice', TERMS)],
    ['pair of create and pay', () => makePair(call, payer)],
    ['pair, paid with a budget', () => makePair(call, credentials)],
  ] as const;
}

function noteLatency(note: Bench['note'], name: string, latency: Latency, few?: Point): void {
  note(name, inWords(latency), {
    ...(few === undefined
      ? {}
      : { beside: `p50 ${few[1].toFixed(2)} ms, with ${few[0]} payments` }),
  });
}

/** Notes what a payment takes on disk: one that was read from the node, and one that was made here. */
async function noteDisk(note: Bench['note'], folder: string, database: string, grown: Grown) {
  const { call, stop } = await startSandbox(folder);
  const before = sizeOf(database);
  for (let made = 0; made < MADE; made++) await makePair(call, grown.payer);
  await call('PUT', '/v2/node/sync_payments');
  await call('PUT', '/v2/node/sync_payments', undefined, grown.payer);
  await stop();
  const kB = (sizeOf(database) - before) / (2 * MADE) / 1000;
  note('disk of a payment that is made, with its rows in journal and cache', `${kB.toFixed(1)} kB`);
}

function sizeOf(database: string): number {
  const log = `${database}-wal`;
  return statSync(database).size + (existsSync(log) ? statSync(log).size : 0);
}
