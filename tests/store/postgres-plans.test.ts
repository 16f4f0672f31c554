import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { openPostgresStore } from '../../src/store/postgres/index.ts';
import { postgresPrograms, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { sampleDone, samplePayment } from '../support/sample-payment.ts';
import { observe, WALLET } from '../support/store-steps.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

const programs = postgresPrograms();
const secretsKey = new Uint8Array(32).fill(7);
const PAYMENTS = 200;

describe.skipIf(programs === null)('plans that PostgreSQL makes while a table is empty', () => {
  let server: TestPostgres;
  beforeAll(async () => {
    server = await startPostgres(programs ?? '');
  });
  afterAll(() => server.stop());

  test('read as many rows for a payment when there are many', async () => {
    const url = await server.createDatabase();
    const store = await openPostgresStore({ url, secretsKey, onLost: () => undefined });
    const numbers = Array.from({ length: PAYMENTS }, (_, at) => at + 1);
    for (const number of numbers) {
      const payment = samplePayment(number);
      await observe(store, [payment], { journaled: true });
      await store.watches.add(WALLET, { kind: 'payment', index: payment.index });
    }
    for (const number of numbers) await observe(store, [sampleDone(number)], { journaled: true });
    await store.close();
    // A session tells what it has read when it ends.
    await until(async () => {
      const sessions = await server.run(
        url,
        "SELECT 1 FROM pg_stat_activity WHERE application_name = 'wallet-sidecar'",
      );
      return sessions.length === 0;
    });
    const read = await server.run(
      url,
      "SELECT relname, (idx_tup_fetch + seq_tup_read)::int AS rows FROM pg_stat_user_tables WHERE relname IN ('journal', 'watch')",
    );
    const indexes = await server.run(
      url,
      "SELECT indexrelname, idx_tup_read::int AS rows FROM pg_stat_user_indexes WHERE relname IN ('journal', 'watch')",
    );
    expect([...read, ...indexes].filter(({ rows }) => Number(rows) > 10 * PAYMENTS)).toEqual([]);
    expect(read.map(({ rows }) => Number(rows) >= PAYMENTS)).toEqual([true, true]);
  });
});
