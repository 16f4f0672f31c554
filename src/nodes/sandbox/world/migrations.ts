import type { Database } from 'bun:sqlite';
import { rebuildWithRowids } from '../../../lib/databases/rowid-table.ts';
import { presentId } from '../../../model/payment-index.ts';
import { CHAIN_TABLES, LOCKS_TABLE } from '../chain/tables.ts';
import { HELD_TABLE, LIGHTNING_TABLES } from '../lightning/tables.ts';
import { LNURL_TABLES } from '../lnurl/tables.ts';
import { OFFER_TABLES } from '../offers/tables.ts';
import { replaceFirstClients } from './first-clients.ts';
import { TOKENS_TABLE, WORLD_TABLES } from './tables.ts';

/** The version of the sandbox's file that this program writes. */
export const SCHEMA_VERSION = 7;

const ALL_TABLES = [WORLD_TABLES, CHAIN_TABLES, LIGHTNING_TABLES, OFFER_TABLES, LNURL_TABLES];

/** Migrates a file of an earlier version (0: a new file) to {@link SCHEMA_VERSION}, in one transaction. */
export function migrate(db: Database, version: number): void {
  db.transaction(() => {
    if (version === 0) for (const tables of ALL_TABLES) db.run(tables);
    if (version === 1) replaceClientsByTokens(db);
    if (version === 1 || version === 2) renameWaivedFees(db);
    // Version 4: wallets hold payments.
    if (version > 0 && version < 4) db.run(HELD_TABLE);
    // Version 5: large rows take the disk that they need.
    if (version > 0 && version < 5)
      for (const table of ['payments', 'offer_invoices']) rebuildWithRowids(db, table);
    // Version 6: offers keep what is the wallet's own about their payments.
    if (version > 0 && version < 6) db.run('ALTER TABLE offers ADD COLUMN external_id TEXT');
    // Version 7: the balances of the accounts are the ledger; nothing read the list of its transfers.
    if (version > 0) db.run('DROP TABLE transfers');
    db.run(`PRAGMA user_version = ${SCHEMA_VERSION}`);
  }).immediate();
}

/** Version 2: clients belong to the sidecar's store, coins can be locked, and held HTLCs expire. */
function replaceClientsByTokens(db: Database): void {
  db.run(TOKENS_TABLE);
  replaceFirstClients(db);
  db.run(LOCKS_TABLE);
  db.run('ALTER TABLE htlcs ADD COLUMN expiry_height INTEGER');
}

/**
 * Version 3: payments of waived fees get their present ids (docs/decisions.md 24). The store's migration derives the
 * same new ids from the old ones, so neither migration needs the other.
 */
function renameWaivedFees(db: Database): void {
  const rows = db
    .query<{ user_pk: string; idx: string; id: string }, []>(
      "SELECT user_pk, idx, id FROM payments WHERE id LIKE 'wf\\_%' ESCAPE '\\'",
    )
    .all();
  const rename = db.query(
    `UPDATE payments SET idx = ?1, id = ?2, json = json_set(json, '$.index', ?1)
     WHERE user_pk = ?3 AND idx = ?4`,
  );
  for (const { user_pk, idx, id } of rows) rename.run(presentId(idx), presentId(id), user_pk, idx);
}
