/** Columns that have another form in PostgreSQL than in SQLite, by their names in SQLite. */
export interface ColumnForms {
  readonly renamed?: Readonly<Record<string, string>>;
  readonly booleans?: readonly string[];
  /** Text that may hold NUL; its column is named `..._json`. */
  readonly texts?: readonly string[];
  /** Its column is named `sealed_...`. */
  readonly sealed?: readonly string[];
  /** The columns that make the key of a sealed value's row. */
  readonly key?: readonly string[];
}

/** The forms of each table that has any. */
export const COLUMN_FORMS: Readonly<Record<string, ColumnForms>> = {
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
  connector_state: { sealed: ['json'], key: ['wallet', 'kind', 'key'] },
};
