import { hex } from '@scure/base';
import type { Sealer } from '../../lib/seal.ts';
import { textJson } from './values.ts';

/** A row as SQLite holds it. */
export type SourceRow = Readonly<Record<string, string | bigint | Uint8Array | null>>;

type Value = string | bigint | boolean | null;

/** How a row of a table of SQLite becomes one of PostgreSQL. */
export interface CopiedTable {
  /** The table, which has the same name in both. */
  readonly table: string;
  /** The column that PostgreSQL numbers by itself; null where there is none. */
  readonly numbered: string | null;
  convert(row: SourceRow, sealer: Sealer): Readonly<Record<string, Value>>;
}

/** Columns that have another form in PostgreSQL, by their names in SQLite. */
interface Forms {
  readonly numbered?: string;
  readonly renamed?: Readonly<Record<string, string>>;
  readonly booleans?: readonly string[];
  /** Text that may hold NUL; its column is named `..._json`. */
  readonly texts?: readonly string[];
  /** Its column is named `sealed_...`. */
  readonly sealed?: readonly string[];
  /** The columns that make the key of a sealed value's row. */
  readonly key?: readonly string[];
}

/** Every table of SQLite's schema. */
export const COPIED_TABLES: readonly CopiedTable[] = [
  copied('meta', { sealed: ['secret'], key: [], renamed: { only: 'one' } }),
  copied('advance'),
  copied('cache'),
  copied('cache_cursor'),
  copied('feed_cursor', { texts: ['cursor'] }),
  copied('journal'),
  copied('journal_tip'),
  copied('given_way'),
  copied('watch'),
  copied('client', {
    numbered: 'seq',
    texts: ['label'],
    sealed: ['token'],
    key: ['wallet', 'client_pk'],
  }),
  copied('budget'),
  copied('spent'),
  copied('spending', { numbered: 'seq', booleans: ['settled'], renamed: { idx: 'name' } }),
  copied('spend', { sealed: ['plan'], key: ['wallet', 'idx'] }),
  copied('fetched_invoice'),
  copied('name'),
  copied('name_invoice'),
  copied('webhook_endpoint', {
    texts: ['description'],
    sealed: ['secret'],
    key: ['wallet', 'id'],
  }),
  copied('delivery', { numbered: 'seq', texts: ['last_error'] }),
  copied('delivery_attempt', { numbered: 'number', texts: ['error', 'answer'] }),
  copied('idempotency', {
    booleans: ['gone', 'any_caller'],
    sealed: ['effect', 'body'],
    key: ['wallet', 'caller', 'key'],
  }),
  copied('connector_state', { sealed: ['json'], key: ['wallet', 'kind', 'key'] }),
];

function copied(table: string, forms: Forms = {}): CopiedTable {
  const { numbered = null, renamed = {}, booleans = [], texts = [], sealed = [], key = [] } = forms;
  return {
    table,
    numbered,
    convert(row, sealer) {
      const keyOf = () => key.map((column) => String(row[column]));
      const entries = Object.entries(row).map(([column, value]): [string, Value] => {
        if (booleans.includes(column)) return [column, value === 1n];
        if (texts.includes(column)) return [`${column}_json`, textJson(value as string | null)];
        if (sealed.includes(column)) {
          const place = { table, column: `sealed_${column}`, row: keyOf() };
          return [place.column, value === null ? null : sealer.seal(asText(value), place)];
        }
        return [renamed[column] ?? column, value instanceof Uint8Array ? asText(value) : value];
      });
      return Object.fromEntries(entries);
    },
  };
}

function asText(value: string | bigint | Uint8Array): string {
  return value instanceof Uint8Array ? hex.encode(value) : String(value);
}
