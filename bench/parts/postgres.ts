import { join } from 'node:path';
import { SQL } from 'bun';
import { MOST_CONNECTIONS } from '../../src/store/postgres/open.ts';
import { type FakeLnd, startFakeLnd } from '../../tests/hostile/fake-lnd.ts';
import { type SidecarOnFake, startSidecarOnFake } from '../../tests/hostile/sidecar-on-fake.ts';
import { freePort } from '../../tests/support/ports.ts';
import { postgresPrograms, startPostgres } from '../../tests/support/postgres.ts';
import { quantile, timed } from '../compared.ts';
import { type Note, rate } from '../figures.ts';
import { residentMb, running } from '../floors.ts';
import { inTurn, type LoadResult } from '../load.ts';
import { pairRate } from '../pairs.ts';
import { post, rateOf, TERMS } from '../sandbox.ts';
import { setting } from '../settings.ts';
import { writeFloor } from '../write-floor.ts';
import type { Bench } from './part.ts';

const SETTLED_MS = 1_500;
const LIST = '/v2/node/list_payments?filter=all&limit=100';
const NAMES = { payment: 'payment', list: 'list_payments(100)' };
/** The length of a row in characters: about that of an invoice and its pending payment together. */
const ROW_LENGTH = 2_000;

/** A sidecar with one of the two stores, before a fake LND of its own with as many payments. */
interface Stored {
  readonly fake: FakeLnd;
  readonly sidecar: SidecarOnFake;
  readonly port: number;
  readonly pid: number;
}

/**
 * Measures a sidecar that keeps everything in PostgreSQL beside one that keeps it in a file, before fake LNDs. Measures
 * nothing if PostgreSQL is not installed, and says so.
 */
export async function measurePostgres({ note, folder }: Bench): Promise<void> {
  const programs = postgresPrograms();
  if (programs === null) return;
  const server = await startPostgres(programs, { durable: true });
  const started: Stored[] = [];
  try {
    const url = await server.createDatabase();
    const database = ['--database-url', url, '--secrets-key', '5e'.repeat(32)];
    for (const flags of [[], database]) started.push(await startStored(flags));
    const [files, tables] = started;
    if (files === undefined || tables === undefined) return;
    await Bun.sleep(SETTLED_MS);
    noteBoth(
      note,
      'idle memory',
      `${residentMb(tables.pid).toFixed(0)} MB`,
      `${residentMb(files.pid).toFixed(0)} MB`,
    );
    await noteSync(note, files, tables);
    await noteRates(note, files, tables, url);
    await notePairs(note, files, tables);
    await noteCommits(note, url, folder);
  } finally {
    for (const { sidecar, fake } of started) {
      await sidecar.close();
      await fake.stop();
    }
    await server.stop();
  }
}

async function startStored(flags: readonly string[]): Promise<Stored> {
  const fake = await startFakeLnd({ channelSat: 10_000_000n });
  for (let at = 0; at < setting('BENCH_STORED'); at++) {
    const memo = `order ${at} of a customer of the shop`;
    fake.paysInvoice(fake.invoices.add({ valueMsat: 1_000n, memo }).hash);
  }
  const sidecar = await startSidecarOnFake(fake, ['--log-level', 'error', ...flags]);
  return { fake, sidecar, port: Number(new URL(sidecar.baseUrl).port), pid: sidecar.process().pid };
}

function noteBoth(note: Note, name: string, tables: string, files: string): void {
  note(`${name} on PostgreSQL`, tables, { beside: `${files}, on SQLite` });
}

async function noteSync(note: Note, files: Stored, tables: Stored): Promise<void> {
  const synced = async ({ sidecar }: Stored) => {
    let count = 0;
    const ms = await timed(async () => {
      count = Number((await sidecar.put('/v2/node/sync_payments')).num_new);
    });
    return `${Math.round((count * 1000) / ms)}/s of ${count}`;
  };
  const onFiles = await synced(files);
  noteBoth(note, 'sync', await synced(tables), onFiles);
}

