import type { Store } from '../ports.ts';
import { budgetRows, sqliteBudgets } from './budgets.ts';
import { sqliteConnectorState } from './connector-state.ts';
import { sqliteIdempotency } from './idempotency.ts';
import { sqliteIntents } from './intents.ts';
import { journalRows, sqliteJournal } from './journal.ts';
import { sqliteObservations } from './observations.ts';
import { openDatabase } from './open.ts';
import { sqliteOutbox } from './outbox.ts';
import { sqlitePaymentCache } from './payment-cache.ts';
import { sqliteCredentials, sqliteWatches } from './watches.ts';
import { writeQueue } from './write-queue.ts';

/** Opens the store in a SQLite file, or in memory. Throws StoreUnusable as {@link openDatabase} does. */
export function openSqliteStore(path: string): Store {
  const db = openDatabase(path);
  const queue = writeQueue(db);
  const journal = journalRows(db);
  const budgets = budgetRows(db);
  return {
    cache: sqlitePaymentCache(db, queue),
    observations: sqliteObservations(db, queue, journal),
    journal: sqliteJournal(db, queue, journal),
    intents: sqliteIntents(db, queue, journal, budgets),
    watches: sqliteWatches(db, queue),
    credentials: sqliteCredentials(db, queue),
    outbox: sqliteOutbox(db, queue),
    idempotency: sqliteIdempotency(db, queue),
    budgets: sqliteBudgets(db, queue, budgets),
    connectorState: sqliteConnectorState(db, queue),
    async close() {
      // Lets writes that were asked for in this turn reach the file.
      await queue.write(() => undefined);
      db.close();
    },
  };
}
