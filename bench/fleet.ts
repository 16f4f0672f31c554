import { type Fleet, startFleet } from '../tests/faults/fleet-world.ts';
import { type FakeLnd, startFakeLnd } from '../tests/hostile/fake-lnd.ts';
import { startSidecarOnFake } from '../tests/hostile/sidecar-on-fake.ts';
import { postgresPrograms, startPostgres, type TestPostgres } from '../tests/support/postgres.ts';
import { sendOk } from '../tests/support/requests.ts';
import { quantile } from './compared.ts';
import type { Note } from './figures.ts';
import type { TargetName } from './targets.ts';

/** How often each way of calling has its turn, and how many requests of each kind it then makes. */
const ROUNDS = 9;
const REQUESTS = 300;
/** How many callers make them. */
const AT_ONCE = 8;
/** Requests of each kind to each sidecar before the first round: a process that has just started is slower. */
const WARM_UP = 300;
/** How long a proxy keeps what the leader said. */
const KEPT_MS = 1000;
/** Long enough that one which stands still meanwhile goes on leading. */
const LEASE_SECS = 60;

/** Sidecars of one database with an LND of their own. They run only while they are measured. */
interface Place {
  readonly fake: FakeLnd;
  readonly urls: readonly string[];
  signal(name: 'SIGSTOP' | 'SIGCONT'): void;
  close(): Promise<void>;
}

/** One way to call the sidecars of a place, which is its own: all have as many payments behind them. */
interface Way {
  readonly name: string;
  readonly place: Place;
  /** Whether calls go to the leader, which is asked for once a second, as by a proxy. They alternate otherwise. */
  readonly toLeader?: boolean;
  /** What its rates are compared with, round by round. */
  readonly beside?: { readonly way: Way; readonly target: TargetName };
}

const KINDS = ['create_invoice', 'pay_invoice'] as const;

/** What one way did in one round: requests of each kind in a second, and the milliseconds of each of them. */
type Round = Readonly<Record<(typeof KINDS)[number], { perSec: number; times: number[] }>>;

/**
 * Measures making an invoice and paying one on the fake LND: with one sidecar on SQLite, one on PostgreSQL, and three
 * on PostgreSQL, whose callers call the leader as a proxy does, or alternate. They have their turns in rounds, and a
 * ratio is the median of those of the rounds. Measures nothing where PostgreSQL is missing.
 */
export async function measureFleet(note: Note): Promise<void> {
  const programs = postgresPrograms();
  if (programs === null) return;
  const server = await startPostgres(programs, { durable: true });
  const places: Place[] = [];
  try {
    const opened = async (opening: Promise<Place>) => {
      const place = await opening;
      places.push(place);
      return place;
    };
    const onSqlite: Way = { name: 'one sidecar on SQLite', place: await opened(onSqliteAlone()) };
    const one: Way = {
      name: 'one sidecar on PostgreSQL',
      place: await opened(onPostgres(server, 1)),
      beside: { way: onSqlite, target: 'onPostgres' },
    };
    await measureWays(
      [
        onSqlite,
        one,
        {
          name: '3 sidecars, called where the leader is, on PostgreSQL',
          place: await opened(onPostgres(server, 3)),
          toLeader: true,
          beside: { way: one, target: 'atLeader' },
        },
        {
          name: '3 sidecars in turn on PostgreSQL',
          place: await opened(onPostgres(server, 3)),
          beside: { way: onSqlite, target: 'fleet' },
        },
      ],
      note,
    );
  } finally {
    for (const place of places) {
      place.signal('SIGCONT');
      await place.close();
    }
    await server.stop();
  }
}

async function onSqliteAlone(): Promise<Place> {
  const fake = await startFakeLnd({ channelSat: 100_000_000n });
  const sidecar = await startSidecarOnFake(fake, ['--log-level', 'error']);
  const { pid } = sidecar.process();
  return {
    fake,
    urls: [sidecar.baseUrl],
    signal: (name) => process.kill(pid, name),
    async close() {
      await sidecar.close();
      await fake.stop();
    },
  };
}

