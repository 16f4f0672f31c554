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
 * on PostgreSQL, whose callers ask for the leader as a proxy does, or alternate. Prints a clear line and measures less
 * where PostgreSQL is missing.
 */
export async function measureFleet(note: Note): Promise<void> {
  const fake = await startFakeLnd({ channelSat: 100_000_000n });
  try {
    const alone = await startSidecarOnFake(fake, ['--log-level', 'error']);
    const given = { fake, note };
    const onSqlite = await measure('one sidecar on SQLite', { ...given, urls: [alone.baseUrl] });
    await alone.close();
    const programs = postgresPrograms();
    if (programs === null) return;
    const server = await startPostgres(programs, { durable: true });
    const measureFleetOf = async (size: number, name: string, more: Partial<Measured>) => {
      const fleet = await openFleet(fake, size, await server.createDatabase());
      const urls = fleet.members.map(({ baseUrl }) => baseUrl);
      const rates = await measure(`${name} on PostgreSQL`, { ...given, urls, ...more });
      await fleet.close();
      return rates;
    };
    try {
      const ofSqlite = {
        rates: onSqlite,
        what: 'one sidecar on SQLite',
        target: 'onPostgres',
      } as const;
      const one = await measureFleetOf(1, 'one sidecar', { beside: ofSqlite });
      const ofOne = { rates: one, what: 'one sidecar on PostgreSQL', target: 'atLeader' } as const;
      const three = { beside: ofOne, asksLeader: true };
      await measureFleetOf(3, '3 sidecars, called where the leader is,', three);
      await measureFleetOf(3, '3 sidecars in turn', { beside: { ...ofSqlite, target: 'fleet' } });
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
  /** Whether each call asks for the leader first, as a proxy does that checks nobody by itself; it goes there then. */
  readonly asksLeader?: boolean;
  /** What the rates are compared with. */
  readonly beside?: {
    readonly rates: Rates;
    readonly what: string;
    readonly target: 'onPostgres' | 'atLeader' | 'fleet';
  };
}

async function measure(
  name: string,
  { fake, urls, note, asksLeader = false, beside }: Measured,
): Promise<Rates> {
  const call = async (at: number, path: string, body: unknown) =>
    sendOk(
      asksLeader ? await leaderOf(urls) : (urls[at % urls.length] ?? ''),
      'POST',
      `/v2/node/${path}`,
      {
        body,
        headers: { 'idempotency-key': `${name} ${path} ${at}` },
      },
    );
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
    note(`${what}, ${name}`, `${perSec.toFixed(0)}/s, ${medianMs.toFixed(1)} ms (median)`, {
      ...(beside && compared(perSec / beside.rates[what], beside)),
    });
  }
  return { create_invoice: created.perSec, pay_invoice: paid.perSec };
}

const compared = (is: number, { what, target }: NonNullable<Measured['beside']>) => ({
  beside: `${is.toFixed(2)} times ${what}`,
  goal: { target, is },
});

/** The first of these that says that it leads. */
async function leaderOf(urls: readonly string[]): Promise<string> {
  for (const url of urls) if ((await fetch(`${url}/v2/leader`)).ok) return url;
  throw new Error('None of the sidecars leads.');
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
