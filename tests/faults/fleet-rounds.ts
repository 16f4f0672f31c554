import { startFakeLnd } from '../hostile/fake-lnd.ts';
import { startNoticeReceiver } from '../interop/notices.ts';
import { postgresPrograms, startPostgres } from '../support/postgres.ts';
import { randomFrom } from '../support/random.ts';
import { waitUntil } from '../support/until.ts';
import { FleetLoad, type Stranded } from './fleet-load.ts';
import { type Member, startFleet } from './fleet-world.ts';
import { tailByStream } from './tails.ts';

/**
 * Three sidecars on one database under load, with one fault in each round. After each round no payment was sent twice,
 * every notice has arrived, and the budget is exact. `bun run tests/faults/fleet-rounds.ts ROUNDS [SEED]` prints a table
 * for docs/postgresql.md; the binary must have been built.
 */
const rounds = Number(process.argv[2] ?? 20);
const seed = Number(process.argv[3] ?? Date.now() % 1_000_000);
/** The faults follow from the seed; which sidecar a caller chooses also depends on what happens meanwhile. */
const random = randomFrom(seed);
const LEASE_SECS = 2;
const PAYMENTS = 4;
/** What the budget holds back for a payment of one sat that is not over: with the least cap of its fee. */
const RESERVED_SAT = 11;
/** Longer than the expiry of every invoice, with what is added to it (docs/decisions.md 37). */
const EXPIRED_SECS = 2 * 24 * 3600;
/** The longest time that a round may take. */
const MOST_ROUND_MS = 120_000;

console.log(`${rounds} rounds with the seed ${seed}`);
const programs = postgresPrograms();
if (programs === null) throw new Error('PostgreSQL is needed.');
const server = await startPostgres(programs);
const fake = await startFakeLnd({ channelSat: 1_000_000_000n });
const notices = startNoticeReceiver();
const [, webhookUrl = '', , webhookSecret = ''] = notices.flags;
const fleet = await startFleet(fake, {
  size: 3,
  databaseUrl: await server.createDatabase(),
  leaseSecs: LEASE_SECS,
  flags: ['--log-level', 'warn'],
  env: { SERVICE_WEBHOOK_URL: webhookUrl, SERVICE_WEBHOOK_SECRET: webhookSecret },
});
const { members } = fleet;
const [first] = members;
if (first === undefined) throw new Error('there are no sidecars');
const made = await first.post('/v2/node/create_client', {
  scopes: ['send', 'read_payments'],
  budget: { amount: '100000000', period: 'total' },
});
const load = new FleetLoad(fleet, {
  fake,
  random: randomFrom(seed + 1),
  credentials: made.client_credentials,
});
const reader = tailByStream({ baseUrl: () => load.any().baseUrl });

/** Starts again what has ended, as a service manager does. */
const supervisor = setInterval(() => {
  for (const member of members) {
    if (!member.running() && !resting.has(member)) member.begin();
  }
}, 100);
/** Members that are not started again for now. */
const resting = new Set<Member>();

const between = (from: number, to: number) => from + random() * (to - from);
const others = (hit: Member) => members.filter((member) => member !== hit);
const oneOf = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;

/** Each fault returns the sidecars that it did not hit, as soon as it has begun. */
const FAULTS: Readonly<Record<string, () => Promise<readonly Member[]>>> = {
  'kill -9 of the one that leads': async () => {
    const leader = await fleet.leader();
    await leader.kill();
    return others(leader);
  },
  'kill -9 of one that stands by': async () => {
    const standby = oneOf(await fleet.standbys());
    await standby.kill();
    return others(standby);
  },
  'SIGSTOP of the one that leads, for longer than its lease': async () => {
    const leader = await fleet.leader();
    leader.pause();
    setTimeout(() => leader.resume(), between(2500, 4500));
    return others(leader);
  },
  'SIGTERM of the one that leads': async () => {
    const leader = await fleet.leader();
    void leader.stop();
    return others(leader);
  },
  'SIGTERM of one that stands by': async () => {
    const standby = oneOf(await fleet.standbys());
    void standby.stop();
    return others(standby);
  },
  '`pg_terminate_backend` of all sessions': async () => {
    await server.endSessions();
    return members;
  },
  '`pg_ctl stop -m immediate` and start': async () => {
    await server.crash();
    const pauseMs = between(0, 2500);
    setTimeout(() => void server.start(), pauseMs);
    return members;
  },
  'the connections between the sidecars are cut': async () => {
    for (const { way } of members) way.refuse(true);
    const pauseMs = between(200, 2000);
    setTimeout(() => {
      for (const { way } of members) way.refuse(false);
    }, pauseMs);
    return members;
  },
};

const tally = new Map<
  string,
  { rounds: number; payments: number; again: number; away: number[] }
>();
let completed = 0;
const stranded: Stranded[] = [];
let unknown = 0;
const names = Object.keys(FAULTS);

