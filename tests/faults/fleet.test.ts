import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test';
import { WalletSidecar } from '../../src/client/index.ts';
import { PASSED_ON_HEADER, passedOnSeal } from '../../src/fleet/passed-on.ts';
import { elapsedMs } from '../../src/lib/clock.ts';
import { type FakeLnd, startFakeLnd } from '../hostile/fake-lnd.ts';
import { type NoticeReceiver, startNoticeReceiver } from '../interop/notices.ts';
import { startBinary } from '../support/binary.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { postgresPrograms, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { type Answer, type Body, expectError, send } from '../support/requests.ts';
import { SLOW_TEST_MS, until, waitUntil } from '../support/until.ts';
import { type Bill, Bills } from './bills.ts';
import { type Fleet, type Member, startFleet } from './fleet-world.ts';

setDefaultTimeout(SLOW_TEST_MS);

const programs = postgresPrograms();
/** Long enough that a busy machine does not end it. */
const LEASE_SECS = 5;
/** How long a request waits for the next one that leads: the lease, and 5 s for its start (docs/postgresql.md). */
const WAITS_MS = LEASE_SECS * 1000 + 5000;
/** Payments that are made at once. */
const AT_ONCE = 6;
/** The name by which callers reach all of them. */
const HOST = 'wallet.localhost';

/** The clocks of this machine. */
const CLOCKS = { nowMs: Date.now, elapsedMs };

/** Asks again where nobody led for as long as a request waits, which happens on a busy machine. */
async function waited(ask: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const askedMs = performance.now();
    const answer = await ask();
    if (answer.body.code !== 8 || performance.now() - askedMs < WAITS_MS) return answer;
  }
}

/** Health says only that callers need no credentials although there are budgets. */
const WELL =
  /^The budgets of clients protect nothing [^:]*: start the sidecar with --require-auth\.$/;

