/**
 * The first schema. Its tables are those of SQLite's schema (docs/architecture.md, Where state lives), with `ownership`
 * and `commit_mark` beside them. Text that is ordered or compared has the collation "C", so that it is ordered by its
 * bytes. Columns named `sealed_...` are encrypted (docs/decisions.md 138). Columns named `..._json` hold text that may
 * hold any character as a JSON string, since PostgreSQL stores no NUL.
 */
export const initialSchema = `
CREATE TABLE ownership (
  one INT PRIMARY KEY CHECK (one = 1),
  fence BIGINT NOT NULL,
  holder TEXT NOT NULL
);
INSERT INTO ownership VALUES (1, 0, '');
CREATE TABLE ownership_lease (
  one INT PRIMARY KEY CHECK (one = 1),
  fence BIGINT NOT NULL,
  renewals BIGINT NOT NULL,
  expires_at TIMESTAMPTZ NOT NULL
);
INSERT INTO ownership_lease VALUES (1, 0, 0, '-infinity');
CREATE TABLE commit_mark (slot INT PRIMARY KEY, mark TEXT NOT NULL) WITH (fillfactor = 50);

CREATE TABLE meta (
  one INT PRIMARY KEY CHECK (one = 1),
  id TEXT NOT NULL,
  sealed_secret TEXT NOT NULL,
  count BIGINT NOT NULL
);

CREATE TABLE write_lock (name TEXT COLLATE "C" PRIMARY KEY);

CREATE TABLE cache (
  wallet TEXT COLLATE "C" NOT NULL,
  idx TEXT COLLATE "C" NOT NULL,
  status TEXT NOT NULL,
  direction TEXT NOT NULL,
  rail TEXT NOT NULL,
  json TEXT NOT NULL,
  PRIMARY KEY (wallet, idx)
);
CREATE INDEX cache_by_status ON cache (wallet, status, idx);
CREATE INDEX cache_by_direction ON cache (wallet, direction, idx);
CREATE INDEX cache_by_rail ON cache (wallet, rail, idx);
CREATE TABLE cache_cursor (wallet TEXT COLLATE "C" PRIMARY KEY, updated_idx TEXT COLLATE "C" NOT NULL);

CREATE TABLE feed_cursor (wallet TEXT COLLATE "C" PRIMARY KEY, cursor_json TEXT NOT NULL);

CREATE TABLE journal (
  wallet TEXT COLLATE "C" NOT NULL,
  idx TEXT COLLATE "C" NOT NULL,
  updated_at BIGINT NOT NULL,
  status TEXT NOT NULL,
  json TEXT NOT NULL,
  attempt BIGINT,
  after_attempt BIGINT,
  PRIMARY KEY (wallet, idx)
);
CREATE UNIQUE INDEX journal_by_update ON journal (wallet, updated_at);
CREATE INDEX journal_by_id ON journal (wallet, substr(idx, 21), idx);
CREATE INDEX journal_open ON journal (wallet, idx) WHERE status = 'pending';
CREATE TABLE journal_tip (wallet TEXT COLLATE "C" PRIMARY KEY, updated_at BIGINT NOT NULL);

CREATE TABLE watch (
  wallet TEXT COLLATE "C" NOT NULL,
  kind TEXT NOT NULL,
  key TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (wallet, kind, key)
);

CREATE TABLE client (
  seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  wallet TEXT COLLATE "C" NOT NULL,
  client_pk TEXT COLLATE "C" NOT NULL UNIQUE,
  node_kind TEXT NOT NULL,
  parent_pk TEXT,
  secret_hash TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT,
  label_json TEXT NOT NULL,
  scopes TEXT NOT NULL,
  permissions TEXT NOT NULL,
  revoked_at BIGINT,
  budget_state TEXT NOT NULL,
  sealed_token TEXT,
  ended_token_ids TEXT NOT NULL
);
CREATE INDEX client_by_wallet ON client (wallet, created_at, seq);
CREATE INDEX client_with_budget ON client (expires_at) WHERE budget_state = 'set' AND revoked_at IS NULL;

CREATE TABLE budget (
  wallet TEXT COLLATE "C" NOT NULL,
  client_pk TEXT COLLATE "C" NOT NULL,
  amount_msat NUMERIC NOT NULL,
  period TEXT NOT NULL,
  max_payment_msat NUMERIC,
  PRIMARY KEY (wallet, client_pk)
);
CREATE TABLE spent (
  wallet TEXT COLLATE "C" NOT NULL,
  client_pk TEXT COLLATE "C" NOT NULL,
  starts_at BIGINT NOT NULL,
  amount_msat NUMERIC NOT NULL,
  PRIMARY KEY (wallet, client_pk, starts_at)
);
CREATE TABLE spending (
  seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  wallet TEXT COLLATE "C" NOT NULL,
  client_pk TEXT COLLATE "C" NOT NULL,
  at BIGINT NOT NULL,
  name TEXT COLLATE "C" NOT NULL,
  amount_msat NUMERIC NOT NULL,
  settled BOOLEAN NOT NULL
);
CREATE INDEX spending_by_client ON spending (wallet, client_pk);
CREATE INDEX spending_by_name ON spending (wallet, name);

CREATE TABLE spend (
  wallet TEXT COLLATE "C" NOT NULL,
  idx TEXT COLLATE "C" NOT NULL,
  state TEXT NOT NULL,
  json TEXT NOT NULL,
  after_attempt BIGINT,
  attempt BIGINT,
  sealed_plan TEXT,
  caller TEXT NOT NULL,
  idempotency_key TEXT,
  PRIMARY KEY (wallet, idx)
);
CREATE TABLE fetched_invoice (
  wallet TEXT COLLATE "C" NOT NULL,
  idx TEXT COLLATE "C" NOT NULL,
  invoice TEXT NOT NULL,
  PRIMARY KEY (wallet, idx)
);

CREATE TABLE name (
  wallet TEXT COLLATE "C" PRIMARY KEY,
  node_kind TEXT NOT NULL,
  username TEXT COLLATE "C" NOT NULL UNIQUE,
  offer TEXT,
  window_at BIGINT NOT NULL
);
CREATE TABLE name_invoice (
  wallet TEXT COLLATE "C" NOT NULL,
  id TEXT COLLATE "C" NOT NULL,
  source TEXT NOT NULL,
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (wallet, id)
);

CREATE TABLE webhook_endpoint (
  id TEXT COLLATE "C" PRIMARY KEY,
  wallet TEXT COLLATE "C" NOT NULL,
  url TEXT NOT NULL,
  events TEXT NOT NULL,
  description_json TEXT NOT NULL,
  sealed_secret TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT
);
CREATE INDEX webhook_endpoint_by_wallet ON webhook_endpoint (wallet, created_at, id);
CREATE INDEX webhook_endpoint_by_expiry ON webhook_endpoint (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE delivery (
  seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id TEXT COLLATE "C" NOT NULL,
  endpoint TEXT COLLATE "C" NOT NULL,
  event TEXT NOT NULL,
  wallet TEXT COLLATE "C" NOT NULL,
  idx TEXT NOT NULL,
  state TEXT NOT NULL,
  body TEXT,
  attempts INT NOT NULL DEFAULT 0,
  last_error_json TEXT NOT NULL DEFAULT 'null',
  due_at BIGINT,
  lease_owner TEXT,
  delivered_at BIGINT,
  created_at BIGINT NOT NULL,
  UNIQUE (id, endpoint)
);
CREATE INDEX delivery_due ON delivery (endpoint, due_at) WHERE state = 'pending';
CREATE INDEX delivery_leased ON delivery (lease_owner) WHERE state = 'pending' AND lease_owner IS NOT NULL;
CREATE INDEX delivery_by_wallet ON delivery (wallet, seq);
CREATE INDEX delivery_settled ON delivery (seq) WHERE state <> 'pending' AND body IS NOT NULL;
CREATE INDEX delivery_failed ON delivery (seq) WHERE state = 'failed' AND body IS NOT NULL;
CREATE INDEX delivery_canceled ON delivery (seq) WHERE state = 'canceled' AND body IS NOT NULL;

CREATE TABLE delivery_attempt (
  number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  delivery BIGINT NOT NULL,
  endpoint TEXT COLLATE "C" NOT NULL,
  at BIGINT NOT NULL,
  duration_ms DOUBLE PRECISION NOT NULL,
  http_status INT,
  error_json TEXT NOT NULL,
  headers TEXT NOT NULL,
  answer_json TEXT NOT NULL
);
CREATE INDEX delivery_attempt_by_delivery ON delivery_attempt (delivery, number);

CREATE TABLE idempotency (
  wallet TEXT COLLATE "C" NOT NULL,
  caller TEXT COLLATE "C" NOT NULL,
  key TEXT COLLATE "C" NOT NULL,
  fingerprint TEXT NOT NULL,
  idx TEXT,
  sealed_effect TEXT,
  subject TEXT,
  http_status INT,
  sealed_body TEXT,
  gone BOOLEAN NOT NULL DEFAULT FALSE,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (wallet, caller, key)
);
CREATE INDEX idempotency_by_age ON idempotency (created_at);
CREATE INDEX idempotency_by_subject ON idempotency (wallet, subject) WHERE subject IS NOT NULL;

CREATE TABLE connector_state (
  wallet TEXT COLLATE "C" NOT NULL,
  kind TEXT NOT NULL,
  key TEXT COLLATE "C" NOT NULL,
  sealed_json TEXT NOT NULL,
  PRIMARY KEY (wallet, kind, key)
);
`;
