import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type FakeLnd, startFakeLnd } from '../hostile/fake-lnd.ts';
import { type SidecarOnFake, startSidecarOnFake } from '../hostile/sidecar-on-fake.ts';
import { runBinary } from '../support/binary.ts';
import { type CuttingProxy, cuttingProxy } from '../support/cutting-proxy.ts';
import { postgresPrograms, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { type PostgresCopies, postgresCopies } from '../support/postgres-copies.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { type Bill, Bills } from './bills.ts';

setDefaultTimeout(SLOW_TEST_MS);

const programs = postgresPrograms();
const OLDER = 'restored from an older copy';
/** Room for ten payments of 1 sat, since each may cost 10 sats of fees until it is over. */
const BUDGET_SAT = 20;

describe.skipIf(programs === null)(
  'a PostgreSQL that fails over to a standby without the newest commits',
  () => {
    let server: TestPostgres;
    let fake: FakeLnd;
    let proxy: CuttingProxy;
    let copies: PostgresCopies;
    let sidecar: SidecarOnFake;
    let credentials: string;
    let bills: Bills;
    beforeAll(async () => {
      server = await startPostgres(programs ?? '');
      fake = await startFakeLnd({ channelSat: 10_000_000n });
      bills = new Bills(fake);
      const own = await server.createDatabase();
      proxy = cuttingProxy(Number(new URL(own).port));
      copies = postgresCopies(server, proxy, own);
      const url = own.replace(/:\d+\//, `:${proxy.port}/`);
      sidecar = await startSidecarOnFake(fake, [
        ...['--database-url', url, '--secrets-key', '5e'.repeat(32), '--database-lease-secs', '2'],
      ]);
      const made = await sidecar.post('/v2/node/create_client', {
        scopes: ['send', 'read_payments'],
        budget: { amount: `${BUDGET_SAT}`, period: 'total' },
      });
      credentials = made.client_credentials;
    });
    afterAll(async () => {
      await sidecar?.close();
      proxy?.stop();
      await fake?.stop();
      await server?.stop();
    });

    /** Pays 1 sat, once the database is there again. */
    const pay = async ({ invoice, key }: Bill, by: string | null = credentials) => {
      for (;;) {
        const { status, body } = await sidecar.call('POST', '/v2/node/pay_invoice', {
          body: { invoice },
          headers: { 'idempotency-key': key, prefer: 'wait=20' },
          ...(by === null ? {} : { credentials: by }),
        });
        if (body.code !== 8) return { status, code: body.code ?? null };
      }
    };
    const health = async (): Promise<string> => (await sidecar.get('/v2/health')).status;

    test('closes budgets at once, says so, and stays so over a restart until the owner confirms', async () => {
      const first = bills.some(3);
      for (const bill of first) expect(await pay(bill)).toEqual({ status: 200, code: null });
      const standby = await copies.copy();
      const lost = bills.some(7);
      for (const bill of lost) expect(await pay(bill)).toEqual({ status: 200, code: null });
      await copies.failOverTo(standby);

      const refused = bills.some(3);
      for (const bill of refused) expect(await pay(bill)).toEqual({ status: 403, code: 109 });
      expect(await health()).toContain(OLDER);
      const sent = [...first, ...lost].map(({ hash }) => fake.payments.attempts.get(hash));
      expect(sent).toEqual(Array.from({ length: 10 }, () => 1));
      for (const { hash } of refused) expect(fake.payments.attempts.has(hash)).toBe(false);
      expect(await pay(bills.one(), null)).toEqual({ status: 200, code: null });

      await sidecar.kill();
      await sidecar.start();
      expect(await health()).toContain(OLDER);
      expect(await pay(bills.one())).toEqual({ status: 403, code: 109 });

      const confirmed = await runBinary(['clients', 'confirm', '--url', sidecar.baseUrl]);
      expect(confirmed).toMatchObject({ exitCode: 0 });
      await until(async () => !(await health()).includes(OLDER), 'health is silent');
      expect(await pay(bills.one())).toEqual({ status: 200, code: null });
    });
  },
);
