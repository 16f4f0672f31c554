import { type Fleet, startFleet } from '../tests/faults/fleet-world.ts';
import { type FakeLnd, startFakeLnd } from '../tests/hostile/fake-lnd.ts';
import { startSidecarOnFake } from '../tests/hostile/sidecar-on-fake.ts';
import { postgresPrograms, startPostgres } from '../tests/support/postgres.ts';
import { sendOk } from '../tests/support/requests.ts';
import { quantile } from './compared.ts';
import type { Note } from './figures.ts';

/** How many invoices are made and payments sent, and by how many callers at a time. */
const REQUESTS = 1_000;
const AT_ONCE = 8;
/** Requests of each kind to each sidecar before the clock starts: a process that has just started is slower. */
const WARM_UP = 300;

/**
 * Measures making an invoice and paying one on the fake LND: with one sidecar on SQLite, one on PostgreSQL, and three
 * on PostgreSQL whose callers alternate. Prints a clear line and measures less where PostgreSQL is missing.
 */
export async function measureFleet(note: Note): Promise<void> {
  const fake = await startFakeLnd({ channelSat: 100_000_000n });
  try {
    const alone = await startSidecarOnFake(fake, ['--log-level', 'error']);
    const onSqlite = await measure('one sidecar on SQLite', { fake, urls: [alone.baseUrl], note });
    await alone.close();
    const programs = postgresPrograms();
    if (programs === null) return;
    const server = await startPostgres(programs, { durable: true });
    try {
      for (const size of [1, 3]) {
        const fleet = await openFleet(fake, size, await server.createDatabase());
        const urls = fleet.members.map(({ baseUrl }) => baseUrl);
        const name = size === 1 ? 'one sidecar' : `${size} sidecars in turn`;
        const beside = size === 1 ? null : onSqlite;
        await measure(`${name} on PostgreSQL`, { fake, urls, note, beside });
        await fleet.close();
      }
    } finally {
      await server.stop();
    }
  } finally {
    await fake.stop();
  }
}

function openFleet(fake: FakeLnd, size: number, databaseUrl: string): Promise<Fleet> {
  const flags = ['--log-level', 'error'];
  return startFleet(fake, { size, databaseUrl, leaseSecs: 10, flags, direct: true });
}

/** Requests of each kind in a second. */
type Rates = Readonly<Record<'create_invoice' | 'pay_invoice', number>>;

interface Measured {
  readonly fake: FakeLnd;
  readonly urls: readonly string[];
  readonly note: Note;
  /** What the rates should reach; null where nothing is wanted of them. */
  readonly beside?: Rates | null;
}

async function measure(
  name: string,
  { fake, urls, note, beside = null }: Measured,
): Promise<Rates> {
  const call = (at: number, path: string, body: unknown) =>
    sendOk(urls[at % urls.length] ?? '', 'POST', `/v2/node/${path}`, {
      body,
      headers: { 'idempotency-key': `${name} ${path} ${at}` },
    });
  const warmUp = WARM_UP * urls.length;
  const invoices = Array.from(
    { length: warmUp + REQUESTS },
    () => fake.payments.foreignInvoice({ amountMsat: 1_000n }).invoice,
  );
  const create = (at: number) => call(at, 'create_invoice', { amount: '1' });
  const pay = (at: number) => call(at, 'pay_invoice', { invoice: invoices[at] });
  for (const one of [create, pay]) await timed(one, { from: 0, to: warmUp });
  const range = { from: warmUp, to: warmUp + REQUESTS };
  const created = await timed(create, range);
  const paid = await timed(pay, range);
  for (const [what, { perSec, medianMs }] of [
    ['create_invoice', created],
    ['pay_invoice', paid],
  ] as const) {
    const is = beside === null ? null : perSec / beside[what];
    note(`${what}, ${name}`, `${perSec.toFixed(0)}/s, ${medianMs.toFixed(1)} ms (median)`, {
      ...(is !== null && {
        beside: `${is.toFixed(2)} times one sidecar on SQLite`,
        goal: { target: 'fleet', is },
      }),
    });
  }
  return { create_invoice: created.perSec, pay_invoice: paid.perSec };
}

async function timed(
  one: (at: number) => Promise<unknown>,
  { from, to }: { readonly from: number; readonly to: number },
) {
  const times: number[] = [];
  let next = from;
  const startedMs = performance.now();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (next < to) {
        const at = next++;
        const sentMs = performance.now();
        await one(at);
        times.push(performance.now() - sentMs);
      }
    }),
  );
  const perSec = ((to - from) * 1000) / (performance.now() - startedMs);
  return { perSec, medianMs: quantile(times, 0.5) };
}
