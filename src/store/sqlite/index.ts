import { asStorageError } from '../../model/storage-error.ts';
import type { Store } from '../ports.ts';
import { budgetRows, sqliteBudgets } from './budgets.ts';
import { sqliteClients } from './clients.ts';
import { sqliteConnectorState } from './connector-state.ts';
import { deliveryAttemptRows } from './delivery-attempts.ts';
import { fetchedInvoiceRows } from './fetched-invoices.ts';
import { idempotencyRows, sqliteIdempotency } from './idempotency.ts';
import { sqliteIdentity, storeCounter } from './identity.ts';
import { journalRows, sqliteJournal } from './journal.ts';
import { nameInvoiceRows, sqliteNames } from './names.ts';
import { sqliteObservations } from './observations.ts';
import { openDatabase } from './open.ts';
import { sqliteOutbox } from './outbox.ts';
import { firstDamage } from './page-check.ts';
import { sqlitePaymentCache } from './payment-cache.ts';
import { releaseSpace } from './space.ts';
import { spendingRows } from './spending.ts';
import { spendRows, sqliteSpends } from './spends.ts';
import { sqliteWatches, watchRows } from './watches.ts';
import { sqliteWebhookEndpoints, webhookEndpointRows } from './webhook-endpoints.ts';
import { writeQueue } from './write-queue.ts';

export { openStoredRows } from './read-rows.ts';
export { firstDamage };

/** Opens the store in a SQLite file, or in memory (`:memory:`). Throws StoreUnusable as {@link openDatabase} does. */
export function openSqliteStore(path: string): Store {
  const db = openDatabase(path);
  const queue = writeQueue(db);
  const journal = journalRows(db);
  const spending = spendingRows(db);
  const budgets = budgetRows(db, spending);
  const spends = spendRows(db);
  const fetched = fetchedInvoiceRows(db);
  const watches = watchRows(db);
  const nameInvoices = nameInvoiceRows(db);
  const endpoints = webhookEndpointRows(db);
  const keys = idempotencyRows(db);
  const counter = storeCounter(db);
  return {
    cache: readable(sqlitePaymentCache(db, queue)),
    observations: readable(
      sqliteObservations(db, queue, {
        journal,
        spends,
        fetched,
        watches,
        spending,
        nameInvoices,
        endpoints,
        keys,
      }),
    ),
    journal: readable(sqliteJournal(db, queue, journal)),
    spends: readable(
      sqliteSpends(db, queue, {
        spends,
        fetched,
        journal,
        watches,
        budgets,
        spending,
        keys,
        counter,
      }),
    ),
    watches: readable(sqliteWatches(db, queue, watches)),
    names: readable(sqliteNames(db, queue, nameInvoices)),
    clients: readable(sqliteClients(db, queue, budgets, keys, counter)),
    outbox: readable(sqliteOutbox(db, queue, deliveryAttemptRows(db))),
    webhookEndpoints: readable(sqliteWebhookEndpoints(db, queue, endpoints)),
    idempotency: readable(sqliteIdempotency(db, queue)),
    budgets: readable(sqliteBudgets(budgets)),
    connectorState: readable(sqliteConnectorState(db, queue)),
    identity: readable(sqliteIdentity(db, queue, counter)),
    problem: () => null,
    releaseSpace: (signal) => releaseSpace(db, queue, signal),
    async close() {
      try {
        // Writes that were queued in this turn are committed before the file is closed.
        await queue.write(() => undefined);
      } finally {
        db.close();
      }
    },
  };
}

/** Wraps a port so that a read throws error 8 when SQLite finds the database locked or failing. */
function readable<T extends object>(port: T): T {
  const entries = Object.entries(port).map(([name, member]) => [
    name,
    typeof member !== 'function'
      ? member
      : async (...args: unknown[]) => {
          try {
            return await member(...args);
          } catch (error) {
            throw asStorageError(error);
          }
        },
  ]);
  return Object.fromEntries(entries) as T;
}
