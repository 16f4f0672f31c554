import { SealBroken, type Sealer } from '../../lib/secrets/seal.ts';
import type { Field } from '../row-signer.ts';
import type { ColumnForms, RawRow, StoredColumns } from '../rows/rows.ts';
import { textJson, textOf } from './values.ts';

/** Columns that have another form in PostgreSQL than in SQLite, by their names in SQLite. */
interface TableForms {
  readonly renamed?: Readonly<Record<string, string>>;
  readonly booleans?: readonly string[];
  /** Text that may hold NUL; its column is named `..._json`. */
  readonly texts?: readonly string[];
  /** Its column is named `sealed_...`. */
  readonly sealed?: readonly string[];
  /** The columns that make the key of a sealed value's row. */
  readonly key?: readonly string[];
}

const COLUMN_FORMS: Readonly<Record<string, TableForms>> = {
  meta: { sealed: ['secret'], key: [], renamed: { only: 'one' } },
  feed_cursor: { texts: ['cursor'] },
  client: { texts: ['label'], sealed: ['token'], key: ['wallet', 'client_pk'] },
  spending: { booleans: ['settled'], renamed: { idx: 'name' } },
  spend: { sealed: ['plan'], key: ['wallet', 'idx'] },
  webhook_endpoint: { texts: ['description'], sealed: ['secret'], key: ['wallet', 'id'] },
  delivery: { texts: ['last_error'] },
  delivery_attempt: { texts: ['error', 'answer'] },
  idempotency: {
    booleans: ['gone', 'any_caller'],
    sealed: ['effect', 'body'],
    key: ['wallet', 'caller', 'key'],
  },
  word_bundle: { sealed: ['makers'], key: ['id'] },
  connector_state: { sealed: ['json'], key: ['wallet', 'kind', 'key'] },
};

/** Whether rows of a table have a MAC. Values of connector state are sealed in their places, which holds as much. */
export const hasMac = (table: string) => table !== 'connector_state';

/** Returns how PostgreSQL stores columns, some of which are sealed. */
export function columnForms(sealer: Sealer): ColumnForms {
  return {
    hasMac,
    nameOf(table, column) {
      const { renamed = {}, texts = [], sealed = [] } = COLUMN_FORMS[table] ?? {};
      if (texts.includes(column)) return `${column}_json`;
      return sealed.includes(column) ? `sealed_${column}` : (renamed[column] ?? column);
    },
    write(table, columns, row, mac = null) {
      const { booleans = [], texts = [], sealed = [] } = COLUMN_FORMS[table] ?? {};
      return columns.map((column) => {
        const value = column === 'mac' ? mac : (row[column] ?? null);
        if (booleans.includes(column)) return Number(value) === 1;
        if (texts.includes(column)) return textJson(value as string | null);
        if (value === null || !sealed.includes(column)) return value;
        return sealer.seal(String(value), placeOf(table, column, row));
      });
    },
    read(table, raw, others) {
      const columns = fieldsOf(table, raw, sealer);
      if (columns === null) return null;
      const row: Record<string, unknown> = columns;
      for (const name of others) row[name] = otherOf(table.table, raw, name);
      row.mac = raw.mac;
      return row;
    },
    other: otherOf,
  };
}

function otherOf(table: string, raw: RawRow, column: string): unknown {
  const { texts = [] } = COLUMN_FORMS[table] ?? {};
  return texts.includes(column) ? textOf(raw[`${column}_json`] as string) : raw[column];
}

/**
 * Returns the signed columns of a row in SQLite's form; null where one cannot be read. Throws {@link SealBroken} for a
 * row without a MAC whose value does not open.
 */
function fieldsOf<Column extends string>(
  { table, key, columns }: StoredColumns<Column>,
  raw: RawRow,
  sealer: Sealer,
): Record<Column, Field> | null {
  const { texts = [], sealed = [], renamed = {} } = COLUMN_FORMS[table] ?? {};
  const fieldOf = (name: string): Field => {
    if (texts.includes(name)) return JSON.parse(raw[`${name}_json`] as string) as string | null;
    if (sealed.includes(name)) {
      const value = raw[`sealed_${name}`];
      return value === null ? null : sealer.open(value as string, placeOf(table, name, raw));
    }
    const value = raw[renamed[name] ?? name];
    if (typeof value === 'bigint' || typeof value === 'boolean') return Number(value);
    return value as Field;
  };
  try {
    const entries = [...key, ...columns].map((name) => [name, fieldOf(name)] as const);
    return Object.fromEntries(entries) as Record<Column, Field>;
  } catch (error) {
    const isUnreadable = error instanceof SealBroken || error instanceof SyntaxError;
    if (isUnreadable && hasMac(table)) return null;
    throw error;
  }
}

function placeOf(table: string, column: string, row: RawRow) {
  const { key = [] } = COLUMN_FORMS[table] ?? {};
  return { table, column: `sealed_${column}`, row: key.map((name) => String(row[name])) };
}
