import { hostname } from 'node:os';
import { systemClock } from '../../lib/clock.ts';
import { sealer } from '../../lib/seal.ts';
import type { Store } from '../ports.ts';
import { postgresBudgets } from './budgets.ts';
import { postgresClients } from './clients.ts';
import { openConnections } from './connections.ts';
import { postgresConnectorState } from './connector-state.ts';
import { ownedDatabase } from './database.ts';
import { postgresIdempotency } from './idempotency.ts';
import { postgresIdentity } from './identity.ts';
import { postgresJournal } from './journal.ts';
import { postgresNames } from './names.ts';
import { postgresObservations } from './observations.ts';
import { postgresOutbox } from './outbox.ts';
import { takeOwnership } from './ownership.ts';
import { postgresPaymentCache } from './payment-cache.ts';
import { bringUpToDate, prepareSchema } from './schema.ts';
import { postgresSpends, spendRows } from './spends.ts';
import { whyUnusable } from './unusable.ts';
import { postgresWatches } from './watches.ts';
import { postgresWebhookEndpoints, webhookEndpointRows } from './webhook-endpoints.ts';

/** The length of the lease by which a process owns the database (docs/decisions.md 132). */
const LEASE_MS = 10_000;
/** Transactions that run at once. The other connections of the pool are for reads. */
const MOST_WRITES = 8;
const MOST_CONNECTIONS = 12;
/** What a store over PostgreSQL needs. */
export interface PostgresOptions {
  /** A URL as PostgreSQL's own programs take it. It may hold a password. */
  readonly url: string;
  /** 32 bytes, with which secrets are sealed (docs/decisions.md 134). */
  readonly secretsKey: Uint8Array;
  /** Called once, when another process has taken the database over. This process must end then. */
  readonly onLost: (message: string) => void;
  /** Milliseconds; for tests. */
  readonly leaseMs?: number;
}

/**
 * Opens the store in a PostgreSQL database, whose tables are in a schema of their own. One process owns the database at
 * a time. Throws StoreUnusable when another has it, when its schema is of a newer version, when it was sealed with
 * another key, and when it cannot be reached or used. No message holds a password.
 */
export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  const { url, leaseMs = LEASE_MS, onLost } = options;
  const pool = openConnections(url, MOST_CONNECTIONS);
  // The lease has a connection of its own, so that its renewal never waits behind other work.
  const leasing = openConnections(url, 1);
  const closeAll = () => Promise.all([pool, leasing].map((one) => one.close()));
  try {
    await prepareSchema(leasing.sql);
    const holder = describeProcess();
    const onSilent = () => {
      leasing.cut();
      pool.cut();
    };
    const ownership = await takeOwnership({
      connections: leasing,
      leaseMs,
      holder,
      onLost,
      onSilent,
    });
    try {
      await bringUpToDate(pool.sql, ownership.fence, MOST_WRITES);
      const db = ownedDatabase(pool, ownership, MOST_WRITES);
      const secrets = sealer(options.secretsKey);
      const spends = spendRows(secrets);
      const endpoints = webhookEndpointRows(secrets);
      return {
        cache: postgresPaymentCache(db),
        observations: postgresObservations(db, { spends, endpoints }),
        journal: postgresJournal(db),
        spends: postgresSpends(db, secrets, spends),
        watches: postgresWatches(db),
        names: postgresNames(db),
        clients: postgresClients(db, secrets),
        outbox: postgresOutbox(db, `${ownership.fence}`),
        webhookEndpoints: postgresWebhookEndpoints(db, secrets, endpoints),
        idempotency: postgresIdempotency(db, secrets),
        budgets: postgresBudgets(db),
        connectorState: postgresConnectorState(db, secrets),
        identity: await postgresIdentity(db, secrets),
        problem: ownership.problem,
        // PostgreSQL's own autovacuum gives space back.
        releaseSpace: async () => undefined,
        async close() {
          await db.close();
          await ownership.release();
          await closeAll();
        },
      };
    } catch (error) {
      await ownership.release();
      throw error;
    }
  } catch (error) {
    await closeAll();
    throw whyUnusable(error, url);
  }
}

function describeProcess(): string {
  const since = new Date(systemClock.now()).toISOString();
  return `the wallet-sidecar with process id ${process.pid} on ${hostname()}, started at ${since}`;
}
