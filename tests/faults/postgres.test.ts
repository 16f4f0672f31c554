import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type FakeLnd, startFakeLnd } from '../hostile/fake-lnd.ts';
import { type SidecarOnFake, startSidecarOnFake } from '../hostile/sidecar-on-fake.ts';
import { type NoticeReceiver, startNoticeReceiver } from '../interop/notices.ts';
import { BARE_ENV, runBinary, startBinary } from '../support/binary.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { postgresPrograms, startPostgres, type TestPostgres } from '../support/postgres.ts';
import type { Answer, Body } from '../support/requests.ts';
import { SLOW_TEST_MS, until, waitUntil } from '../support/until.ts';
import { type Bill, Bills } from './bills.ts';
import { expectSameAtLnd } from './lnd-truth.ts';
import { postgresPaymentRows } from './rows.ts';
import { tailByStream, tailByWaits } from './tails.ts';
import { expectOneTruth, type Tellers } from './truth.ts';

setDefaultTimeout(SLOW_TEST_MS);

const programs = postgresPrograms();
const PASSWORD = 'geheimes-wort';
const KEY = '5e'.repeat(32);
/** Payments that are made at once. */
const AT_ONCE = 6;

describe.skipIf(programs === null)('the binary over PostgreSQL', () => {
  let server: TestPostgres;
  let fake: FakeLnd;
  let notices: NoticeReceiver;
  let sidecar: SidecarOnFake;
  let database: readonly string[];
  let client: { credentials: string; pk: string };
  let bills: Bills;
  let wallet: Tellers;

  beforeAll(async () => {
    server = await startPostgres(programs ?? '');
    fake = await startFakeLnd({ channelSat: 10_000_000n });
    bills = new Bills(fake);
    notices = startNoticeReceiver();
    const url = (await server.createDatabase()).replace('sidecar@', `sidecar:${PASSWORD}@`);
    database = ['--database-url', url, '--secrets-key', KEY];
    sidecar = await startSidecarOnFake(fake, [...database, ...notices.flags]);
    const made = await sidecar.post('/v2/node/create_client', {
      scopes: ['send', 'read_payments'],
      budget: { amount: '100000', period: 'total' },
    });
    client = { credentials: made.client_credentials, pk: made.client_pk };
    const place = { baseUrl: () => sidecar.baseUrl };
    wallet = {
      baseUrl: sidecar.baseUrl,
      rows: postgresPaymentRows(server, url),
      tails: [tailByStream(place), tailByWaits(place)],
      atNode: (payments) => expectSameAtLnd(fake, payments),
      isWatched: ({ direction }) => direction === 'outbound',
    };
  });
  afterAll(async () => {
    await Promise.all((wallet?.tails ?? []).map((tail) => tail.stop()));
    await sidecar?.close();
    await notices?.stop();
    await fake?.stop();
    await server?.stop();
  });

  const pay = ({ invoice, key }: Bill, wait = '20'): Promise<Answer> =>
    sidecar.call('POST', '/v2/node/pay_invoice', {
      body: { invoice },
      headers: { 'idempotency-key': key, prefer: `wait=${wait}` },
      credentials: client.credentials,
    });
  /** Repeats the request, as its caller would, until it says how the payment ended. */
  const paid = (bill: Bill): Promise<Body> =>
    waitUntil('the payment has ended', async () => {
      const { status, body } = await pay(bill);
      return status === 200 && body;
    });
  /** Each was sent once, shows as completed, and its end was delivered under one id. */
  const expectPaidOnce = async (all: readonly Bill[]) => {
    for (const bill of all) {
      const payment = await paid(bill);
      expect(payment).toMatchObject({ status: 'completed', amount: '1' });
      expect(fake.payments.attempts.get(bill.hash)).toBe(1);
      await notices.delivered(payment.index, 'completed');
    }
    const { clients } = await sidecar.get('/v2/node/list_clients');
    expect(clients[client.pk].budget.spent).toBe(`${bills.billedSat}`);
    await expectOneTruth(wallet);
  };
  const health = async (): Promise<string> => (await sidecar.get('/v2/health')).status;
  const ready = () => until(async () => !/database/.test(await health()), 'health is silent');
  const settled = (answers: readonly Promise<Answer>[]) => Promise.allSettled(answers);

  test('payments go through, and health, the log and the database show no secret', async () => {
    const all = bills.some(AT_ONCE);
    await Promise.all(all.map((bill) => pay(bill)));
    await expectPaidOnce(all);
    await ready();
    expect(sidecar.log()).not.toMatch(new RegExp(`${PASSWORD}|${KEY}|${fake.adminMacaroon}`));
    const rows = await server.run(
      database[1] ?? '',
      'SELECT sealed_token FROM wallet_sidecar.client',
    );
    expect(rows).toEqual([{ sealed_token: expect.stringMatching(/^s1\.[0-9a-f]{16}\./) }]);
  });

  test('sessions that are ended again and again cost no payment', async () => {
    for (let round = 0; round < 5; round++) {
      const all = bills.some(AT_ONCE);
      const answers = settled(all.map((bill) => pay(bill)));
      await server.endSessions();
      await answers;
      await expectPaidOnce(all);
    }
    await ready();
  });

  test('a sidecar that is killed while payments are on their way finds their ends, and sends none again', async () => {
    const all = bills.some(AT_ONCE);
    bills.hold(all);
    const answers = settled(all.map((bill) => pay(bill)));
    await bills.underWay(all);
    await sidecar.kill();
    await answers;
    bills.succeed(all);
    await sidecar.start();
    await expectPaidOnce(all);
  });

  test('while PostgreSQL is down requests are error 8 and health says so, and nothing is lost or sent twice', async () => {
    const all = bills.some(AT_ONCE);
    bills.hold(all);
    const answers = settled(all.map((bill) => pay(bill)));
    await until(() => all.some(({ hash }) => fake.payments.attempts.has(hash)));
    await server.crash();
    await until(async () => /database cannot be reached/.test(await health()), 'health says it');
    const scraped = await fetch(`${sidecar.baseUrl}/metrics`, {
      signal: AbortSignal.timeout(10_000),
    });
    expect(scraped.status).toBe(200);
    const shown = await scraped.text();
    expect(shown).toContain('\nwallet_sidecar_healthy 0\n');
    expect(shown).not.toContain('\nwallet_sidecar_outbox_deliveries{');
    const refused = bills.one();
    bills.billedSat -= 1;
    const answer = await pay(refused);
    expect(answer).toMatchObject({
      status: 503,
      body: { code: 8, data: { sent: expect.any(String) } },
    });
    expect(JSON.stringify(answer.body)).not.toContain(PASSWORD);
    const list = { query: { filter: 'all' } };
    const listed = await sidecar.call('GET', '/v2/node/list_payments', list);
    expect(listed.body).toMatchObject({ code: 8 });
    // These end while nobody can store it.
    for (const { hash } of all.filter((bill) => fake.payments.attempts.has(bill.hash))) {
      fake.payments.resolve(hash, { end: 'succeed' });
    }
    for (const { hash } of all) fake.payments.decide(hash, { end: 'succeed' });
    await server.start();
    await answers;
    await ready();
    await expectPaidOnce(all);
    expect(fake.payments.attempts.has(refused.hash)).toBe(false);
  });

  test('with --require-auth the owner has the cookie, and in a fleet a sentence says why there is none', async () => {
    const url = (await server.createDatabase()).replace('sidecar@', `sidecar:${PASSWORD}@`);
    const own = ['--database-url', url, '--secrets-key', KEY, '--require-auth'];
    const clients = async (flags: readonly string[]) => {
      const started = await startSidecarOnFake(fake, [...own, ...flags]);
      try {
        return await runBinary(['clients', 'list', '--data-dir', started.dataDir]);
      } finally {
        await started.close();
      }
    };
    expect(await clients([])).toMatchObject({ exitCode: 0, stderr: '' });
    const { stderr } = await clients(['--peer-url', 'http://127.0.0.1:1']);
    expect(stderr).toMatch(
      /\(error 104\)\. The sidecar of \/.* has no cookie that this user can read, as one with --peer-url has none: give --client-credentials-path\.\n$/,
    );
  });

  test('a second sidecar is refused, takes over one that is paused, and the first ends when it wakes', async () => {
    const folder = temporaryFolder('second');
    const env = {
      ...BARE_ENV,
      SERVICE_DATABASE_URL: database[1],
      SERVICE_SECRETS_KEY: KEY,
      SERVICE_CLIENT_CREDENTIALS_PATH: sidecar.credentialsPath,
      SERVICE_WEBHOOK_URL: notices.flags[1],
      SERVICE_WEBHOOK_SECRET: notices.flags[3],
      SERVICE_MARKER_PATH: `${sidecar.dataDir}.marker`,
    };
    const startSecond = () =>
      startBinary(['serve', '--data-dir', folder, '--listen-addr', '127.0.0.1:0'], { env });
    const refused = startSecond();
    expect(await refused.exit()).toBe(1);
    expect(refused.stderr()).toMatch(
      /^The database is in use by the wallet-sidecar with process id \d+ on .*: stop that one/m,
    );

    const all = bills.some(AT_ONCE);
    bills.hold(all);
    const answers = settled(all.map((bill) => pay(bill)));
    await bills.underWay(all);
    const first = sidecar.process();
    process.kill(first.pid, 'SIGSTOP');
    const second = startSecond();
    const url = await second.ready();
    try {
      bills.succeed(all);
      const repeat = async ({ invoice, key }: Bill) => {
        const answer = await fetch(`${url}/v2/node/pay_invoice`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${client.credentials}`,
            'content-type': 'application/json',
            'idempotency-key': key,
          },
          body: JSON.stringify({ invoice }),
        });
        return (await answer.json()) as Body;
      };
      for (const bill of all) expect(await repeat(bill)).toMatchObject({ status: 'completed' });
      process.kill(first.pid, 'SIGCONT');
      await until(() => /Another sidecar has taken over the database/.test(sidecar.log()));
      await answers;
      await until(
        async () => (await fetch(`${sidecar.baseUrl}/v2/health`).catch(() => null)) === null,
      );
      expect(second.running()).toBe(true);
      for (const { hash } of all) expect(fake.payments.attempts.get(hash)).toBe(1);
    } finally {
      // It ends a paused process too.
      await sidecar.kill();
      await second.stop();
      removeFolder(folder);
    }
    await sidecar.start();
    await expectPaidOnce(all);
  });
});