async function onPostgres(server: TestPostgres, size: number): Promise<Place> {
  const fake = await startFakeLnd({ channelSat: 100_000_000n });
  const { members, close }: Fleet = await startFleet(fake, {
    size,
    databaseUrl: await server.createDatabase(),
    leaseSecs: LEASE_SECS,
    flags: ['--log-level', 'error'],
    direct: true,
  });
  return {
    fake,
    urls: members.map(({ baseUrl }) => baseUrl),
    signal(name) {
      for (const member of members) name === 'SIGSTOP' ? member.pause() : member.resume();
    },
    async close() {
      await close();
      await fake.stop();
    },
  };
}

async function measureWays(ways: readonly Way[], note: Note): Promise<void> {
  const rounds = new Map<Way, Round[]>(ways.map((way) => [way, []]));
  for (const way of ways) await roundOf(way, WARM_UP * (way.toLeader ? 1 : way.place.urls.length));
  for (const { place } of ways) place.signal('SIGSTOP');
  for (let round = 0; round < ROUNDS; round++) {
    for (const way of round % 2 === 0 ? ways : ways.toReversed()) {
      way.place.signal('SIGCONT');
      rounds.get(way)?.push(await roundOf(way, REQUESTS));
      way.place.signal('SIGSTOP');
    }
  }
  for (const way of ways) noteWay(way, rounds, note);
}

function noteWay(way: Way, rounds: ReadonlyMap<Way, readonly Round[]>, note: Note): void {
  const { name, beside } = way;
  for (const kind of KINDS) {
    const own = (rounds.get(way) ?? []).map((round) => round[kind]);
    const perSec = quantile(
      own.map((one) => one.perSec),
      0.5,
    );
    const medianMs = quantile(
      own.flatMap(({ times }) => times),
      0.5,
    );
    const ratios = (beside ? (rounds.get(beside.way) ?? []) : []).map(
      (other, at) => (own[at]?.perSec ?? 0) / other[kind].perSec,
    );
    const is = quantile(ratios, 0.5);
    note(`${kind}, ${name}`, `${perSec.toFixed(0)}/s, ${medianMs.toFixed(1)} ms (median)`, {
      ...(beside && {
        beside: `${is.toFixed(2)} times ${beside.way.name}`,
        goal: { target: beside.target, is },
      }),
    });
  }
}

let made = 0;

/** Makes so many requests of each kind, one kind after the other. */
async function roundOf({ place, toLeader = false }: Way, requests: number): Promise<Round> {
  const { fake, urls } = place;
  const leader = leaderOf(urls);
  const call = async (path: string, body: unknown) => {
    const at = made++;
    const url = toLeader ? await leader() : (urls[at % urls.length] ?? '');
    const headers = { 'idempotency-key': `request ${at}` };
    await sendOk(url, 'POST', `/v2/node/${path}`, { body, headers });
  };
  const invoices = Array.from(
    { length: requests },
    () => fake.payments.foreignInvoice({ amountMsat: 1_000n }).invoice,
  );
  const create = () => call('create_invoice', { amount: '1' });
  const pay = (at: number) => call('pay_invoice', { invoice: invoices[at] });
  return {
    create_invoice: await timed(create, requests),
    pay_invoice: await timed(pay, requests),
  };
}

/** Returns what returns the one of these that leads. What it was told holds for a second, as in docs/fleet/nginx.conf. */
function leaderOf(urls: readonly string[]): () => Promise<string> {
  const ask = async () => {
    for (const url of urls) if ((await fetch(`${url}/v2/leader`)).ok) return url;
    throw new Error('None of the sidecars leads.');
  };
  let told = { atMs: Number.NEGATIVE_INFINITY, leader: Promise.resolve('') };
  return () => {
    if (performance.now() - told.atMs > KEPT_MS) told = { atMs: performance.now(), leader: ask() };
    return told.leader;
  };
}

async function timed(one: (at: number) => Promise<unknown>, count: number) {
  const times: number[] = [];
  let next = 0;
  const startedMs = performance.now();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (next < count) {
        const at = next++;
        const sentMs = performance.now();
        await one(at);
        times.push(performance.now() - sentMs);
      }
    }),
  );
  return { perSec: (count * 1000) / (performance.now() - startedMs), times };
}
