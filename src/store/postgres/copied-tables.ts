import { hex } from '@scure/base';
import type { Sealer } from '../../lib/secrets/seal.ts';
import type { Value } from '../rows/steps.ts';
import { columnForms } from './column-forms.ts';

/** A row as SQLite holds it. */
export type SourceRow = Readonly<Record<string, string | bigint | Uint8Array | null>>;

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
  copied('cache', { omitted: ['external_id', 'completed_at'] }),
  copied('word_bundle'),
  copied('word_loose'),
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
  return {
    table,
    numbered: numbered ?? null,
    convert(row, sealer) {
      const { nameOf, write } = columnForms(sealer);
      const columns = Object.keys(row).filter((column) => !omitted.includes(column));
      const values = write(table, columns, withoutBytes(row));
      return Object.fromEntries(
        columns.map((column, at) => [nameOf(table, column), values[at] ?? null]),
      );
    },
  };
}

function withoutBytes(row: SourceRow): Readonly<Record<string, Value>> {
  const entries = Object.entries(row).map(([column, value]) => [
    column,
    value instanceof Uint8Array ? hex.encode(value) : value,
  ]);
  return Object.fromEntries(entries);
}
