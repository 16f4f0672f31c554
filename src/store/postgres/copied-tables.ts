import { hex } from '@scure/base';
import type { Sealer } from '../../lib/secrets/seal.ts';
import { COLUMN_FORMS } from './column-forms.ts';
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

/** Every table of SQLite's schema. */
export const COPIED_TABLES: readonly CopiedTable[] = [
  copied('meta', { omitted: ['signed_with'] }),
  copied('advance'),
  copied('cache'),
  copied('cache_cursor'),
  copied('feed_cursor'),
  copied('journal'),
  copied('journal_tip'),
  copied('given_way'),
  copied('watch'),
  copied('client', { numbered: 'seq' }),
  copied('budget'),
  copied('spending', { numbered: 'seq' }),
  copied('spend'),
  copied('fetched_invoice'),
  copied('name'),
  copied('name_invoice'),
  copied('webhook_endpoint'),
  copied('delivery', { numbered: 'seq' }),
  copied('delivery_attempt', { numbered: 'number' }),
  copied('idempotency'),
  // Its values are sealed in their places, which holds as much as a MAC.
  copied('connector_state', { omitted: ['mac'] }),
];

interface CopyOptions {
  readonly numbered?: string;
  /** Columns that PostgreSQL does not have. */
  readonly omitted?: readonly string[];
}

function copied(table: string, { numbered, omitted = [] }: CopyOptions = {}): CopiedTable {
  const forms = COLUMN_FORMS[table] ?? {};
  const { renamed = {}, booleans = [], texts = [], sealed = [], key = [] } = forms;
  return {
    table,
    numbered: numbered ?? null,
    convert(row, sealer) {
      const keyOf = () => key.map((column) => String(row[column]));
      const entries = Object.entries(row)
        .filter(([column]) => !omitted.includes(column))
        .map(([column, value]): [string, Value] => {
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
