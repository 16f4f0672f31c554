/**
 * The tables of a new database: what the steps of `migrations` lead to, made at once. `wallet` is the hex user_pk,
 * `idx` a payment index, `mac` the signature of the row; amounts are millisatoshis, times are milliseconds.
 */
export const SCHEMA = `
CREATE TABLE cache_cursor (
  wallet TEXT PRIMARY KEY,
  updated_idx TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE feed_cursor (
  wallet TEXT PRIMARY KEY,
  cursor TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE watch (
  wallet TEXT NOT NULL,
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  PRIMARY KEY (wallet, kind, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE budget (
  wallet TEXT NOT NULL,
  client_pk TEXT NOT NULL,
  amount_msat INTEGER NOT NULL,
  period TEXT NOT NULL,
  max_payment_msat INTEGER,
  spent TEXT NOT NULL DEFAULT '[]',
  mac TEXT,
  PRIMARY KEY (wallet, client_pk)
) STRICT, WITHOUT ROWID;

CREATE TABLE journal_tip (
  wallet TEXT PRIMARY KEY,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE meta (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  id TEXT NOT NULL,
  secret BLOB NOT NULL,
  count INTEGER NOT NULL,
  confirmed_at INTEGER NOT NULL DEFAULT 0,
  unconfirmed INTEGER,
  signed_with TEXT
) STRICT;

INSERT INTO meta (only, id, secret, count) VALUES (1, lower(hex(randomblob(16))), randomblob(32), 0);

CREATE TABLE client (
  seq INTEGER PRIMARY KEY,
  wallet TEXT NOT NULL,
  client_pk TEXT NOT NULL UNIQUE,
  node_kind TEXT NOT NULL,
  parent_pk TEXT,
  secret_hash TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  label TEXT,
  scopes TEXT NOT NULL,
  permissions TEXT NOT NULL,
  revoked_at INTEGER,
  budget_state TEXT NOT NULL,
  token TEXT,
  ended_token_ids TEXT NOT NULL,
  mac TEXT,
  approve_above_msat INTEGER,
  origins TEXT,
  own INTEGER
) STRICT;
CREATE INDEX client_by_wallet ON client (wallet, created_at);
CREATE INDEX client_with_budget ON client (expires_at) WHERE budget_state = 'set' AND revoked_at IS NULL;

CREATE TABLE spending (
  seq INTEGER PRIMARY KEY,
  wallet TEXT NOT NULL,
  client_pk TEXT NOT NULL,
  at INTEGER NOT NULL,
  idx TEXT NOT NULL,
  amount_msat INTEGER NOT NULL,
  settled INTEGER NOT NULL,
  mac TEXT
) STRICT;
CREATE INDEX spending_by_client ON spending (wallet, client_pk);
CREATE INDEX spending_by_name ON spending (wallet, idx);

CREATE TABLE name (
  wallet TEXT PRIMARY KEY,
  node_kind TEXT NOT NULL,
  username TEXT NOT NULL UNIQUE,
  -- The offer that the name stands for; null on a node without offers.
  offer TEXT,
  -- When the 24 hours began in which it can be changed, by the node's clock.
  window_at INTEGER NOT NULL,
  mac TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE name_invoice (
  wallet TEXT NOT NULL,
  id TEXT NOT NULL,
  -- A tag of the address that asked for it, which tells nothing of the address.
  source TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (wallet, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE spend (
  wallet TEXT NOT NULL,
  idx TEXT NOT NULL,
  state TEXT NOT NULL,
  json TEXT NOT NULL,
  after_attempt INTEGER,
  attempt INTEGER,
  plan TEXT,
  caller TEXT NOT NULL,
  idempotency_key TEXT,
  mac TEXT,
  approve_until INTEGER,
  PRIMARY KEY (wallet, idx)
) STRICT;

CREATE TABLE fetched_invoice (
  wallet TEXT NOT NULL,
  idx TEXT NOT NULL,
  -- BOLT 12, as text.
  invoice TEXT NOT NULL,
  mac TEXT,
  PRIMARY KEY (wallet, idx)
) STRICT;

CREATE TABLE idempotency (
  wallet TEXT NOT NULL,
  caller TEXT NOT NULL,
  key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  idx TEXT,
  effect TEXT,
  subject TEXT,
  http_status INTEGER,
  body TEXT,
  gone INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  any_caller INTEGER NOT NULL DEFAULT 0,
  mac TEXT,
  PRIMARY KEY (wallet, caller, key)
) STRICT;
CREATE INDEX idempotency_by_age ON idempotency (created_at);
CREATE INDEX idempotency_by_subject ON idempotency (wallet, subject) WHERE subject IS NOT NULL;

CREATE TABLE connector_state (
  wallet TEXT NOT NULL,
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  json TEXT NOT NULL,
  mac TEXT,
  PRIMARY KEY (wallet, kind, key)
) STRICT;

CREATE TABLE cache (
  wallet TEXT NOT NULL,
  idx TEXT NOT NULL,
  status TEXT NOT NULL,
  direction TEXT NOT NULL,
  rail TEXT NOT NULL,
  json TEXT NOT NULL,
  mac TEXT,
  external_id TEXT GENERATED ALWAYS AS (nullif(json -> '$.external_id', 'null')) VIRTUAL,
  completed_at INTEGER GENERATED ALWAYS AS (
    CASE status WHEN 'completed' THEN coalesce(json ->> '$.finalized_at', 0) END
  ) VIRTUAL,
  words TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (wallet, idx)
) STRICT;
CREATE INDEX cache_by_status ON cache (wallet, status, idx, direction, rail);
CREATE INDEX cache_by_direction ON cache (wallet, direction, idx, rail, status);
CREATE INDEX cache_by_rail ON cache (wallet, rail, idx, direction, status);
CREATE INDEX cache_by_external_id ON cache (wallet, external_id, idx) WHERE external_id IS NOT NULL;
CREATE INDEX cache_by_completion ON cache (wallet, completed_at, idx) WHERE completed_at IS NOT NULL;

CREATE TABLE journal (
  wallet TEXT NOT NULL,
  idx TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  status TEXT NOT NULL,
  json TEXT NOT NULL,
  attempt INTEGER,
  after_attempt INTEGER,
  mac TEXT,
  PRIMARY KEY (wallet, idx)
) STRICT;
CREATE UNIQUE INDEX journal_by_update ON journal (wallet, updated_at);
CREATE INDEX journal_by_id ON journal (wallet, substr(idx, 21), idx);
CREATE INDEX journal_open ON journal (wallet, idx) WHERE status = 'pending';

CREATE TABLE webhook_endpoint (
  id TEXT PRIMARY KEY,
  wallet TEXT NOT NULL,
  url TEXT NOT NULL,
  events TEXT NOT NULL,
  description TEXT,
  secret TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  mac TEXT
) STRICT;
CREATE INDEX webhook_endpoint_by_wallet ON webhook_endpoint (wallet, created_at);
CREATE INDEX webhook_endpoint_by_expiry ON webhook_endpoint (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE delivery (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  endpoint TEXT NOT NULL,
  event TEXT NOT NULL,
  wallet TEXT NOT NULL,
  idx TEXT NOT NULL,
  state TEXT NOT NULL,
  body TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  last_error TEXT,
  due_at INTEGER,
  lease_owner TEXT,
  delivered_at INTEGER,
  created_at INTEGER NOT NULL,
  mac TEXT,
  UNIQUE (id, endpoint)
) STRICT;
CREATE INDEX delivery_due ON delivery (endpoint, due_at) WHERE state = 'pending';
CREATE INDEX delivery_leased ON delivery (lease_owner) WHERE state = 'pending' AND lease_owner IS NOT NULL;
CREATE INDEX delivery_by_wallet ON delivery (wallet, seq);
CREATE INDEX delivery_settled ON delivery (seq) WHERE state != 'pending' AND body IS NOT NULL;
CREATE INDEX delivery_failed ON delivery (seq) WHERE state = 'failed' AND body IS NOT NULL;
CREATE INDEX delivery_canceled ON delivery (seq) WHERE state = 'canceled' AND body IS NOT NULL;

CREATE TABLE delivery_attempt (
  number INTEGER PRIMARY KEY,
  -- The seq of the delivery.
  delivery INTEGER NOT NULL,
  endpoint TEXT NOT NULL,
  at INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  http_status INTEGER,
  error TEXT,
  -- JSON of the request's headers.
  headers TEXT NOT NULL,
  -- The first part of the answer's body.
  answer TEXT
) STRICT;
CREATE INDEX delivery_attempt_by_delivery ON delivery_attempt (delivery, number);
CREATE INDEX delivery_attempt_by_endpoint ON delivery_attempt (endpoint, number);

CREATE TABLE given_way (
  wallet TEXT NOT NULL,
  idx TEXT NOT NULL,
  to_idx TEXT NOT NULL,
  mac TEXT,
  PRIMARY KEY (wallet, idx)
) STRICT, WITHOUT ROWID;

CREATE TABLE advance (
  count INTEGER PRIMARY KEY,
  word TEXT NOT NULL
) STRICT;

CREATE TABLE word_loose (
  wallet TEXT NOT NULL,
  idx TEXT NOT NULL,
  PRIMARY KEY (wallet, idx)
) STRICT, WITHOUT ROWID;

CREATE TABLE word_bundle (
  id INTEGER PRIMARY KEY,
  wallet TEXT NOT NULL,
  since INTEGER NOT NULL,
  until INTEGER NOT NULL,
  marks TEXT NOT NULL,
  sets TEXT NOT NULL,
  makers TEXT,
  ids TEXT NOT NULL,
  times TEXT NOT NULL,
  lines TEXT NOT NULL
) STRICT;
CREATE INDEX word_bundle_by_since ON word_bundle (wallet, since, id);
CREATE INDEX word_bundle_by_until ON word_bundle (wallet, until, id);
`;

/** Every column, as `table.column`, and the name of every index. */
export const PARTS: readonly string[] = [
  ...[...SCHEMA.matchAll(/^CREATE TABLE (\w+) \(\n(.*?)^\)/gms)].flatMap(([, table, lines = '']) =>
    [...lines.matchAll(/^ {2}([a-z]\w*) /gm)].map(([, column]) => `${table}.${column}`),
  ),
  ...[...SCHEMA.matchAll(/^CREATE (?:UNIQUE )?INDEX (\w+)/gm)].map(([, index = '']) => index),
];
