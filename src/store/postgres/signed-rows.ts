import type { SQL } from 'bun';
import type { Sealer } from '../../lib/secrets/seal.ts';
import type { Field, RowSigner } from '../row-signer.ts';
import type { RawRow } from '../rows/rows.ts';
import { SIGNED, type SignedTable } from '../signed-tables.ts';
import { COLUMN_FORMS, fieldsOf, hasMac, placeOf } from './column-forms.ts';

export type { RawRow };

/** Reads and signs rows, whose columns have SQLite's form then (docs/decisions.md 171). */
export interface SignedRows {
  /** Returns the columns of a row. Null for one that is not as it was written, which is told. */
  read<Columns extends object>(
    table: SignedTable<Extract<keyof Columns, string>>,
    row: RawRow,
  ): (Columns & { readonly mac: string }) | null;
  /** {@link read} of many rows. Those that do not fit are left out. */
  readAll<Columns extends object>(
    table: SignedTable<Extract<keyof Columns, string>>,
    rows: readonly RawRow[],
  ): (Columns & { readonly mac: string })[];
  /** Returns the MAC of a row with these columns. */
  mac<Columns extends object>(
    table: SignedTable<Extract<keyof Columns, string>>,
    columns: Columns,
  ): string;
  /** Seals the value of a column, given as its row has it in SQLite; null stays null. */
  seal<Column extends string>(
    table: SignedTable<Column>,
    row: Readonly<Record<Column, Field>>,
    column: Column,
  ): string | null;
}

/** Returns them for the key of a store. */
export function signedRows(sealer: Sealer, signer: RowSigner): SignedRows {
  const read: SignedRows['read'] = (table, raw) => {
    const columns = fieldsOf(table, raw, sealer);
    if (columns === null) {
      signer.tell({ table: table.table, id: idOf(table, raw) });
      return null;
    }
    const row = { ...columns, mac: raw.mac as string | null };
    return signer.fits(table, row) ? (row as never) : null;
  };
  return {
    read,
    readAll: (table, rows) => rows.flatMap((row) => read(table, row) ?? []) as never,
    mac: (table, columns) => signer.mac(table, columns as never) ?? '',
    seal(table, row, column) {
      const value = row[column];
      return value === null ? null : sealer.seal(String(value), placeOf(table.table, column, row));
    },
  };
}

/** Signs every row as it is, of a database that was not signed before. */
export async function signAllRows(tx: SQL, sealer: Sealer, signer: RowSigner): Promise<void> {
  for (const table of Object.values(SIGNED)) {
    if (hasMac(table.table)) await signTable(tx, table, { sealer, signer });
  }
}

/** Rows that are read and signed at once. */
const AT_ONCE = 500;

async function signTable(
  tx: SQL,
  table: SignedTable,
  { sealer, signer }: { readonly sealer: Sealer; readonly signer: RowSigner },
): Promise<void> {
  const name = `wallet_sidecar.${table.table}`;
  const { renamed = {} } = COLUMN_FORMS[table.table] ?? {};
  const rowKey = table.rowKey.map((column) => renamed[column] ?? column);
  const types = rowKey.map((column) => (column === 'seq' ? 'bigint' : 'text'));
  const places = types.map((type, at) => `$${at + 2}::${type}[]`);
  const same = rowKey.map((column) => `signed.${column} = given.${column}`);
  const update = `UPDATE ${name} AS signed SET mac = given.mac
    FROM unnest($1::text[], ${places.join(', ')}) AS given (mac, ${rowKey.join(', ')})
    WHERE ${same.join(' AND ')}`;
  // The cursor sees the table as it was, and not what is written meanwhile.
  await tx.unsafe(`DECLARE unsigned NO SCROLL CURSOR FOR SELECT *${amountsOf(table)} FROM ${name}`);
  for (;;) {
    const rows = await tx.unsafe<RawRow[]>(`FETCH ${AT_ONCE} FROM unsigned`);
    if (rows.length === 0) break;
    const macs = rows.map((raw) => {
      const columns = fieldsOf(table, raw, sealer);
      // What cannot be opened now was changed before, and stays unfit.
      return columns === null ? '' : (signer.mac(table, columns) ?? '');
    });
    const keys = rowKey.map((column, at) =>
      tx.array(
        rows.map((raw) => raw[column]),
        types[at] ?? 'text',
      ),
    );
    await tx.unsafe(update, [tx.array(macs, 'text'), ...keys]);
  }
  await tx.unsafe('CLOSE unsigned');
}

/** Amounts exceed what a double holds, so they are read as text. */
function amountsOf({ columns }: SignedTable): string {
  return columns
    .filter((name) => name.endsWith('_msat'))
    .map((name) => `, ${name}::text AS ${name}`)
    .join('');
}

function idOf({ table, key }: SignedTable, raw: RawRow): string {
  const { renamed = {} } = COLUMN_FORMS[table] ?? {};
  return key.map((name) => String(raw[renamed[name] ?? name])).join(' ');
}
