import type { Database } from 'bun:sqlite';
import { CHAIN_TABLES, LOCKS_TABLE } from './chain/tables.ts';
import { replaceFirstClients } from './first-clients.ts';
import { LIGHTNING_TABLES, TOKENS_TABLE } from './lightning-tables.ts';
import { SERVICE_TABLES } from './service-tables.ts';

/** Version of the sandbox's file that this program writes. */
export const SCHEMA_VERSION = 2;

/** Brings a file of an earlier version (0: a new file) to {@link SCHEMA_VERSION}, in one transaction. */
export function migrate(db: Database, version: number): void {
  db.transaction(() => {
    if (version === 0) createTables(db);
    if (version === 1) replaceClientsByTokens(db);
    db.run(`PRAGMA user_version = ${SCHEMA_VERSION}`);
  }).immediate();
}

function createTables(db: Database): void {
  db.run(CHAIN_TABLES);
  db.run(LIGHTNING_TABLES);
  db.run(SERVICE_TABLES);
  db.run(
    'CREATE TABLE clock (id INTEGER PRIMARY KEY CHECK (id = 1), offset_ms INTEGER NOT NULL) STRICT',
  );
  db.run('INSERT INTO clock VALUES (1, 0)');
}

/** Version 2: clients belong to the sidecar's store; coins can be locked; held HTLCs run out. */
function replaceClientsByTokens(db: Database): void {
  db.run(TOKENS_TABLE);
  replaceFirstClients(db);
  db.run(LOCKS_TABLE);
  db.run('ALTER TABLE htlcs ADD COLUMN expiry_height INTEGER');
}
