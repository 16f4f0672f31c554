import type { Database, SQLQueryBindings } from 'bun:sqlite';
import { keyIdOfKey } from '../../lib/secrets/seal.ts';
import { type Field, type RowSigner, rowSigner, type UnfitRow, unsigned } from '../row-signer.ts';
import { SIGNED, type SignedTable } from '../signed-tables.ts';
import { SIGNED_BEFORE, StoreUnusable } from '../unusable.ts';

/** How the rows of a store are signed (docs/decisions.md 171). */
export interface SigningOptions {
  /** 32 bytes; null for a store whose rows are not signed. */
  readonly secretsKey: Uint8Array | null;
  /** Whether the marker, outside the database, says that its rows are signed. */
  readonly isMarkedSigned?: boolean;
  /** Called for each row that is not as it was written, or cannot even be read. */
  readonly onUnfit?: ((row: UnfitRow) => void) | undefined;
}

interface Meta {
  readonly id: string;
  /** The id of the key with which rows are signed; null while they are not. */
  readonly signed_with: string | null;
}

/**
 * Returns what the store says of its signing. Throws {@link StoreUnusable} for one that is signed with another key or
 * is opened without one, and for one that its marker says is signed and that is not.
 */
export function requireFittingKey(
  db: Database,
  { secretsKey, isMarkedSigned = false }: SigningOptions,
): Meta {
  const meta = db.query('SELECT id, signed_with FROM meta').get() as Meta;
  const { signed_with: signedWith } = meta;
  if (signedWith === null) {
    if (isMarkedSigned && hasRows(db)) throw new StoreUnusable(SIGNED_BEFORE);
    return meta;
  }
  if (secretsKey === null) {
    throw new StoreUnusable(
      `The rows of the database are signed with the secrets key ${signedWith}: start with that key (--secrets-key-path).`,
    );
  }
  const keyId = keyIdOfKey(secretsKey);
  if (signedWith === keyId) return meta;
  throw new StoreUnusable(
    `The rows of the database are signed with the secrets key ${signedWith}, and --secrets-key is the key ${keyId}: start with the key that was used before.`,
  );
}

/** Returns the signer; a key given the first time signs every row. Throws as {@link requireFittingKey}. */
export function sqliteSigner(db: Database, options: SigningOptions): RowSigner {
  const { secretsKey, onUnfit = () => undefined } = options;
  const { id, signed_with: signedWith } = requireFittingKey(db, options);
  if (secretsKey === null) return unsigned(onUnfit);
  const signer = rowSigner(secretsKey, id, onUnfit);
  if (signedWith === null) {
    db.transaction(() => {
      // A writer of the database may have added rows since it was found empty.
      requireFittingKey(db, options);
      for (const table of Object.values(SIGNED)) signAll(db, table, signer);
      db.query('UPDATE meta SET signed_with = ?').run(keyIdOfKey(secretsKey));
    }).immediate();
  }
  return signer;
}

/** Whether there is any row that would be signed. An empty store took the place of one that was lost. */
function hasRows(db: Database): boolean {
  return Object.values(SIGNED).some(
    ({ table }) => db.query(`SELECT 1 FROM ${table}`).get() !== null,
  );
}

function signAll(db: Database, table: SignedTable, signer: RowSigner): void {
  const { rowKey, key, columns } = table;
  const read = [...key, ...columns].map((name) =>
    // Amounts exceed what a double holds.
    name.endsWith('_msat') ? `CAST(${name} AS TEXT) AS ${name}` : name,
  );
  const others = rowKey.filter((name) => !key.includes(name));
  const rows = db.prepare<Readonly<Record<string, Field>>, SQLQueryBindings[]>(
    `SELECT ${[...read, ...others].join(', ')} FROM ${table.table}`,
  );
  const write = db.prepare(
    `UPDATE ${table.table} SET mac = ? WHERE ${rowKey.map((name) => `${name} = ?`).join(' AND ')}`,
  );
  for (const row of rows.iterate()) {
    write.run(signer.mac(table, row), ...rowKey.map((name) => row[name] ?? null));
  }
}
