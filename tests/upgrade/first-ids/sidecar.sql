-- The store that commit b4aad44 left beside sandbox.sql: the wallet's waived fee has a note and is what
-- the cache's cursor stands at.
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE cache (
  wallet TEXT NOT NULL,
  idx TEXT NOT NULL,
  status TEXT NOT NULL,
  direction TEXT NOT NULL,
  rail TEXT NOT NULL,
  json TEXT NOT NULL,
  PRIMARY KEY (wallet, idx)
) STRICT, WITHOUT ROWID;
INSERT INTO cache VALUES('5d67b66bbaca72891e9ce3f3eae8def0f2f01abe732ac6b555b0230702726a4e','0000001795283482064-or_7673432f42e2de3e397c3f586283531b94cb4e1ed716da9824c4bebfafb70c6b','completed','inbound','onchain','{"index":"0000001795283482064-or_7673432f42e2de3e397c3f586283531b94cb4e1ed716da9824c4bebfafb70c6b","rail":"onchain","kind":"onchain","direction":"inbound","hash":null,"preimage":null,"offer_id":null,"txid":"cdd2b29701f39f54116e01f0685fd6a7ad0cbd38d42700d61a4d99c4bc0a9612","replacement":null,"amount":"1000000","fees":"0","partner_pk":null,"partner_prop_fee":null,"partner_base_fee":null,"status":"completed","status_msg":"completed","address":"bcrt1qxkeafmx8hf6qqve9v0pqnqpwl8da74wrf43yxn","invoice":null,"tx":{"version":2,"lock_time":101,"input":[{"previous_output":"bec543a9eb8ffc0dea1a615955e39e02407f1d6431e18c3bf5d76cefa26ed372:99","script_sig":"","sequence":4294967293,"witness":["121fc4b96d057acc5532cf7295520f09a9bf9a32caf668b471e511831adfaf15efcd0147bf7e1f0a7fbe04b766c9d4a7bfacebc73cebed7487228f74e284c917"]}],"output":[{"value":1000000,"script_pubkey":"001435b3d4ecc7ba7400332563c209802ef9dbdf55c3"},{"value":20999998999290,"script_pubkey":"512097a11b92fd481b7267b699b93e0cfe8730a36e38abc269d792dab922f2b89c1c"}]},"payer_name":null,"message":null,"personal_note":null,"priority":null,"expires_at":null,"finalized_at":1795283482066,"created_at":1795283482064,"updated_at":1795283482066}');
INSERT INTO cache VALUES('5d67b66bbaca72891e9ce3f3eae8def0f2f01abe732ac6b555b0230702726a4e','0000001795283482085-wf_c02285ac3abee51c809bd31df1eb9ed9248b1d83d45b66a6fd15d34730b3b483','completed','info','onchain','{"index":"0000001795283482085-wf_c02285ac3abee51c809bd31df1eb9ed9248b1d83d45b66a6fd15d34730b3b483","rail":"onchain","kind":"waived_channel_fee","direction":"info","hash":null,"preimage":null,"offer_id":null,"txid":"83b4b33047d315fda6665bd4831d8b24d99eebf11dd39b801ce5be3aac8522c0","replacement":null,"amount":"1848","fees":"0","partner_pk":null,"partner_prop_fee":null,"partner_base_fee":null,"status":"completed","status_msg":"completed","address":null,"invoice":null,"tx":null,"payer_name":null,"message":null,"personal_note":"what the first channel cost","priority":null,"expires_at":null,"finalized_at":1795283482085,"created_at":1795283482085,"updated_at":1795283482101}');
INSERT INTO cache VALUES('5d67b66bbaca72891e9ce3f3eae8def0f2f01abe732ac6b555b0230702726a4e','0000001795283482086-ln_c6b2fdab4a2145ea2a554ebc2ceff908f1ab0ffda16706a0c7c31d3549573f75','completed','inbound','spontaneous','{"index":"0000001795283482086-ln_c6b2fdab4a2145ea2a554ebc2ceff908f1ab0ffda16706a0c7c31d3549573f75","rail":"spontaneous","kind":"spontaneous","direction":"inbound","hash":"c6b2fdab4a2145ea2a554ebc2ceff908f1ab0ffda16706a0c7c31d3549573f75","preimage":"0c1c7227981f842b802b91fdd3828543d81aee1b23163ea8db55c7d867a85513","offer_id":null,"txid":null,"replacement":null,"amount":"1000000","fees":"0","partner_pk":null,"partner_prop_fee":null,"partner_base_fee":null,"status":"completed","status_msg":"completed","address":null,"invoice":null,"tx":null,"payer_name":null,"message":null,"personal_note":null,"priority":null,"expires_at":null,"finalized_at":1795283482086,"created_at":1795283482086,"updated_at":1795283482087}');
CREATE TABLE cache_cursor (
  wallet TEXT PRIMARY KEY,
  updated_idx TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO cache_cursor VALUES('5d67b66bbaca72891e9ce3f3eae8def0f2f01abe732ac6b555b0230702726a4e','u0000001795283482101-wf_c02285ac3abee51c809bd31df1eb9ed9248b1d83d45b66a6fd15d34730b3b483');
CREATE TABLE feed_cursor (
  wallet TEXT PRIMARY KEY,
  cursor TEXT
) STRICT, WITHOUT ROWID;
INSERT INTO feed_cursor VALUES('5d67b66bbaca72891e9ce3f3eae8def0f2f01abe732ac6b555b0230702726a4e','u0000001795283482110-ln_c611775e03939fa9054bc62974e0444d5492fc0fa26bb0d34594e798859ed95f');
CREATE TABLE journal (
  wallet TEXT NOT NULL,
  idx TEXT NOT NULL,
  id TEXT NOT NULL,
  updated_idx TEXT NOT NULL,
  status TEXT NOT NULL,
  json TEXT NOT NULL, attempt INTEGER, after_attempt INTEGER,
  PRIMARY KEY (wallet, idx)
) STRICT, WITHOUT ROWID;
CREATE TABLE watch (
  wallet TEXT NOT NULL,
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  PRIMARY KEY (wallet, kind, key)
) STRICT, WITHOUT ROWID;
INSERT INTO watch VALUES('5d67b66bbaca72891e9ce3f3eae8def0f2f01abe732ac6b555b0230702726a4e','payment','0000001795283482107-ln_c611775e03939fa9054bc62974e0444d5492fc0fa26bb0d34594e798859ed95f');
CREATE TABLE delivery (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  wallet TEXT NOT NULL,
  idx TEXT NOT NULL,
  state TEXT NOT NULL,
  body TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  last_error TEXT,
  due_at INTEGER,
  delivered_at INTEGER,
  created_at INTEGER NOT NULL
, lease_owner TEXT) STRICT;
CREATE TABLE budget (
  wallet TEXT NOT NULL,
  client_pk TEXT NOT NULL,
  amount_msat INTEGER NOT NULL,
  period TEXT NOT NULL,
  max_payment_msat INTEGER,
  PRIMARY KEY (wallet, client_pk)
) STRICT, WITHOUT ROWID;
CREATE TABLE connector_state (
  wallet TEXT NOT NULL,
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  json TEXT NOT NULL,
  PRIMARY KEY (wallet, kind, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE journal_tip (
  wallet TEXT PRIMARY KEY,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE meta (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  id TEXT NOT NULL,
  secret BLOB NOT NULL,
  count INTEGER NOT NULL
) STRICT;
INSERT INTO meta VALUES(1,'575faed79da39376ad1fcfa88f81a20e',X'42dc6cb1b13d34a123aee0cf2a286c5de265ba226271068d4193b9c8b7a98976',1);
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
CREATE TABLE spending (
  seq INTEGER PRIMARY KEY,
  wallet TEXT NOT NULL,
  client_pk TEXT NOT NULL,
  at INTEGER NOT NULL,
  idx TEXT NOT NULL,
  amount_msat INTEGER NOT NULL,
  settled INTEGER NOT NULL
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
  PRIMARY KEY (wallet, caller, key)
) STRICT, WITHOUT ROWID;
INSERT INTO idempotency VALUES('5d67b66bbaca72891e9ce3f3eae8def0f2f01abe732ac6b555b0230702726a4e','owner','invoice','f408acf8af4d41942a16565e97fad46ad64030907c6a1e0e6ebbe55119f2ff57',NULL,NULL,NULL,200,'{"index":"0000001795283482107-ln_c611775e03939fa9054bc62974e0444d5492fc0fa26bb0d34594e798859ed95f","invoice":"lnbcrt250n1p4srks6sp5znp69y42vvapfjqj3mv3fk7yqzgs6ssyyfmz48dwzvx3rmsvyf0qpp5ccghwhsrjw06jp2tcc5hfczyf42f9lq05f4mp569jnne3pv7m90sdqqxqyjw5q9qyysgqermhrf342z0gmyqvjltxvh0pe4hn8trn9ddhnu0p8kqaev7lsdrh8yarfvj4lfqpnp47qmy0pxjgqs8gk9njgrpkzn5xk924xtfnj5gpef8duk","description":null,"amount":"25","created_at":1795283482107,"expires_at":1795888282107,"payment_hash":"c611775e03939fa9054bc62974e0444d5492fc0fa26bb0d34594e798859ed95f","payment_secret":"14c3a292aa633a14c8128ed914dbc400910d420422762a9dae130d11ee0c225e"}',0,1795283482106);
INSERT INTO idempotency VALUES('5d67b66bbaca72891e9ce3f3eae8def0f2f01abe732ac6b555b0230702726a4e','owner','note','713dcfd3955544b434d566a1b23368eca587d5a910f453ae197804ca3800b69d',NULL,NULL,NULL,200,'{}',0,1795283482097);
CREATE INDEX cache_by_status ON cache (wallet, status, idx);
CREATE UNIQUE INDEX journal_by_update ON journal (wallet, updated_idx);
CREATE INDEX journal_by_id ON journal (wallet, id, idx);
CREATE INDEX journal_open ON journal (wallet, idx) WHERE status = 'pending';
CREATE INDEX delivery_due ON delivery (due_at) WHERE state = 'pending';
CREATE INDEX delivery_by_wallet ON delivery (wallet, seq);
CREATE INDEX delivery_settled ON delivery (seq) WHERE state != 'pending' AND body IS NOT NULL;
CREATE INDEX connector_state_by_key ON connector_state (kind, key);
CREATE INDEX delivery_failed ON delivery (seq) WHERE state = 'failed' AND body IS NOT NULL;
CREATE INDEX client_by_wallet ON client (wallet, created_at);
CREATE INDEX client_with_budget ON client (expires_at)
  WHERE budget_state = 'set' AND revoked_at IS NULL;
CREATE INDEX journal_by_attempt ON journal (wallet, id, attempt);
CREATE INDEX spending_by_client ON spending (wallet, client_pk);
CREATE INDEX spending_by_name ON spending (wallet, idx);
CREATE INDEX idempotency_by_age ON idempotency (created_at);
CREATE INDEX idempotency_by_subject ON idempotency (wallet, subject) WHERE subject IS NOT NULL;
CREATE INDEX delivery_leased ON delivery (lease_owner) WHERE state = 'pending' AND lease_owner IS NOT NULL;
COMMIT;
PRAGMA user_version = 6;
