import type { Field } from '../row-signer.ts';
import type { SignedTable } from '../signed-tables.ts';
import type { Query, RawRow, Rows } from './rows.ts';
import type { Steps } from './steps.ts';

/** A row as it is stored, with its MAC. */
export type Stored<Columns> = Columns & { readonly mac: string | null };

/** What a statement selects. A row that is not as this store wrote it is not there, and is told. */
export interface Selected<T> {
  one(...values: readonly Field[]): Steps<T | null>;
  all(...values: readonly Field[]): Steps<T[]>;
  /** The rows as they are, of which {@link read} returns null for one that does not fit. */
  readonly raw: Query<RawRow>;
  read(raw: RawRow): T | null;
}

/** Statements over a table whose rows are signed (docs/decisions.md 171). */
export interface Table<Columns> {
  /**
   * Prepares the selection of the signed columns and of `others`; `of` decodes them, and returns null for a row that is
   * left out. What follows the name of the table is given.
   */
  select<T = Stored<Columns>, Others extends object = object>(
    rest: string,
    options?: {
      readonly others?: readonly string[];
      readonly of?: (row: Stored<Columns> & Others) => T | null;
      readonly isPrepared?: boolean;
    },
  ): Selected<T>;
  insert(): (row: Columns) => Steps<number>;
  /** Writes a row in the place of the one with its key, or with `key`, if `where` holds of that. */
  upsert(options?: {
    readonly key?: readonly string[];
    readonly where?: string;
  }): (row: Columns) => Steps<number>;
  /** Writes these columns of the row with its key. */
  update(columns: readonly (keyof Columns)[]): (row: Columns) => Steps<number>;
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
  const reader = (others: readonly string[]) => (found: RawRow) => {
    const row = forms.read(table, found, others);
    if (row === null) {
      signer.tell({ table: name, id: key.map((it) => String(found[column(it)])).join(' ') });
      return null;
    }
    return macs.length === 0 || signer.fits(table, row as never) ? (row as never) : null;
  };
  const writer = (sql: string, names: readonly string[]) => {
    const statement = prepare(sql);
    return (row: Columns) =>
      statement.run(...forms.write(name, names, row as Readonly<Record<string, Field>>, mac(row)));
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
    select<T>(
      rest: string,
      {
        others = [] as readonly string[],
        of = undefined as ((row: never) => T | null) | undefined,
        isPrepared = true,
      } = {},
    ) {
      // Amounts exceed what a double holds, so they are read as text.
      const own = [...key, ...columns, ...macs].map((it) =>
        it.endsWith('_msat') ? `CAST(${it} AS TEXT) AS ${it}` : column(it),
      );
      const more = others.map((it) => (/^\w+$/.test(it) ? column(it) : it));
      const sql = `SELECT ${[...own, ...more].join(', ')} FROM ${place} ${rest}`;
      const readRow = reader(others.map((it) => it.replace(/^.* AS /s, '')));
      const read = (found: RawRow): T | null => {
        const row = readRow(found);
        return row && of ? of(row) : row;
      };
      const raw = isPrepared ? prepare(sql) : query(sql);
      return { one: raw.read(read).one, all: raw.read(read).all, raw, read };
    },
    insert: () => insert(''),
    upsert({ key: unique = key, where = '' } = {}) {
      const set = [...columns, ...macs].map((it) => `${column(it)} = excluded.${column(it)}`);
      return insert(
        `ON CONFLICT (${unique.map(column).join(', ')}) DO UPDATE SET ${set.join(', ')} ${where}`,
      );
    },
    update(some) {
      const set = [...(some as readonly string[]), ...macs];
      const sql = `UPDATE ${place} SET ${equal(set).join(', ')} WHERE ${equal(key).join(' AND ')}`;
      return writer(sql, [...set, ...key]);
    },
    remove: () => prepare(`DELETE FROM ${place} WHERE ${equal(key).join(' AND ')}`).run,
    column,
    mac,
    read: reader([]),
  };
}
