import { sealer } from '../../lib/seal.ts';
import type { Store } from '../ports.ts';
import { postgresBudgets } from './budgets.ts';
import { postgresClients } from './clients.ts';
import { postgresConnectorState } from './connector-state.ts';
import { ownedDatabase } from './database.ts';
import { postgresIdempotency } from './idempotency.ts';
import { postgresIdentity } from './identity.ts';
import { postgresJournal } from './journal.ts';
import { postgresNames } from './names.ts';
import { postgresObservations } from './observations.ts';
import { MOST_WRITES, type OpenOptions, openOwned } from './open.ts';
import { postgresOutbox } from './outbox.ts';
import { postgresPaymentCache } from './payment-cache.ts';
import { seenAdvances } from './seen-advances.ts';
import { postgresSpends, spendRows } from './spends.ts';
import { keepingDistrust, type LeaderNotice, type StandingBy, writeNotice } from './standing-by.ts';
import { whyUnusable } from './unusable.ts';
import { postgresWatches } from './watches.ts';
import { postgresWebhookEndpoints, webhookEndpointRows } from './webhook-endpoints.ts';

export { copyIntoPostgres } from './copy.ts';
export type { SeenLeader } from './standing-by.ts';
export { databaseName } from './unusable.ts';

/** What a store over PostgreSQL needs. */
export interface PostgresOptions
  extends Omit<OpenOptions, 'standingBy' | 'onOpened' | 'onUpgrade'> {
  /** 32 bytes, with which secrets are sealed (docs/decisions.md 138). */
  readonly secretsKey: Uint8Array;
  readonly standingBy?: Omit<StandingBy, 'sealer'> | null;
}

/** A store over PostgreSQL, whose database this process owns. */
export interface PostgresStore extends Store {
  /** The fencing number, in decimal. */
  readonly fence: string;
  /** Tells the processes that stand by for this database (docs/decisions.md 139). */
  tell(notice: LeaderNotice): Promise<void>;
}

/**
 * Opens the store in a PostgreSQL database, whose tables are in a schema of their own. One process owns the database at
 * a time. Throws StoreUnusable as {@link openOwned} does, and when the database was sealed with another key.
 */
export async function openPostgresStore(options: PostgresOptions): Promise<PostgresStore> {
  const secrets = sealer(options.secretsKey);
  const seen = seenAdvances();
  const looks: (() => void)[] = [];
  const { connections, ownership, fence, close } = await openOwned({
    ...options,
    onUpgrade: (fence) => keepingDistrust(secrets, fence),
    onOpened() {
      for (const look of looks) look();
    },
    standingBy: options.standingBy ? { ...options.standingBy, sealer: secrets } : null,
  });
  try {
    const db = ownedDatabase(connections, ownership, {
      mostWrites: MOST_WRITES,
      onAdvance: seen.add,
    });
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
      outbox: postgresOutbox(db, `${fence}`),
      webhookEndpoints: postgresWebhookEndpoints(db, secrets, endpoints),
      idempotency: postgresIdempotency(db, secrets),
      budgets: postgresBudgets(db),
      connectorState: postgresConnectorState(db, secrets),
      identity: await postgresIdentity(db, {
        sealer: secrets,
        seen,
        onDoubt: (look) => void looks.push(look),
      }),
      fence: `${fence}`,
      tell: (notice) => db.write(null, (tx) => writeNotice(tx, { sealer: secrets, fence }, notice)),
      problem: ownership.problem,
      // PostgreSQL's own autovacuum gives space back.
      releaseSpace: async () => undefined,
      async close() {
        await db.close();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw whyUnusable(error, options.url);
  }
}
