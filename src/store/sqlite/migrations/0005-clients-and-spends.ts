import type { Database } from 'bun:sqlite';
import { type BudgetPeriod, budgetWindow } from '../../../model/clients/budget.ts';

/**
 * Tables for the store's identity, clients, sums of what was spent and spends, and columns for attempts. Sums are
 * decimal text, since they may exceed 64 bits; `starts_at` is the start of the budget's period.
 */
const TABLES = `
CREATE TABLE meta (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  id TEXT NOT NULL,
  secret BLOB NOT NULL,
  count INTEGER NOT NULL
) STRICT;
INSERT INTO meta VALUES (1, lower(hex(randomblob(16))), randomblob(32), 0);

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
  ended_token_ids TEXT NOT NULL
) STRICT;
CREATE INDEX client_by_wallet ON client (wallet, created_at);
CREATE INDEX client_with_budget ON client (expires_at)
  WHERE budget_state = 'set' AND revoked_at IS NULL;

CREATE TABLE spent (
  wallet TEXT NOT NULL,
  client_pk TEXT NOT NULL,
  starts_at INTEGER NOT NULL,
  amount_msat TEXT NOT NULL,
  PRIMARY KEY (wallet, client_pk, starts_at)
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
  PRIMARY KEY (wallet, idx)
) STRICT, WITHOUT ROWID;

ALTER TABLE journal ADD COLUMN attempt INTEGER;
ALTER TABLE journal ADD COLUMN after_attempt INTEGER;
CREATE INDEX journal_by_attempt ON journal (wallet, id, attempt);
`;

/** Numbers reservations: a name may be reserved again in the millisecond in which its first was settled. */
const SPENDING = `
ALTER TABLE spending RENAME TO first_spending;
DROP INDEX spending_by_payment;
CREATE TABLE spending (
  seq INTEGER PRIMARY KEY,
  wallet TEXT NOT NULL,
  client_pk TEXT NOT NULL,
  at INTEGER NOT NULL,
  idx TEXT NOT NULL,
  amount_msat INTEGER NOT NULL,
  settled INTEGER NOT NULL
) STRICT;
INSERT INTO spending (wallet, client_pk, at, idx, amount_msat, settled)
  SELECT s.wallet, s.client_pk, s.at, s.idx, s.amount_msat,
    NOT EXISTS (SELECT 1 FROM watch w WHERE w.wallet = s.wallet AND w.kind = 'payment' AND w.key = s.idx)
  FROM first_spending s;
DROP TABLE first_spending;
CREATE INDEX spending_by_client ON spending (wallet, client_pk);
CREATE INDEX spending_by_name ON spending (wallet, idx);
`;

/**
 * Idempotency-Keys belong to callers. Older keys belonged to the wallet, and now belong to its owner. Outcomes that
 * hold credentials in clear are deleted, because such outcomes are sealed from now on (docs/decisions.md 53).
 */
const KEYS = `
ALTER TABLE idempotency RENAME TO first_idempotency;
DROP INDEX idempotency_by_age;
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
  PRIMARY KEY (wallet, caller, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_by_age ON idempotency (created_at);
CREATE INDEX idempotency_by_subject ON idempotency (wallet, subject) WHERE subject IS NOT NULL;
INSERT INTO idempotency (wallet, caller, key, fingerprint, idx, http_status, body, created_at)
  SELECT wallet, 'owner', key, fingerprint, idx, http_status, body, created_at FROM first_idempotency;
UPDATE idempotency SET gone = 1, http_status = NULL, body = NULL
  WHERE iif(json_valid(body), json_type(body, '$.client_credentials'), NULL) = 'text';
DROP TABLE first_idempotency;
`;

/**
 * Clients on LND become rows of the store. In version 0.1 the secret in a client's credentials was its macaroon. The
 * macaroon of a revoked client was ended at the node. Rows without a secret or a macaroon did not work in that version
 * either.
 */
const LND_CLIENTS = `
INSERT INTO client (wallet, client_pk, node_kind, parent_pk, secret_hash, created_at, expires_at, label, scopes,
    permissions, revoked_at, budget_state, token, ended_token_ids)
  SELECT s.wallet, s.key, 'lnd', NULL, s.json ->> '$.secretHash', s.json ->> '$.createdAtMs',
    s.json ->> '$.expiresAtMs', s.json ->> '$.label', s.json -> '$.scopes', s.json -> '$.permissions',
    s.json ->> '$.revokedAtMs',
    iif(EXISTS (SELECT 1 FROM budget b WHERE b.wallet = s.wallet AND b.client_pk = s.key), 'set', 'none'),
    iif(s.json ->> '$.revokedAtMs' IS NULL, json_object('id', s.json ->> '$.rootKeyId',
      'token', s.json ->> '$.macaroon', 'exposed', json('true')), NULL),
    '[]'
  FROM connector_state s
  WHERE s.kind = 'lnd-client' AND json_type(s.json, '$.secretHash') = 'text'
    AND json_type(s.json, '$.macaroon') = 'text' AND json_type(s.json, '$.rootKeyId') = 'text';
DELETE FROM connector_state WHERE kind IN ('lnd-client', 'lnd-follower');
DROP TABLE credential;
`;

/** Pending sends become spends. Version 0.1 did not store whether a request had left, so the node tells. */
const OLD_SENDS = `
INSERT INTO spend (wallet, idx, state, json, caller, idempotency_key)
  SELECT j.wallet, j.idx, 'asked', j.json, 'owner',
    (SELECT i.key FROM idempotency i WHERE i.wallet = j.wallet AND i.idx = j.idx)
  FROM journal j WHERE j.status = 'pending' AND j.json ->> '$.direction' = 'outbound';
`;

/** The fifth step of the schema. */
export function clientsAndSpends(db: Database): void {
  for (const step of [TABLES, SPENDING, KEYS, LND_CLIENTS, OLD_SENDS]) db.run(step);
  sumUp(db);
}

function sumUp(db: Database): void {
  const rows = db.query<
    { wallet: string; client_pk: string; period: string; at: number; amount: string },
    []
  >(
    `SELECT b.wallet, b.client_pk, b.period, s.at, CAST(s.amount_msat AS TEXT) AS amount
     FROM budget b JOIN spending s ON s.wallet = b.wallet AND s.client_pk = b.client_pk`,
  );
  const sums = new Map<string, { key: [string, string, number]; msat: bigint }>();
  for (const { wallet, client_pk, period, at, amount } of rows.iterate()) {
    const key: [string, string, number] = [
      wallet,
      client_pk,
      budgetWindow(period as BudgetPeriod, at).startsAtMs,
    ];
    const sum = sums.get(key.join()) ?? { key, msat: 0n };
    sum.msat += BigInt(amount);
    sums.set(key.join(), sum);
  }
  const insert = db.query('INSERT INTO spent VALUES (?, ?, ?, ?)');
  for (const { key, msat } of sums.values()) insert.run(...key, `${msat}`);
}
