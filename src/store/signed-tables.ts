/** A table whose rows carry a MAC, in the column `mac`, over the columns of its key and these. */
export interface SignedTable<Column extends string = string> {
  readonly table: string;
  readonly key: readonly Column[];
  readonly columns: readonly Column[];
  /** Columns that later steps of the schema have added: a row where one is null is signed as it was without it. */
  readonly later: readonly Column[];
  /** What names one row, where its key may have several. */
  readonly rowKey: readonly string[];
  /** A column whose values below this are signed as this: which of them a row has means nothing. */
  readonly lowest: { readonly column: Column; readonly value: number } | null;
}

/** The `updated_at` that rows of the journal are signed with which readers are not shown (docs/decisions.md 168). */
export const HIDDEN = -1;

function signed<Column extends string>(
  table: string,
  key: readonly Column[],
  columns: readonly Column[],
  {
    rowKey = key,
    lowest = null,
    later = [],
  }: Partial<Pick<SignedTable<NoInfer<Column>>, 'rowKey' | 'lowest' | 'later'>> = {},
): SignedTable<Column> {
  return { table, key, columns, later, rowKey, lowest };
}

/**
 * The tables whose rows authorize, are paid, speak or are shown (docs/decisions.md 171), with the names of SQLite's
 * columns. Both engines sign the same values, so a row keeps its MAC when it is copied from one to the other.
 */
export const SIGNED = {
  client: signed(
    'client',
    ['wallet', 'client_pk'],
    [
      'node_kind',
      'parent_pk',
      'secret_hash',
      'created_at',
      'expires_at',
      'label',
      'scopes',
      'permissions',
      'revoked_at',
      'budget_state',
      'token',
      'ended_token_ids',
      'approve_above_msat',
      'origins',
      'own',
    ],
    { later: ['approve_above_msat', 'origins', 'own'] },
  ),
  budget: signed(
    'budget',
    ['wallet', 'client_pk'],
    ['amount_msat', 'period', 'max_payment_msat', 'spent'],
  ),
  spending: signed('spending', ['wallet', 'idx'], ['client_pk', 'at', 'amount_msat', 'settled'], {
    rowKey: ['seq'],
  }),
  spend: signed(
    'spend',
    ['wallet', 'idx'],
    [
      'state',
      'json',
      'after_attempt',
      'attempt',
      'plan',
      'caller',
      'idempotency_key',
      'approve_until',
    ],
    { later: ['approve_until'] },
  ),
  fetchedInvoice: signed('fetched_invoice', ['wallet', 'idx'], ['invoice']),
  journal: signed(
    'journal',
    ['wallet', 'idx'],
    ['updated_at', 'status', 'json', 'attempt', 'after_attempt'],
    // Rows that readers are not shown have different numbers below 0.
    { lowest: { column: 'updated_at', value: HIDDEN } },
  ),
  givenWay: signed('given_way', ['wallet', 'idx'], ['to_idx']),
  cache: signed('cache', ['wallet', 'idx'], ['status', 'direction', 'rail', 'json']),
  name: signed('name', ['wallet'], ['node_kind', 'username', 'offer', 'window_at']),
  webhookEndpoint: signed(
    'webhook_endpoint',
    ['id'],
    ['wallet', 'url', 'events', 'description', 'secret', 'created_at', 'expires_at'],
  ),
  delivery: signed(
    'delivery',
    ['id', 'endpoint'],
    ['event', 'wallet', 'idx', 'body', 'created_at'],
  ),
  idempotency: signed(
    'idempotency',
    ['wallet', 'caller', 'key'],
    [
      'fingerprint',
      'idx',
      'effect',
      'subject',
      'http_status',
      'body',
      'gone',
      'created_at',
      'any_caller',
    ],
  ),
  connectorState: signed('connector_state', ['wallet', 'kind', 'key'], ['json']),
} as const;
