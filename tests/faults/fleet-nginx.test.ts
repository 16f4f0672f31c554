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
import { NGINX, type Nginx, startNginx } from '../fleet/nginx-world.ts';
import { type FakeLnd, startFakeLnd } from '../hostile/fake-lnd.ts';
import { freePorts } from '../support/ports.ts';
import { postgresPrograms, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { type Answer, send } from '../support/requests.ts';
import { SLOW_TEST_MS, until, waitUntil } from '../support/until.ts';
import { type Bill, Bills } from './bills.ts';
import { type Fleet, type Member, startFleet } from './fleet-world.ts';

setDefaultTimeout(SLOW_TEST_MS);

const programs = postgresPrograms();
const LEASE_SECS = 3;
const LEASE_IS_OVER =
  'SELECT expires_at < clock_timestamp() AS over FROM wallet_sidecar.ownership_lease';
const CALLERS = 8;
/** A caller gives up a request after this time, and makes it again with its key. */
const PATIENCE_MS = 2000;

describe.skipIf(programs === null || NGINX === null)('payments through nginx', () => {
  let server: TestPostgres;
  let fake: FakeLnd;
  let fleet: Fleet;
  let nginx: Nginx;
  let bills: Bills;
  let databaseUrl: string;
  let credentials: string;
  /** A port by which an nginx calls the sidecar that stands by, as while its answer of who leads is too old. */
  let toFollower: number;

  beforeAll(async () => {
    server = await startPostgres(programs ?? '');
    fake = await startFakeLnd({ channelSat: 10_000_000n });
    bills = new Bills(fake);
    databaseUrl = await server.createDatabase();
    const [port = 0, otherPort = 0] = freePorts(2);
    toFollower = otherPort;
    fleet = await startFleet(fake, {
      size: 2,
      databaseUrl,
      leaseSecs: LEASE_SECS,
      flags: ['--allow-host', `127.0.0.1:${port},127.0.0.1:${otherPort}`, '--log-level', 'warn'],
      direct: true,
    });
    const [a = 0, b = 0] = fleet.members.map(portOf);
    nginx = await startNginx(a, b, port);
    const [first] = fleet.members;
    const made = await first?.post('/v2/node/create_client', {
      scopes: ['send', 'read_payments'],
      budget: { amount: '100000', period: 'total' },
    });
    credentials = made.client_credentials;
  });
  afterAll(async () => {
    await nginx?.stop();
    await fleet.close();
    await fake.stop();
    await server.stop();
  });
  beforeEach(restart);

  /** Starts again what has ended, as a service manager does. */
  async function restart(): Promise<void> {
    for (const member of fleet.members) if (!member.running()) await member.start();
    await fleet.oneLeads();
  }

  function call(bill: Bill, signal?: AbortSignal): Promise<Answer> {
    return send(nginx.baseUrl, 'POST', '/v2/node/pay_invoice', {
      body: { invoice: bill.invoice },
      credentials,
      headers: { 'idempotency-key': bill.key },
      ...(signal ? { signal } : {}),
    });
  }

  /** Makes one payment as a caller does that repeats it until it knows its end; notes all that it was told. */
  function pay(bill: Bill, told: Answer[]): Promise<Answer> {
    return waitUntil('the payment has ended', async () => {
      const answer = await call(bill, AbortSignal.timeout(PATIENCE_MS)).catch(() => null);
      if (answer !== null) told.push(answer);
      return answer?.status === 200 && answer;
    });
  }

  /** Every caller pays its bills while `fault` happens, and each bill is paid once. */
  async function payDuring(fault: (bills: readonly Bill[]) => Promise<void>): Promise<void> {
    const each = Array.from({ length: CALLERS }, () => bills.some(4));
    const held = each.map(([bill]) => bill as Bill);
    bills.hold(held);
    const told: Answer[] = [];
    const paid = Promise.all(
      each.map(async (own) => {
        const answers: Answer[] = [];
        for (const bill of own) answers.push(await pay(bill, told));
        return answers;
      }),
    );
    await bills.underWay(held);
    await fault(held);
    for (const answer of (await paid).flat()) expect(answer.body.status).toBe('completed');
    for (const { hash } of each.flat()) expect(fake.payments.attempts.get(hash)).toBe(1);
    for (const { body } of told) {
      expect(body.status).not.toBe('failed');
      expect(body.data?.sent).not.toBe('no');
    }
  }
  const other = (one: Member) => fleet.members.find((at) => at !== one) as Member;
  const takesOver = (one: Member) => until(() => one.leads(), `${one.name} leads`);

  test('are made once when the one that leads is killed', async () => {
    for (let round = 0; round < 2; round++) {
      await restart();
      await payDuring(async (held) => {
        const leader = await fleet.leader();
        await leader.kill();
        bills.succeed(held);
        await takesOver(other(leader));
      });
    }
  });

  test('are made once when the one that leads stands still, and goes on later', async () => {
    for (let round = 0; round < 2; round++) {
      await restart();
      await payDuring(async (held) => {
        const leader = await fleet.leader();
        leader.pause();
        bills.succeed(held);
        await takesOver(other(leader));
        leader.resume();
        await leader.exit();
      });
    }
  });

  test('are made once when both stand still for longer than the lease', async () => {
    await payDuring(async (held) => {
      for (const member of fleet.members) member.pause();
      bills.succeed(held);
      await until(async () => {
        const [lease] = await server.run(databaseUrl, LEASE_IS_OVER);
        return lease?.over === true;
      }, 'the lease is over');
      for (const member of fleet.members) member.resume();
      await until(async () => {
        for (const member of fleet.members) if (!member.running()) member.begin();
        const leading = await Promise.all(fleet.members.map((at) => at.leads()));
        return leading.some(Boolean);
      }, 'one leads again');
    });
  });

  test('are made once when leadership goes to and fro', async () => {
    await payDuring(async (held) => {
      bills.succeed(held);
      for (let turn = 0; turn < 4; turn++) {
        const leader = await fleet.leader();
        await leader.stop();
        await takesOver(other(leader));
        leader.begin();
      }
    });
  });

  test('go whole, and once, to one that stands by while nginx takes it for the one that leads', async () => {
    const follower = portOf(other(await fleet.leader()));
    const late = await startNginx(follower, follower, toFollower);
    try {
      const { baseUrl } = late;
      const bill = bills.one();
      const letters = [...JSON.stringify({ invoice: bill.invoice })];
      const pay = async (authorization: string) => {
        const answer = await fetch(`${baseUrl}/v2/node/pay_invoice`, {
          method: 'POST',
          headers: {
            authorization,
            'content-type': 'application/json',
            'idempotency-key': bill.key,
            'x-long': 'a'.repeat(40_000),
          },
          body: new ReadableStream({
            pull(controller) {
              const letter = letters.shift();
              if (letter === undefined) controller.close();
              else controller.enqueue(new TextEncoder().encode(letter));
            },
          }),
        });
        return { status: answer.status, body: await answer.json() };
      };
      expect(await pay(`Bearer ${credentials}`)).toMatchObject({
        status: 200,
        body: { status: 'completed', amount: '1' },
      });
      letters.push(...JSON.stringify({ invoice: bill.invoice }));
      expect((await pay(`Bearer ${credentials.slice(0, -4)}AAAA`)).status).toBe(401);
      expect((await call(bill)).body.status).toBe('completed');
      expect(fake.payments.attempts.get(bill.hash)).toBe(1);

      const stop = new AbortController();
      const events = new WalletSidecar({ url: baseUrl }).events({ signal: stop.signal });
      const seen = events.next();
      const { body: made } = await send(baseUrl, 'POST', '/v2/node/create_invoice', {
        body: { amount: '7', description: 'tea' },
      });
      const waiting = send(baseUrl, 'GET', '/v2/node/wait_for_payment', {
        query: { index: made.index },
      });
      fake.paysInvoice(made.index.slice(made.index.indexOf('_') + 1));
      expect((await waiting).body).toMatchObject({ index: made.index, status: 'completed' });
      expect((await seen).value.payment.index).toBe(made.index);
      stop.abort();
    } finally {
      await late.stop();
    }
  });
});

function portOf({ baseUrl }: Member): number {
  return Number(new URL(baseUrl).port);
}
