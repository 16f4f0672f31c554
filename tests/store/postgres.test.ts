import { afterAll, beforeAll, describe, setDefaultTimeout } from 'bun:test';
import { SQL } from 'bun';
import { sealer } from '../../src/lib/secrets/seal.ts';
import type { Store } from '../../src/store/ports.ts';
import { openPostgresStore } from '../../src/store/postgres/index.ts';
import { perform, postgresRows } from '../../src/store/postgres/rows.ts';
import { rowSigner } from '../../src/store/row-signer.ts';
import { type OpenedStore, storeContract } from '../contracts/store.ts';
import { damageSpend } from '../support/damage-spend.ts';
import { forgetCallersOf } from '../support/forget-callers.ts';
import { postgresPrograms, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { SLOW_TEST_MS } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

const programs = postgresPrograms();
const secretsKey = new Uint8Array(32).fill(7);
const onLost = (message: string) => {
  throw new Error(message);
};

describe.skipIf(programs === null)('over PostgreSQL', () => {
  let server: TestPostgres;
  beforeAll(async () => {
    server = await startPostgres(programs ?? '');
  });

  const openAt = (url: string) => openPostgresStore({ url, secretsKey, onLost });
  /** A store in a database of its own, and what is done there from outside. */
  function openedAt(url: string, store: Store): OpenedStore {
    const sql = async (work: (sql: SQL) => Promise<unknown>) => {
      const connected = new SQL(url, { max: 1, bigint: true });
      await work(connected);
      await connected.close();
    };
    return {
      store,
      reopen: () => openAt(url),
      forgetCallers: () => sql(forgetCallersOf),
      damageSpend: (index, text) =>
        sql(async (db) => {
          const [meta] = await db<{ id: string }[]>`SELECT id FROM wallet_sidecar.meta`;
          const signer = rowSigner(secretsKey, meta?.id ?? '', () => undefined);
          await perform(db, damageSpend(postgresRows(sealer(secretsKey), signer), index, text));
        }),
    };
  }

  /** Stores that are open and that no test uses: each costs many connections to open. */
  const unused: { readonly url: string; readonly store: Store }[] = [];
  /** Databases whose store is closed. */
  const closed: string[] = [];
  const emptyDatabase = async () => {
    const url = closed.pop();
    if (url !== undefined) await server.empty(url);
    return url ?? server.createDatabase();
  };
  afterAll(async () => {
    for (const { store } of unused) await store.close();
    await server.stop();
  });
  storeContract(
    'in PostgreSQL',
    async () => {
      const url = await emptyDatabase();
      const store = await openAt(url);
      const close = async () => {
        await store.close();
        closed.push(url);
      };
      return openedAt(url, { ...store, close });
    },
    {
      runsShare: 0.3,
      async emptied() {
        const found = unused.pop();
        const url = found?.url ?? (await emptyDatabase());
        if (found) await server.empty(url, true);
        const store = found?.store ?? (await openAt(url));
        return openedAt(url, { ...store, close: async () => void unused.push({ url, store }) });
      },
    },
  );
});