describe.skipIf(programs === null)('several sidecars on one database', () => {
  let server: TestPostgres;
  let databaseUrl: string;
  let fake: FakeLnd;
  let notices: NoticeReceiver;
  let fleet: Fleet;
  let client: { credentials: string; pk: string };
  let bills: Bills;

  beforeAll(async () => {
    server = await startPostgres(programs ?? '');
    fake = await startFakeLnd({ channelSat: 10_000_000n });
    bills = new Bills(fake);
    notices = startNoticeReceiver();
    databaseUrl = await server.createDatabase();
    const [, webhookUrl = '', , webhookSecret = ''] = notices.flags;
    fleet = await startFleet(fake, {
      size: 3,
      databaseUrl,
      leaseSecs: LEASE_SECS,
      flags: ['--allow-host', HOST],
      env: { SERVICE_WEBHOOK_URL: webhookUrl, SERVICE_WEBHOOK_SECRET: webhookSecret },
    });
    const [first] = fleet.members;
    const made = await first?.post('/v2/node/create_client', {
      scopes: ['send', 'read_payments'],
      budget: { amount: '100000', period: 'total' },
    });
    client = { credentials: made.client_credentials, pk: made.client_pk };
  });
  afterAll(async () => {
    await fleet?.close();
    await notices?.stop();
    await fake?.stop();
    await server?.stop();
  });
  beforeEach(async () => {
    for (const member of fleet.members) if (!member.running()) await member.start();
  });

  const pay = (at: Member, { invoice, key }: Bill): Promise<Answer> =>
    waited(() =>
      at.call('POST', '/v2/node/pay_invoice', {
        body: { invoice },
        headers: { 'idempotency-key': key, prefer: 'wait=30' },
        credentials: client.credentials,
      }),
    );
  const nodeInfo = async (at: Member): Promise<Body> =>
    (await waited(() => at.call('GET', '/v2/node/node_info'))).body;
  const payUnkeyed = (at: Member, { invoice }: Bill): Promise<Answer> =>
    at.call('POST', '/v2/node/pay_invoice', { body: { invoice }, credentials: client.credentials });
  /** Each was sent once, and its end was told to its caller and delivered under one id. */
  const expectPaidOnce = async (all: readonly Bill[], answers: readonly Answer[]) => {
    for (const [at, { hash }] of all.entries()) {
      expect(answers[at]).toMatchObject({
        status: 200,
        body: { status: 'completed', amount: '1' },
      });
      expect(fake.payments.attempts.get(hash)).toBe(1);
      await notices.delivered(answers[at]?.body.index, 'completed');
    }
    const leader = await fleet.leader();
    // A payment that nobody waited for may end a moment later, and reserves more until then.
    await until(async () => {
      const { clients } = await leader.get('/v2/node/list_clients');
      return clients[client.pk].budget.spent === `${bills.billedSat}`;
    }, 'the budget has paid for them and nothing else');
  };
  const invoiceAt = (at: Member): Promise<Body> =>
    at.post('/v2/node/create_invoice', { amount: '7', description: 'tea' });
  const healthOf = async (at: Member): Promise<string> => (await at.get('/v2/health')).status;
  /** Where a proxy would find the one that leads. */
  const leadersFound = async () => {
    const running = fleet.members.filter((at) => at.running());
    const answers = await Promise.all(
      running.map(async (at) => ({ at, answer: await at.call('GET', '/v2/leader') })),
    );
    for (const { answer } of answers) {
      if (answer.status === 200) expect(answer.body).toEqual({});
      else expectError(answer, 'overCapacity', /^This sidecar stands by/);
    }
    return answers.flatMap(({ at, answer }) => (answer.status === 200 ? [at.name] : []));
  };
  const hashOf = (index: string) => index.slice(index.indexOf('_') + 1);
  const clientAt = ({ baseUrl }: Member) => new WalletSidecar({ url: baseUrl });

  test('a request to any of them gives the same, and one of them alone answers for the wallet', async () => {
    const [one, other] = await fleet.standbys();
    if (!one || !other) throw new Error('two stand by');
    const made = await invoiceAt(one);
    const waiting = other.get('/v2/node/wait_for_payment', { index: made.index });
    fake.paysInvoice(hashOf(made.index));
    expect(await waiting).toMatchObject({ index: made.index, status: 'completed', amount: '7' });
    await notices.delivered(made.index, 'completed');
    const seen = await Promise.all(
      fleet.members.map((at) => at.get('/v2/node/list_payments', { filter: 'all' })),
    );
    expect(seen[1]).toEqual(seen[0]);
    expect(seen[2]).toEqual(seen[0]);
    await fleet.oneLeads();
    expect(await leadersFound()).toEqual([(await fleet.leader()).name]);
    for (const at of fleet.members) expect(await healthOf(at)).toMatch(WELL);
  });

  test('an event stream goes through any of them, and goes on at another with the same Last-Event-ID', async () => {
    const [one, other] = await fleet.standbys();
    if (!one || !other) throw new Error('two stand by');
    const stop = new AbortController();
    const first = clientAt(one).events({ signal: stop.signal });
    const next = first.next();
    await until(async () => {
      const text = await (await fetch(`${(await fleet.leader()).baseUrl}/metrics`)).text();
      return /route="\/v2\/node\/events",method="GET",status="200"\} [1-9]/.test(text);
    }, 'the stream is open');
    const made: string[] = [];
    for (let count = 0; count < 4; count++) made.push((await invoiceAt(other)).index);
    const seen = (await next).value;
    stop.abort();
    expect(seen.payment.index).toBe(made[0] ?? '');
    const end = new AbortController();
    const rest: string[] = [];
    const resumed = clientAt(other).events({ startIndex: seen.updatedIndex, signal: end.signal });
    for await (const { payment } of resumed) {
      rest.push(payment.index);
      if (rest.length === 3) break;
    }
    expect(rest).toEqual(made.slice(1));
  });

  test('a client that is revoked at one of them is unknown to all of them at once', async () => {
    const [one] = await fleet.standbys();
    const made = await one?.post('/v2/node/create_client', { scopes: ['read_payments'] });
    const ask = (at: Member) =>
      at.call('GET', '/v2/node/list_payments', {
        query: { filter: 'all' },
        credentials: made.client_credentials,
      });
    for (const at of fleet.members) expect((await ask(at)).status).toBe(200);
    await one?.post('/v2/node/revoke_client', { client_pk: made.client_pk });
    for (const at of fleet.members) expectError(await ask(at), 'unauthenticated');
  });

  test('each of them rejects a foreign Host, a foreign page, and a header that no sidecar wrote', async () => {
    const head = { method: 'GET', target: '/v2/node/node_info' };
    const stranger = passedOnSeal(new Uint8Array(32).fill(1), CLOCKS);
    const facts = { host: HOST, source: '192.0.2.1' };
    const strangers = [
      '',
      'a.b',
      ...['1', '2', '3'].map((fence) => stranger.write(fence, head, facts)),
    ];
    for (const at of fleet.members) {
      const ask = (headers: Record<string, string>) =>
        send(at.baseUrl, 'GET', '/v2/node/node_info', { headers });
      expect((await ask({ host: HOST })).status).toBe(200);
      expectError(await ask({ host: 'evil.example' }), 'hostNotAllowed');
      expectError(await ask({ origin: 'https://evil.example' }), 'hostNotAllowed');
      expectError(await ask({ 'sec-fetch-site': 'cross-site' }), 'hostNotAllowed');
      for (const forged of strangers) {
        const header = { [PASSED_ON_HEADER]: forged };
        expectError(await ask({ host: 'evil.example', ...header }), 'hostNotAllowed');
        expect((await ask(header)).status).toBe(200);
      }
    }
  });

  test('a request that was passed on to one that does not lead goes no further', async () => {
    const seal = passedOnSeal(new Uint8Array(32).fill(0x5e), CLOCKS);
    const head = { method: 'GET', target: '/v2/node/node_info' };
    const [at] = await fleet.standbys();
    const genuine = seal.write('1', head, { host: HOST, source: '192.0.2.1' });
    const answer = await send(at?.baseUrl ?? '', 'GET', head.target, {
      headers: { [PASSED_ON_HEADER]: genuine },
    });
    expectError(answer, 'overCapacity', /does not lead/);
  });

  test('a request that was passed on and recorded on the way is not served a second time', async () => {
    const seal = passedOnSeal(new Uint8Array(32).fill(0x5e), CLOCKS);
    const target = '/v2/node/node_info';
    const leader = await fleet.leader();
    const statusesOf = async (fence: number) => {
      const facts = { host: HOST, source: '192.0.2.1' };
      const header = seal.write(String(fence), { method: 'GET', target }, facts);
      const ask = async () =>
        (await send(leader.baseUrl, 'GET', target, { headers: { [PASSED_ON_HEADER]: header } }))
          .status;
      return [await ask(), await ask()];
    };
    // Which number it leads by depends on the tests before.
    const all = await Promise.all(Array.from({ length: 30 }, (_, at) => statusesOf(at + 1)));
    expect(all.filter(([first]) => first === 200)).toEqual([[200, 503]]);
  });

  test('the console is entered by any of them, behind a proxy that alternates', async () => {
    const links = await (await fleet.leader()).call('POST', '/v2/console/link', { body: {} });
    const page = { host: HOST, origin: `http://${HOST}`, 'sec-fetch-site': 'same-origin' };
    const [first, ...others] = fleet.members;
    const entered = await send(first?.baseUrl ?? '', 'POST', '/v2/console/session', {
      body: { link: links.body.token },
      headers: { ...page, 'console-key': 'none' },
    });
    expect(entered.status).toBe(200);
    const cookie = (entered.headers.getSetCookie()[0] ?? '').split(';')[0] ?? '';
    for (const at of [...others, ...fleet.members]) {
      const about = await send(at.baseUrl, 'GET', '/v2/console/about', {
        headers: { ...page, cookie, 'console-key': entered.body.key },
      });
      expect(about).toMatchObject({ status: 200, body: { owner: true } });
      const stranger = await send(at.baseUrl, 'GET', '/v2/console/about', {
        headers: { ...page, 'console-key': entered.body.key },
      });
      expectError(stranger, 'unauthenticated');
    }
  });

  test('when the one that leads is killed, payments with a key are told and were sent once each', async () => {
    const leader = await fleet.leader();
    const [one, other] = await fleet.standbys();
    if (!one || !other) throw new Error('two stand by');
    const all = bills.some(AT_ONCE);
    bills.hold(all);
    const answers = all.map((bill, at) => pay(at % 2 === 0 ? one : other, bill));
    const unkeyed = bills.one();
    bills.hold([unkeyed]);
    const open = payUnkeyed(one, unkeyed);
    const reading = nodeInfo(other);
    await bills.underWay([...all, unkeyed]);
    await leader.kill();
    const told = await open;
    expectError(told, 'timeout', /nobody knows whether this request took effect/);
    expect(told.body.data).toEqual({ sent: 'unknown' });
    bills.succeed([...all, unkeyed]);
    expect(await reading).toHaveProperty('node_pk');
    await expectPaidOnce(all, await Promise.all(answers));
    expect(fake.payments.attempts.get(unkeyed.hash)).toBe(1);
    expect(await healthOf(one)).toMatch(WELL);
    const found = await leadersFound();
    expect(found).toEqual([(await fleet.leader()).name]);
    expect(found).not.toContain(leader.name);
  });

  test('refunds through all of them at once take no more than was received, also when the one that leads is killed', async () => {
    const leader = await fleet.leader();
    const [one] = await fleet.standbys();
    if (!one) throw new Error('one stands by');
    const { index } = await invoiceAt(one);
    fake.paysInvoice(hashOf(index));
    await one.get('/v2/node/wait_for_payment', { index });
    const refund = (at: Member, { invoice }: Bill) =>
      at.call('POST', '/v2/node/pay_invoice', {
        body: { invoice, refund_of: index },
        headers: { prefer: 'respond-async' },
        credentials: client.credentials,
      });
    const all = bills.some(18);
    bills.hold(all);
    const answers = await Promise.all(
      all.map((bill, at) => refund(fleet.members[at % fleet.members.length] ?? one, bill)),
    );
    const accepted = all.filter((_, at) => answers[at]?.status === 202);
    expect(accepted).toHaveLength(7);
    for (const answer of answers) if (answer.status !== 202) expectError(answer, 'refused');
    bills.billedSat -= all.length - accepted.length;
    const refunded = async () => {
      const found = () => one.call('GET', '/v2/node/payment', { query: { index } });
      return (await waited(found)).body.refunded;
    };
    expect(await refunded()).toBe('7');
    await leader.kill();
    expect(await refunded()).toBe('7');
    const late = bills.one();
    bills.billedSat -= 1;
    expectError(await refund(one, late), 'refused', / 0 sats are left/);
    const [failing, ...others] = accepted;
    if (!failing) throw new Error('one was accepted');
    fake.payments.resolve(failing.hash, { end: 'fail' });
    bills.billedSat -= 1;
    bills.succeed(others);
    await until(async () => (await refunded()) === '6', 'one has failed');
    await until(async () => {
      const { payments } = await one.get('/v2/node/updated_payments', { limit: '100' });
      const linked = payments.filter(({ refund_of }: Body) => refund_of === index);
      return linked.filter(({ status }: Body) => status === 'completed').length === 6;
    }, 'the others are completed');
    expect(await refunded()).toBe('6');
  });

  test('while the one that leads is paused its requests wait, and the next one tells how they ended', async () => {
    const leader = await fleet.leader();
    const [one] = await fleet.standbys();
    if (!one) throw new Error('one stands by');
    const all = bills.some(2);
    bills.hold(all);
    const answers = all.map((bill) => pay(one, bill));
    await bills.underWay(all);
    leader.pause();
    const reading = nodeInfo(one);
    bills.succeed(all);
    expect(await reading).toHaveProperty('node_pk');
    await expectPaidOnce(all, await Promise.all(answers));
    leader.resume();
    expect(await leader.exit()).toBe(1);
    expect(leader.log()).toMatch(/Another sidecar has taken over the database/);
  });

  test('when the one that leads is told to stop, no caller of the others notices', async () => {
    const leader = await fleet.leader();
    const standbys = await fleet.standbys();
    const [one] = standbys;
    if (!one) throw new Error('one stands by');
    const made = await invoiceAt(one);
    const waiting = one.get('/v2/node/wait_for_payment', { index: made.index });
    const problems: string[] = [];
    const paid: { bill: Bill; answer: Answer }[] = [];
    let isOver = false;
    const loops = standbys.flatMap((at) => [
      (async () => {
        while (!isOver) {
          const { status, body } = await at.call('GET', '/v2/node/node_info');
          if (status !== 200) problems.push(`GET ${status} ${JSON.stringify(body)}`);
        }
      })(),
      (async () => {
        while (!isOver) {
          const bill = bills.one();
          paid.push({ bill, answer: await pay(at, bill) });
        }
      })(),
    ]);
    await until(() => paid.length >= 4);
    expect(await leader.stop()).toBe(0);
    const next = await fleet.leader();
    expect(next.name).not.toBe(leader.name);
    const before = paid.length;
    await until(() => paid.length >= before + 4);
    isOver = true;
    await Promise.all(loops);
    fake.paysInvoice(hashOf(made.index));
    expect(await waiting).toMatchObject({ status: 'completed' });
    expect(problems).toEqual([]);
    await expectPaidOnce(
      paid.map(({ bill }) => bill),
      paid.map(({ answer }) => answer),
    );
  });

  test('one that stands by ends in order when it is told to, also with a stream open', async () => {
    const [one] = await fleet.standbys();
    if (!one) throw new Error('one stands by');
    const stream = await fetch(`${one.baseUrl}/v2/node/events`);
    expect(stream.status).toBe(200);
    expect(await one.stop()).toBe(0);
    await stream.text().catch(() => undefined);
  });

  test('one with another key for secrets does not start', async () => {
    const folder = temporaryFolder('other-key');
    const other = startBinary(
      [
        'serve',
        '--data-dir',
        folder,
        '--listen-addr',
        '127.0.0.1:0',
        '--peer-url',
        'http://127.0.0.1:9',
      ],
      {
        env: {
          PATH: process.env.PATH ?? '',
          HOME: '/nonexistent',
          SERVICE_DATABASE_URL: databaseUrl,
          SERVICE_SECRETS_KEY: '5f'.repeat(32),
          SERVICE_CLIENT_CREDENTIALS: fleet.credentials,
        },
      },
    );
    expect(await other.exit()).toBe(1);
    expect(other.stderr()).toMatch(
      /are sealed with the key .* start with the key that this database/,
    );
    removeFolder(folder);
  });

  test('where the one that leads is stands in the database sealed, and what another wrote there is not believed', async () => {
    const read = 'SELECT fence, sealed_peer FROM wallet_sidecar.ownership';
    const [row] = await server.run(databaseUrl, read);
    expect(String(row?.sealed_peer)).toMatch(/^s1\.[0-9a-f]{16}\./);
    expect(String(row?.sealed_peer)).not.toContain('127.0.0.1');
    const [one] = await fleet.standbys();
    const seen: string[] = [];
    const thief = Bun.serve({
      port: 0,
      fetch(request) {
        seen.push(request.url);
        return Response.json({});
      },
    });
    const written = JSON.stringify({ url: thief.url.href, isTrusted: true });
    await server.run(databaseUrl, `UPDATE wallet_sidecar.ownership SET sealed_peer = '${written}'`);
    const asking = one?.get('/v2/node/node_info');
    // It goes on with what it knew, or waits; it never goes there.
    await waitUntil('the look at the lease has come', async () => {
      const [sealed] = await server.run(databaseUrl, read);
      return sealed?.sealed_peer === written;
    });
    await server.run(
      databaseUrl,
      `UPDATE wallet_sidecar.ownership SET sealed_peer = '${String(row?.sealed_peer)}'`,
    );
    expect(await asking).toHaveProperty('node_pk');
    expect(seen).toEqual([]);
    await thief.stop(true);
  });
});