async function check(outcome: Awaited<ReturnType<FleetLoad['round']>>): Promise<void> {
  const { unkeyed } = outcome;
  const attempts = fake.payments.attempts.get(unkeyed.hash) ?? 0;
  if (attempts > 1) throw new Error(`a payment without a key was sent ${attempts} times`);
  if (unkeyed.told === 'sent: no' && attempts !== 0) {
    throw new Error('a caller was told that nothing was sent, and it was');
  }
  if (/^sent: (?!no)/.test(unkeyed.told)) unknown += 1;
  if (unkeyed.told === 'completed' && attempts !== 1) throw new Error('completed, but never sent');
  completed += outcome.paid + attempts;
  stranded.push(...outcome.stranded);
  const leader = await fleet.leader();
  await leader.put('/v2/node/sync_payments');
  const { payments } = await leader.get('/v2/node/list_payments', { filter: 'pending' });
  const open = payments.find(({ index }: { index: string }) => index.endsWith(unkeyed.hash));
  if (attempts === 0 && open) stranded.push(open);
  for (const index of outcome.finished) {
    await notices.delivered(index, 'completed');
    await waitUntil(`the stream has told of ${index}`, async () => {
      return reader.told.get(index)?.status === 'completed';
    });
  }
  if (reader.problems.length > 0) throw new Error(reader.problems.join(' '));
  let last = '';
  await waitUntil('the budget counts every payment once', async () => {
    const { clients } = await (await fleet.leader()).get('/v2/node/list_clients');
    last = clients[made.client_pk].budget.spent;
    return last === `${completed + stranded.length * RESERVED_SAT}`;
  }).catch((error: unknown) => {
    const due = `${completed} were paid and ${stranded.length} are open`;
    throw new Error(`the budget says ${last}, and ${due}`, { cause: error });
  });
}

/** When their invoices have expired, payments that were never sent end as failed, and the budget gets them back. */
async function endStranded(): Promise<void> {
  fake.advanceClock(EXPIRED_SECS);
  for (const { index } of stranded) {
    const hash = index.slice(index.indexOf('_') + 1);
    if (fake.payments.attempts.has(hash)) throw new Error(`${index} was sent after all`);
    await waitUntil(`${index} has failed`, async () => {
      const payment = await (await fleet.leader()).get('/v2/node/payment', { index });
      return payment.status === 'failed';
    });
    await notices.delivered(index, 'failed');
  }
  const { clients } = await (await fleet.leader()).get('/v2/node/list_clients');
  const { spent } = clients[made.client_pk].budget;
  if (spent !== `${completed}`) throw new Error(`the budget says ${spent}, not ${completed}`);
}

/** Rejects when a round hangs. */
async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const late = Bun.sleep(ms).then(() => {
    throw new Error(`the round took longer than ${ms} ms: ${load.waiting()}`);
  });
  return Promise.race([work, late]);
}

let failure: unknown = null;
const startedMs = performance.now();
for (let round = 1; round <= rounds && failure === null; round++) {
  const name = oneOf(names);
  const fault = FAULTS[name];
  if (fault === undefined) continue;
  try {
    const outcome = await within(MOST_ROUND_MS, load.round(PAYMENTS, fault));
    await check(outcome);
    await waitUntil('all run again', async () => members.every((member) => member.running()));
    const row = tally.get(name) ?? { rounds: 0, payments: 0, again: 0, away: [] };
    row.rounds += 1;
    row.payments += outcome.paid;
    row.again += outcome.calledAgain;
    row.away.push(outcome.awayMs);
    tally.set(name, row);
    const secs = ((performance.now() - startedMs) / 1000).toFixed(0);
    console.log(`${round} at ${secs} s: ${name}: away ${outcome.awayMs.toFixed(0)} ms`);
  } catch (error) {
    failure = error;
    console.log(`ROUND ${round}: ${name}:`, error);
  }
}

if (failure === null) {
  await endStranded().catch((error: unknown) => {
    failure = error;
    console.log('AT THE END:', error);
  });
}

const shown = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
console.log('\n| fault | rounds | payments | called again | away, median | away, longest |');
console.log('|---|---|---|---|---|---|');
for (const name of names) {
  const row = tally.get(name);
  if (row === undefined) continue;
  const sorted = row.away.toSorted((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
  console.log(
    `| ${name} | ${row.rounds} | ${row.payments} | ${row.again} | ${shown(median)} | ${shown(sorted.at(-1) ?? 0)} |`,
  );
}
console.log(
  `\n${completed} payments completed, ${stranded.length} never reached the node and failed in the end, ${unknown} callers without a key were told "unknown".`,
);
clearInterval(supervisor);
if (failure !== null) {
  for (const member of members) console.log(`--- ${member.name}\n${member.log().slice(-6000)}`);
  console.log(`Repeat it with: bun run tests/faults/fleet-rounds.ts ${rounds} ${seed}`);
}
await reader.stop();
await fleet.close();
await notices.stop();
await fake.stop();
await server.stop();
process.exit(failure === null ? 0 : 1);
