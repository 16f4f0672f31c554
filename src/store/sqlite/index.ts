import type { Database } from 'bun:sqlite';
import { asStorageError } from '../../model/storage-error.ts';
import type { Store } from '../ports.ts';
import { unsigned } from '../row-signer.ts';
import { nameInvoiceRows as nameInvoices2, nameStore } from '../rows/names.ts';
import { watchRows as watchRows2, watchStore } from '../rows/watches.ts';
import { budgetTable } from './budget-table.ts';
import { budgetRows, sqliteBudgets } from './budgets.ts';
import { clientRows } from './client-rows.ts';
import { sqliteClients } from './clients.ts';
import { sqliteConnectorState } from './connector-state.ts';
import { deliveryAttemptRows } from './delivery-attempts.ts';
import { fetchedInvoiceRows } from './fetched-invoices.ts';
import { idempotencyRows, sqliteIdempotency } from './idempotency.ts';
import { sqliteIdentity, storeCounter } from './identity.ts';
import { journalRows, sqliteJournal } from './journal.ts';
import { nameInvoiceRows } from './names.ts';
import { sqliteObservations } from './observations.ts';
import { openDatabase } from './open.ts';
import { sqliteOutbox } from './outbox.ts';
import { firstDamage } from './page-check.ts';
import { sqlitePaymentCache } from './payment-cache.ts';
import { sqliteDatabase, sqliteRows } from './rows.ts';
import { type SigningOptions, sqliteSigner } from './signing.ts';
import { releaseSpace } from './space.ts';
import { spendingRows } from './spending.ts';
import { spendRows, sqliteSpends } from './spends.ts';
import { watchRows } from './watches.ts';
import { sqliteWebhookEndpoints, webhookEndpointRows } from './webhook-endpoints.ts';
import { writeQueue } from './write-queue.ts';

export { openStoredRows } from './read-rows.ts';
export { firstDamage };

/**
 * Opens the store in a SQLite file, or in memory (`:memory:`). Throws StoreUnusable as {@link openDatabase} and
 * {@link sqliteSigner} do.
 */
export function openSqliteStore(
  path: string,
  signing: SigningOptions = { secretsKey: null },
): Store {
  const db = openDatabase(path);
  const signer = signerOf(db, signing);
  const queue = writeQueue(db);
  const journal = journalRows(db, signer);
  const budgetsTable = budgetTable(db, signer);
  const clients = clientRows(db, signer);
  const spending = spendingRows(db, signer, budgetsTable);
  const budgets = budgetRows(budgetsTable, clients, spending);
  const fetched = fetchedInvoiceRows(db, signer);
  const spends = spendRows(db, signer, fetched);
  const watches = watchRows(db);
  const nameInvoices = nameInvoiceRows(db);
  const endpoints = webhookEndpointRows(db, signer);
  const keys = idempotencyRows(db, signer);
  const counter = storeCounter(db);
  const rows = sqliteRows(db, signer);
  const shared = sqliteDatabase(queue, counter.advance);
  return {
    cache: readable(sqlitePaymentCache(db, queue, signer)),
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
        signer,
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
    watches: readable(watchStore(shared, rows, watchRows2(rows))),
    names: readable(nameStore(shared, rows, nameInvoices2(rows))),
    clients: readable(sqliteClients(db, queue, { clients, budgets, keys, counter })),
    outbox: readable(sqliteOutbox(db, queue, deliveryAttemptRows(db, signer), signer)),
    webhookEndpoints: readable(sqliteWebhookEndpoints(db, queue, endpoints)),
    idempotency: readable(sqliteIdempotency(db, queue, keys, signer)),
    budgets: readable(sqliteBudgets(budgets)),
    connectorState: readable(sqliteConnectorState(db, queue, signer)),
    identity: readable(sqliteIdentity(db, queue, counter, signer !== unsigned)),
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

/** Closes the database where it cannot be used. */
function signerOf(db: Database, signing: SigningOptions) {
  try {
    return sqliteSigner(db, signing);
  } catch (error) {
    db.close();
    throw error;
  }
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
