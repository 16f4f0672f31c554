import type { SQL } from 'bun';
import { sealer } from '../../src/lib/secrets/seal.ts';
import type { KeyRow } from '../../src/store/columns/idempotency.ts';
import { perform, postgresRows } from '../../src/store/postgres/rows.ts';
import { rowSigner } from '../../src/store/row-signer.ts';
import { tableOf } from '../../src/store/rows/table.ts';
import { SIGNED } from '../../src/store/signed-tables.ts';

const secretsKey = new Uint8Array(32).fill(7);

/** Makes every Idempotency-Key of the owner one of any caller, in a database with the tests' key. */
export async function forgetCallersOf(sql: SQL): Promise<void> {
  const [meta] = await sql<{ id: string }[]>`SELECT id FROM wallet_sidecar.meta`;
  const signer = rowSigner(secretsKey, meta?.id ?? '', () => undefined);
  const keys = tableOf<KeyRow>(postgresRows(sealer(secretsKey), signer), SIGNED.idempotency);
  const update = keys.update(['any_caller']);
  for (const row of await perform(sql, keys.select("WHERE caller = 'owner'").all())) {
    await perform(sql, update({ ...row, any_caller: 1 }));
  }
}
