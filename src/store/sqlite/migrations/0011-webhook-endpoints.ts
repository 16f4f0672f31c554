/**
 * Adds webhook endpoints, and attempts of deliveries. A delivery is for one endpoint: all that were written before are
 * for the configured one, as they stand. The table is made anew, because its old form allows one row for each
 * webhook-id.
 */
export const webhookEndpoints = `
CREATE TABLE webhook_endpoint (
  id TEXT PRIMARY KEY,
  wallet TEXT NOT NULL,
  url TEXT NOT NULL,
  events TEXT NOT NULL,
  description TEXT,
  secret TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER
) STRICT;
CREATE INDEX webhook_endpoint_by_wallet ON webhook_endpoint (wallet, created_at);
CREATE INDEX webhook_endpoint_by_expiry ON webhook_endpoint (expires_at) WHERE expires_at IS NOT NULL;

ALTER TABLE delivery RENAME TO first_delivery;
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
  UNIQUE (id, endpoint)
) STRICT;
INSERT INTO delivery (seq, id, endpoint, event, wallet, idx, state, body, attempts, last_error, due_at, lease_owner,
    delivered_at, created_at)
  SELECT seq, id, 'configured',
    iif(iif(json_valid(body), body ->> '$.type', NULL) = 'payment.held', 'payment.held', 'payment.finalized'),
    wallet, idx, state, body, attempts, last_error, due_at, lease_owner, delivered_at, created_at
  FROM first_delivery;
DROP TABLE first_delivery;
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
`;
