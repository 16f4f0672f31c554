import type { SQL } from 'bun';
import { type Sealer, sealer } from '../../lib/secrets/seal.ts';
import { rowSigner } from '../row-signer.ts';
import { StoreUnusable } from '../unusable.ts';
import { COPIED_TABLES, type CopiedTable, type SourceRow } from './copied-tables.ts';
import { withOwnedDatabase } from './open.ts';
import { withSettings } from './settings.ts';
import { signAllRows } from './signed-rows.ts';

/** Rows that are sent before an answer is waited for. */
const AT_ONCE = 200;

interface CopySource {
  rows(table: string): Iterable<SourceRow>;
  /** Whether its rows are signed with the same key. */
  readonly isSigned: boolean;
}

/**
 * Copies a store from SQLite into an empty database, in one transaction: all of it or nothing. The copy keeps the
 * store's identity and counter, so that its marker fits. Returns how many rows were copied; 0 when the database holds
 * the same store already, as after a copy whose end was cut off. Throws StoreUnusable when it holds another, or as
 * opening it does.
 */
export function copyIntoPostgres(
  source: CopySource,
  { url, secretsKey }: { readonly url: string; readonly secretsKey: Uint8Array },
): Promise<number> {
  const onLost = () => undefined;
  return withOwnedDatabase({ url, onLost }, async ({ connections, fence }) =>
    withSettings(connections.sql, async (tx) => {
      const [owner] =
        await tx`SELECT 1 FROM wallet_sidecar.ownership WHERE fence = ${fence} FOR SHARE`;
      if (owner === undefined) throw new StoreUnusable('Another sidecar has taken the database.');
      if (await holdsSame(tx, source)) return 0;
      let copied = 0;
      for (const table of COPIED_TABLES) {
        copied += await copyTable(tx, table, source.rows(table.table), sealer(secretsKey));
      }
      if (!source.isSigned) await signCopy(tx, secretsKey);
      return copied;
    }),
  );
}

async function signCopy(tx: SQL, secretsKey: Uint8Array): Promise<void> {
  const [meta] = await tx<{ id: string }[]>`SELECT id FROM wallet_sidecar.meta`;
  const signer = rowSigner(secretsKey, meta?.id ?? '', () => undefined);
  await signAllRows(tx, sealer(secretsKey), signer);
}

/** Returns whether the database holds the store of the source already. Throws StoreUnusable when it holds another. */
async function holdsSame(tx: SQL, source: CopySource): Promise<boolean> {
  const [there] = await tx<
    { id: string; count: bigint }[]
  >`SELECT id, count FROM wallet_sidecar.meta`;
  if (there === undefined) return false;
  const [own] = [...source.rows('meta')];
  if (own?.id === there.id && own.count === there.count) return true;
  throw new StoreUnusable(
    'The database holds a store already, which a copy would replace: name an empty database.',
  );
}

async function copyTable(
  tx: SQL,
  { table, numbered, convert }: CopiedTable,
  rows: Iterable<SourceRow>,
  secrets: Sealer,
): Promise<number> {
  let copied = 0;
  let sent: Promise<unknown>[] = [];
  for (const row of rows) {
    const values = convert(row, secrets);
    const columns = Object.keys(values);
    const places = columns.map((_, at) => `$${at + 1}`);
    const system = numbered === null ? '' : 'OVERRIDING SYSTEM VALUE';
    const text = `INSERT INTO wallet_sidecar.${table} (${columns.join(', ')}) ${system} VALUES (${places.join(', ')})`;
    sent.push(tx.unsafe(text, Object.values(values)));
    copied += 1;
    if (sent.length < AT_ONCE) continue;
    await Promise.all(sent);
    sent = [];
  }
  await Promise.all(sent);
  if (numbered !== null && copied > 0) {
    await tx.unsafe(
      `SELECT setval(pg_get_serial_sequence('wallet_sidecar.${table}', '${numbered}'), max(${numbered})) FROM wallet_sidecar.${table}`,
    );
  }
  return copied;
}
