import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { timed } from '../compared.ts';
import { residentMb } from '../floors.ts';
import { inWords, type Latency, latencyOf } from '../latency.ts';
import type { Picture, Point } from '../page/picture.ts';
import {
  makePair,
  newWallet,
  type Sandbox,
  startSandbox,
  syncPayments,
  TERMS,
} from '../sandbox.ts';
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

/** What a wallet with that many payments takes. */
interface Measured {
  readonly rows: number;
  readonly latencies: ReadonlyMap<string, Latency>;
  readonly memoryMb: number;
  readonly diskKb: number;
  /** How long a change of the budget's period takes. */
  readonly changeMs: number;
}

/** Measures latencies, memory and disk at growing numbers of payments, and draws them. */
export async function measureGrowth({ note, draw, folder }: Bench): Promise<void> {
  const grown = await prepare(folder);
  const measured: Measured[] = [];
  for (const rows of SIZES.filter((size) => size <= setting('BENCH_GROWTH'))) {
    const after = measured.at(-1)?.rows ?? 0;
    seedPayments(join(folder, 'sandbox.sqlite'), grown.wallet, { rows, after });
    seedSpending(databaseIn(folder), { wallet: grown.payerWallet, client: grown.client }, rows);
    measured.push(await measureAt(rows, folder, grown));
  }
  noteGrowth(note, measured);
  await noteDisk(note, folder, grown);
  draw(pictureOf(measured));
}

async function measureAt(rows: number, folder: string, grown: Grown): Promise<Measured> {
  const sidecar = await startSandbox(folder);
  const latencies = new Map<string, Latency>();
  let changeMs: number;
  let memoryMb: number;
  try {
    await sidecar.call('POST', '/v2/node/clear_payments', {});
    await syncPayments(sidecar.call);
    await changePeriod(sidecar, grown, 'day');
    changeMs = await timed(() => changePeriod(sidecar, grown, 'total'));
    for (const [name, run] of callsAt(rows, sidecar, grown)) {
      latencies.set(name, await latencyOf(run));
    }
    memoryMb = residentMb(sidecar.pid);
  } finally {
    await sidecar.stop();
  }
  const diskKb = sizeOf(databaseIn(folder)) / rows / 1000;
  return { rows, latencies, memoryMb, diskKb, changeMs };
}

/** Notes the figures of the largest wallet, beside those of the smallest. */
function noteGrowth(note: Bench['note'], measured: readonly Measured[]): void {
  const [few, many] = [measured[0], measured.at(-1)];
  if (few === undefined || many === undefined) return;
  const beside = (value: string) => ({ beside: `${value}, with ${few.rows} payments` });
  for (const [name, latency] of many.latencies) {
    const before = few.latencies.get(name);
    note(
      `${name}, with ${many.rows} payments`,
      inWords(latency),
      before === undefined ? {} : beside(inWords(before)),
    );
  }
  const change = `change of the period of a budget with ${many.rows} payments behind it`;
  note(change, `${many.changeMs.toFixed(0)} ms`, beside(`${few.changeMs.toFixed(0)} ms`));
  const memory = `memory with ${many.rows} payments`;
  note(memory, `${many.memoryMb.toFixed(0)} MB`, beside(`${few.memoryMb.toFixed(0)} MB`));
  const disk = `disk of one of ${many.rows} payments`;
  note(disk, `${many.diskKb.toFixed(1)} kB`, beside(`${few.diskKb.toFixed(1)} kB`));
}

function pictureOf(measured: readonly Measured[]): Picture {
  const x = { label: 'payments in the wallet', scale: 'log' } as const;
  const line = (name: string, read: (one: Measured) => number) => ({
    name,
    points: measured.map((one): Point => [one.rows, read(one)]),
  });
  const names = [...(measured[0]?.latencies.keys() ?? [])];
  const latency = (name: string) => line(name, (one) => one.latencies.get(name)?.p50Ms ?? 0);
  return {
    name: 'growth',
    title: 'A wallet that grows',
    panels: [
      { x, y: { label: 'median latency, ms', scale: 'log' }, lines: names.map(latency) },
      {
        x,
        y: { label: 'memory, MB', scale: 'linear' },
        lines: [line('resident memory', ({ memoryMb }) => memoryMb)],
      },
      {
        x,
        y: { label: 'disk for each, kB', scale: 'linear' },
        lines: [line('disk of a payment', ({ diskKb }) => diskKb)],
      },
    ],
  };
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

/** Notes what a payment takes on disk that is made here, and so has a row in the journal. */
async function noteDisk(note: Bench['note'], folder: string, grown: Grown): Promise<void> {
  const database = databaseIn(folder);
  const { call, stop } = await startSandbox(folder);
  const before = sizeOf(database);
  for (let made = 0; made < MADE; made++) await makePair(call, grown.payer);
  await call('PUT', '/v2/node/sync_payments');
  await call('PUT', '/v2/node/sync_payments', undefined, grown.payer);
  await stop();
  const kB = (sizeOf(database) - before) / (2 * MADE) / 1000;
  note('disk of a payment that is made, with its rows in journal and cache', `${kB.toFixed(1)} kB`);
}

const databaseIn = (folder: string) => join(folder, 'sidecar.sqlite');

function sizeOf(database: string): number {
  const log = `${database}-wal`;
  return statSync(database).size + (existsSync(log) ? statSync(log).size : 0);
}
