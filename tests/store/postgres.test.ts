import { afterAll, beforeAll, describe, setDefaultTimeout } from 'bun:test';
import { SQL } from 'bun';
import { sealer } from '../../src/lib/secrets/seal.ts';
import { openPostgresStore } from '../../src/store/postgres/index.ts';
import { perform, postgresRows } from '../../src/store/postgres/rows.ts';
import { rowSigner } from '../../src/store/row-signer.ts';
import { storeContract } from '../contracts/store.ts';
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
  afterAll(() => server.stop());

  /** Databases whose store is closed. */
  const unused = new Set<string>();
  const databaseOf = async () => {
    const [url] = unused;
    if (url === undefined) return server.createDatabase();
    unused.delete(url);
    await server.empty(url);
    return url;
  };
  storeContract(
    'in PostgreSQL',
    async () => {
      const url = await databaseOf();
      const open = async () => {
        const store = await openPostgresStore({ url, secretsKey, onLost });
        const close = async () => {
          await store.close();
          unused.add(url);
        };
        return { ...store, close };
      };
      const forgetCallers = async () => {
        const sql = new SQL(url, { max: 1, bigint: true });
        await forgetCallersOf(sql);
        await sql.close();
      };
      const damage = async (index: string, text: string) => {
        const sql = new SQL(url, { max: 1, bigint: true });
        const [meta] = await sql<{ id: string }[]>`SELECT id FROM wallet_sidecar.meta`;
        const signer = rowSigner(secretsKey, meta?.id ?? '', () => undefined);
        await perform(sql, damageSpend(postgresRows(sealer(secretsKey), signer), index, text));
        await sql.close();
      };
      return { store: await open(), reopen: open, forgetCallers, damageSpend: damage };
    },
    0.3,
  );
});
