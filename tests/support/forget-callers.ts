import type { SQL } from 'bun';
import { sealer } from '../../src/lib/secrets/seal.ts';
import type { KeyRow } from '../../src/store/columns/idempotency.ts';
import { type RawRow, signedRows } from '../../src/store/postgres/signed-rows.ts';
import { rowSigner } from '../../src/store/row-signer.ts';
import { SIGNED } from '../../src/store/signed-tables.ts';

const secretsKey = new Uint8Array(32).fill(7);

/** Makes every Idempotency-Key of the owner one of any caller, in a database with the tests' key. */
export async function forgetCallersOf(sql: SQL): Promise<void> {
  const [meta] = await sql<{ id: string }[]>`SELECT id FROM wallet_sidecar.meta`;
  const signer = rowSigner(secretsKey, meta?.id ?? '', () => undefined);
  const signed = signedRows(sealer(secretsKey), signer);
  const rows = await sql<RawRow[]>`
    SELECT * FROM wallet_sidecar.idempotency WHERE caller = 'owner'`;
  for (const row of signed.readAll<KeyRow>(SIGNED.idempotency, rows)) {
    const mac = signed.mac<KeyRow>(SIGNED.idempotency, { ...row, any_caller: 1 });
    await sql`UPDATE wallet_sidecar.idempotency SET any_caller = TRUE, mac = ${mac}
      WHERE wallet = ${row.wallet} AND caller = ${row.caller} AND key = ${row.key}`;
  }
}