async function noteRates(note: Note, files: Stored, tables: Stored, url: string): Promise<void> {
  const reads = { files: await readsOf(files), tables: await readsOf(tables) };
  const bare = await startTablesFloor(tables, url);
  try {
    for (const [what, path] of [
      ['payment', '/payment'],
      ['list', '/list'],
    ] as const) {
      const [floor, onTables, onFiles] = await inTurn([
        () => rateOf(bare.port, { path }),
        () => rateOf(tables.port, reads.tables[what]),
        () => rateOf(files.port, reads.files[what]),
      ]);
      const ratio = onTables.perSecond / floor.perSecond;
      note(`${NAMES[what]} on PostgreSQL`, rate(onTables), {
        beside: `${ratio.toFixed(2)} of ${Math.round(floor.perSecond)}/s, the query behind a bare server; ${rate(onFiles)}, on SQLite`,
        goal: { target: 'lookup', is: ratio },
      });
    }
  } finally {
    await bare.stop();
  }
  for (const [name, request] of [
    [`${NAMES.list}, by direction and rail`, { path: `${LIST}&direction=inbound&rail=invoice` }],
    ['create_invoice', post('/v2/node/create_invoice', TERMS)],
  ] as const) {
    const [onFiles, onTables] = await inTurn([
      () => rateOf(files.port, request),
      () => rateOf(tables.port, request),
    ]);
    noteBoth(note, name, rate(onTables), rate(onFiles));
  }
}

/** The two look-ups of a side. Each fake has payments of its own, so each side reads one of them. */
async function readsOf({ sidecar }: Stored) {
  return {
    payment: { path: `/v2/node/payment?index=${await newestIndex(sidecar)}` },
    list: { path: LIST },
  };
}

async function newestIndex(sidecar: SidecarOnFake): Promise<string> {
  const { payments } = await sidecar.get('/v2/node/list_payments', { filter: 'all', limit: '1' });
  return payments[0].index;
}

/** Starts the bare server of `tables-floor.ts` on the database of that side, for its wallet and newest payment. */
async function startTablesFloor({ sidecar }: Stored, url: string) {
  const { user_pk: wallet } = await sidecar.get('/v2/node/node_info');
  const idx = await newestIndex(sidecar);
  const port = freePort();
  const program = join(import.meta.dir, '..', 'tables-floor.ts');
  const given = JSON.stringify({ port, url, connections: MOST_CONNECTIONS, wallet, idx });
  const child = await running([process.execPath, 'run', program, given], port);
  return { port, stop: child.stop };
}

async function notePairs(note: Note, files: Stored, tables: Stored): Promise<void> {
  const ms = setting('BENCH_MS');
  const pairs = ({ fake, sidecar }: Stored) => {
    const bill = () => fake.payments.foreignInvoice({ amountMsat: 1_000n }).invoice;
    // Signed before the clock starts; a side that is faster than this signs the rest meanwhile.
    const bills = Array.from({ length: Math.ceil(ms / 4) }, bill);
    return pairRate(async () => {
      await sidecar.post('/v2/node/create_invoice', TERMS);
      await sidecar.post('/v2/node/pay_invoice', { invoice: bills.pop() ?? bill() });
    }, ms);
  };
  const onFiles = await pairs(files);
  const onTables = await pairs(tables);
  noteBoth(
    note,
    'pairs of create_invoice and pay_invoice',
    `${onTables.toFixed(0)}/s`,
    `${onFiles.toFixed(0)}/s`,
  );
}

/** What no program can avoid on the same PostgreSQL for a write: one durable commit on one connection. */
async function noteCommits(note: Note, url: string, folder: string): Promise<void> {
  const sql = new SQL(url, { max: 1 });
  try {
    await sql`CREATE TABLE bench_floor (row TEXT NOT NULL)`;
    const row = 'x'.repeat(ROW_LENGTH);
    const commit = () => sql`INSERT INTO bench_floor (row) VALUES (${row})`;
    const work = { signatures: 0, checks: 0, commits: 1 };
    const inFile = rate(writeFloor(folder, setting('BENCH_MS'), work));
    noteBoth(note, 'one durable commit after another', rate(await repeated(commit)), inFile);
  } finally {
    await sql.close();
  }
}

async function repeated(run: () => Promise<unknown>): Promise<LoadResult> {
  const ms = setting('BENCH_MS');
  const times: number[] = [];
  const startedAt = performance.now();
  while (performance.now() - startedAt < ms) times.push(await timed(run));
  return {
    count: times.length,
    perSecond: (times.length * 1000) / (performance.now() - startedAt),
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
  };
}
