import type { Field } from '../row-signer.ts';
import type { SignedTable } from '../signed-tables.ts';
import type { Query, RawRow, Rows } from './rows.ts';
import type { Steps } from './steps.ts';

/** A row as it is stored, with its MAC. */
export type Stored<Columns> = Columns & { readonly mac: string | null };

/** Rows that a statement selects. A row that is not as this store wrote it is not there, and is told. */
export interface Selected<Row> {
  one(...values: readonly Field[]): Steps<Row | null>;
  all(...values: readonly Field[]): Steps<Row[]>;
  /** The rows as they are, for which {@link read} says whether they fit. */
  readonly raw: Query<RawRow>;
  read(raw: RawRow): Row | null;
}

/** Statements over a table whose rows are signed (docs/decisions.md 171). */
export interface Table<Columns> {
  /** Selects the signed columns, and others. What follows the name of the table is given. */
  select<Others extends object = object>(
    rest: string,
    options?: { readonly others?: readonly string[]; readonly isPrepared?: boolean },
  ): Selected<Stored<Columns> & Others>;
  insert(): (row: Columns) => Steps<number>;
  /** Writes a row in the place of the one with its key, or with `key`, if `where` holds of that. */
  upsert(options?: {
    readonly key?: readonly string[];
    readonly where?: string;
  }): (row: Columns) => Steps<number>;
  /** Writes these columns, or all, of the row with its key. */
  update(columns?: readonly (keyof Columns)[]): (row: Columns) => Steps<number>;
  /** Prepares the deletion of the row with a key. */
  remove(): (...key: readonly Field[]) => Steps<number>;
  /** The name of a column, signed or not. */
  column(name: string): string;
  mac(row: Columns): string | null;
  /** Returns the signed columns of a row; null where it does not fit. */
  read(raw: RawRow): Stored<Columns> | null;
}

/** Returns the statements over a table. */
export function tableOf<Columns extends object>(
  { prepare, query, forms, signer }: Rows,
  table: SignedTable<Extract<keyof Columns, string>>,
): Table<Columns> {
  type Names = Extract<keyof Columns, string>;
  const { table: name, key, columns } = table;
  const place = `wallet_sidecar.${name}`;
  const macs = forms.hasMac(name) ? ['mac'] : [];
  const column = (it: string) => forms.nameOf(name, it);
  const equal = (names: readonly string[]) => names.map((it) => `${column(it)} = ?`);
  const mac = (row: Columns) => signer.mac(table, row as Readonly<Record<Names, Field>>);
  const reader = (found: RawRow, others: readonly string[]) => {
    const row = forms.read(table, found, others);
    if (row === null) {
      signer.tell({ table: name, id: key.map((it) => String(found[column(it)])).join(' ') });
      return null;
    }
    return macs.length === 0 || signer.fits(table, row as never) ? (row as never) : null;
  };
  const writer = (sql: string, names: readonly string[]) => {
    const statement = prepare(sql);
    return (row: Columns) => {
      const values = { ...(row as Record<string, Field>), mac: mac(row) };
      return statement.run(...names.map((it) => forms.write(name, values, it)));
    };
  };
  const insert = (onConflict: string) => {
    const names = [...key, ...columns, ...macs];
    const places = names.map(() => '?').join(', ');
    return writer(
      `INSERT INTO ${place} (${names.map(column).join(', ')}) VALUES (${places}) ${onConflict}`,
      names,
    );
  };
  return {
    select(rest, { others = [], isPrepared = true } = {}) {
      // Amounts exceed what a double holds, so they are read as text.
      const read = [...key, ...columns, ...macs].map((it) =>
        it.endsWith('_msat') ? `CAST(${it} AS TEXT) AS ${it}` : column(it),
      );
      const more = others.map((it) => (/^\w+$/.test(it) ? column(it) : it));
      const names = others.map((it) => it.replace(/^.* AS /s, ''));
      const sql = `SELECT ${[...read, ...more].join(', ')} FROM ${place} ${rest}`;
      const raw = isPrepared ? prepare(sql) : query(sql);
      const readRow = (found: RawRow) => reader(found, names);
      return {
        raw,
        read: readRow,
        *one(...values) {
          const found = yield* raw.one(...values);
          return found && readRow(found);
        },
        *all(...values) {
          const found = yield* raw.all(...values);
          return found.flatMap((it) => readRow(it) ?? []);
        },
      };
    },
    insert: () => insert(''),
    upsert({ key: unique = key, where = '' } = {}) {
      const set = [...columns, ...macs].map((it) => `${column(it)} = excluded.${column(it)}`);
      return insert(
        `ON CONFLICT (${unique.map(column).join(', ')}) DO UPDATE SET ${set.join(', ')} ${where}`,
      );
    },
    update(some = columns) {
      const set = [...(some as readonly string[]), ...macs];
      const sql = `UPDATE ${place} SET ${equal(set).join(', ')} WHERE ${equal(key).join(' AND ')}`;
      return writer(sql, [...set, ...key]);
    },
    remove() {
      const statement = prepare(`DELETE FROM ${place} WHERE ${equal(key).join(' AND ')}`);
      return (...values) => statement.run(...values);
    },
    column,
    mac,
    read: (raw) => reader(raw, []),
  };
}
