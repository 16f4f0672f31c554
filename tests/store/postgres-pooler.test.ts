import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { SQL } from 'bun';
import { openConnections } from '../../src/store/postgres/connections.ts';
import { openPostgresStore } from '../../src/store/postgres/index.ts';
import { requireOwnSessions, withSettings } from '../../src/store/postgres/settings.ts';
import { StoreUnusable } from '../../src/store/unusable.ts';
import { type Pooler, startPooler } from '../support/pooler.ts';
import { postgresPrograms, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { samplePayment } from '../support/sample-payment.ts';
import { fits, newSpend, observe, WALLET } from '../support/store-steps.ts';
import { SLOW_TEST_MS } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

const programs = postgresPrograms();
const secretsKey = new Uint8Array(32).fill(7);
const onLost = () => undefined;

describe.skipIf(programs === null)('a PostgreSQL behind a pooler', () => {
  let server: TestPostgres;
  const poolers: Pooler[] = [];
  beforeAll(async () => {
    server = await startPostgres(programs ?? '');
  });
  afterAll(async () => {
    for (const pooler of poolers) pooler.stop();
    await server.stop();
  });
  function through(url: string, others: 'refuse' | 'ignore'): string {
    const pooler = startPooler(Number(new URL(url).port), others);
    poolers.push(pooler);
    return url.replace(/:\d+\//, `:${pooler.port}/`);
  }
  const tablesIn = (url: string) =>
    server.run(
      url,
      `SELECT DISTINCT schemaname AS name FROM pg_tables
       WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
    );

  for (const others of ['refuse', 'ignore'] as const) {
    test(`that would ${others} parameters of a connection keeps everything in its schema`, async () => {
      const url = await server.createDatabase();
      const store = await openPostgresStore({ url: through(url, others), secretsKey, onLost });
      await store.spends.begin(WALLET, newSpend(samplePayment(1)), fits);
      await observe(store, [samplePayment(2)], { journaled: true });
      expect(await store.spends.unfinished(WALLET)).toHaveLength(1);
      expect(await store.journal.open(WALLET)).toHaveLength(2);
      await store.close();
      expect(await tablesIn(url)).toEqual([{ name: 'wallet_sidecar' }]);
    });

    test(`that would ${others} them has the settings in every transaction, whatever the database's are`, async () => {
      const url = await server.createDatabase();
      const name = new URL(url).pathname.slice(1);
      for (const setting of ['synchronous_commit = off', 'jit = on', 'search_path = public']) {
        await server.run(url, `ALTER DATABASE ${name} SET ${setting}`);
      }
      const connections = openConnections(through(url, others), 2);
      try {
        await requireOwnSessions(connections.sql);
        const [shown] = await withSettings(
          connections.sql,
          (
            tx,
          ) => tx`SELECT current_setting('synchronous_commit') AS commit, current_setting('jit') AS jit,
            current_setting('search_path') AS path,
            current_setting('idle_in_transaction_session_timeout') AS idle`,
        );
        expect(shown).toEqual({ commit: 'on', jit: 'off', path: 'wallet_sidecar', idle: '5s' });
      } finally {
        await connections.close();
      }
    });
  }

  test('whose connections share a session, as in transaction mode, is refused with what to do', async () => {
    const sql = new SQL(await server.createDatabase(), { max: 2 });
    const one = await sql.reserve();
    const query = (...given: Parameters<SQL>) => one(...given);
    const shared = Object.assign(query, { release: () => undefined });
    const pooled = Object.assign(query, {
      begin: sql.begin.bind(sql),
      reserve: async () => shared,
    }) as unknown as SQL;
    const error = await requireOwnSessions(pooled).catch((it) => it);
    expect(error).toBeInstanceOf(StoreUnusable);
    expect(error.message).toMatch(/set pool_mode = session/);
    one.release();
    await requireOwnSessions(sql);
    await sql.close();
  });

  test('that had put the tables into the schema public is not started as an empty store, and goes on after they were moved', async () => {
    const url = await server.createDatabase();
    const before = await openPostgresStore({ url, secretsKey, onLost });
    const { id } = before.identity;
    await before.close();
    const moveAll = (from: string, to: string) =>
      server.run(
        url,
        `DO $$ DECLARE t text; BEGIN
           FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = '${from}'
           LOOP EXECUTE format('ALTER TABLE ${from}.%I SET SCHEMA ${to}', t); END LOOP; END $$`,
      );
    await moveAll('wallet_sidecar', 'public');
    for (const drop of [false, true]) {
      if (drop) await server.run(url, 'DROP SCHEMA wallet_sidecar');
      const error = await openPostgresStore({ url, secretsKey, onLost }).catch((it) => it);
      expect(error).toBeInstanceOf(StoreUnusable);
      expect(error.message).toMatch(/are in the schema public.*docs\/postgresql\.md/);
    }
    await server.run(url, 'CREATE SCHEMA wallet_sidecar');
    await moveAll('public', 'wallet_sidecar');
    const again = await openPostgresStore({ url, secretsKey, onLost });
    expect(again.identity.id).toBe(id);
    await again.close();
  });
});
