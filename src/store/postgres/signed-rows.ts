import type { SQL } from 'bun';
import type { Sealer } from '../../lib/secrets/seal.ts';
import type { RowSigner } from '../row-signer.ts';
import type { RawRow } from '../rows/rows.ts';
import { SIGNED, type SignedTable } from '../signed-tables.ts';
import { columnForms, hasMac } from './column-forms.ts';

/** Signs every row as it is, of a database that was not signed before. */
export async function signAllRows(tx: SQL, sealer: Sealer, signer: RowSigner): Promise<void> {
  for (const table of Object.values(SIGNED)) {
    if (hasMac(table.table)) await signTable(tx, table, { sealer, signer });
  }
}

const AT_ONCE = 500;

async function signTable(
  tx: SQL,
  table: SignedTable,
  { sealer, signer }: { readonly sealer: Sealer; readonly signer: RowSigner },
): Promise<void> {
  const name = `wallet_sidecar.${table.table}`;
  const forms = columnForms(sealer);
  const rowKey = table.rowKey.map((column) => forms.nameOf(table.table, column));
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
      const columns = forms.read(table, raw, []);
      // What cannot be opened now was changed before, and stays unfit.
      return columns === null ? '' : (signer.mac(table, columns as never) ?? '');
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
