import type { Store } from '../ports.ts';
import { budgetTable } from './budget-table.ts';
import { budgetRows, budgetStore } from './budgets.ts';
import { makerRows, makers } from './callers/makers.ts';
import { clientRows } from './client-rows.ts';
import { clientStore } from './clients.ts';
import { connectorState } from './connector-state.ts';
import { deliveryWriter } from './deliveries.ts';
import { deliveryAttemptRows } from './delivery-attempts.ts';
import { fetchedInvoiceRows } from './fetched-invoices.ts';
import { idempotencyRows, idempotencyStore } from './idempotency.ts';
import { issuedOfferRows, issuedOffers } from './issued-offers.ts';
import { type JournalRows, journalRows, paymentJournal } from './journal.ts';
import { nameInvoiceRows, nameStore } from './names.ts';
import { observationStore } from './observations.ts';
import type { ObservedRowsOf } from './observed-rows.ts';
import { outboxStore } from './outbox.ts';
import { type CacheWriter, paymentCache } from './payment-cache.ts';
import { refundRows } from './payments/refunds.ts';
import type { RowDatabase, Rows } from './rows.ts';
import { spendingRows } from './spending.ts';
import { type SpendRows, spendRows, spendStore } from './spends.ts';
import { watchRows, watchStore } from './watches.ts';
import { webhookEndpointRows, webhookEndpointStore } from './webhook-endpoints.ts';

/** What an engine does in its own way, for the sake of its speed. */
interface OwnWays {
  /** SQLite reads a row when a rule asks for it, and PostgreSQL all rows of a batch at once. */
  readonly observed: (
    rows: Rows,
    parts: { readonly journal: JournalRows; readonly spends: SpendRows },
  ) => ObservedRowsOf;
  readonly cacheWriter: (rows: Rows) => CacheWriter;
  /** The name of this process in leases. */
  readonly owner: string;
}

type RowPorts = Omit<Store, 'identity' | 'problem' | 'releaseSpace' | 'close'>;

/** Prepares the statements of every table and returns the ports over them. */
export function rowPorts(db: RowDatabase, rows: Rows, own: OwnWays): RowPorts {
  const table = budgetTable(rows);
  const clients = clientRows(rows);
  const spending = spendingRows(rows, table);
  const refunds = refundRows(rows);
  const budgets = budgetRows(table, clients, spending);
  const keys = idempotencyRows(rows);
  const journal = journalRows(rows);
  const spends = spendRows(rows);
  const fetched = fetchedInvoiceRows(rows);
  const watches = watchRows(rows);
  const nameInvoices = nameInvoiceRows(rows);
  const offers = issuedOfferRows(rows);
  const made = makerRows(rows);
  const endpoints = webhookEndpointRows(rows);
  const putDeliveries = deliveryWriter(rows);
  const reserved = { spending, refunds };
  const paid = { spends, fetched, journal, watches, ...reserved, keys, endpoints, putDeliveries };
  const observed = own.observed(rows, { journal, spends });
  return {
    observations: observationStore(db, rows, { ...paid, observed, nameInvoices, offers }),
    journal: paymentJournal(db, rows, journal),
    spends: spendStore(db, rows, { ...paid, budgets, clients, made }),
    watches: watchStore(db, rows, watches),
    offers: issuedOffers(db, offers),
    makers: makers(db, made),
    names: nameStore(db, rows, nameInvoices),
    clients: clientStore(db, rows, { clients, budgets, keys }),
    webhookEndpoints: webhookEndpointStore(db, rows, endpoints),
    idempotency: idempotencyStore(db, rows, keys),
    budgets: budgetStore(db, budgets),
    connectorState: connectorState(db, rows),
    cache: paymentCache(db, rows, own.cacheWriter(rows), refunds),
    outbox: outboxStore(db, rows, { attempts: deliveryAttemptRows(rows), owner: own.owner }),
  };
}
