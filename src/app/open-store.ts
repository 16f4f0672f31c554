import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/sources.ts';
import type { Store } from '../store/ports.ts';
import type { PostgresOptions, PostgresStore } from '../store/postgres/index.ts';
import { openSqliteStore } from '../store/sqlite/index.ts';
import { STORE_FILE } from './data-files.ts';
import { requireNotMoved, requireWhole } from './moved-data.ts';
import { defaultKind } from './open-nodes.ts';

/** The store, and this process's part among the sidecars of its database; null where it is a file. */
export interface OpenedStore {
  readonly store: Store;
  readonly leader: Pick<PostgresStore, 'fence' | 'tell'> | null;
}

type OpenStoreOptions = Pick<
  PostgresOptions,
  'onLost' | 'standingBy' | 'isMarkedSigned' | 'onUnfit'
>;

/**
 * Opens the store that the configuration names: the PostgreSQL database, or the file in the data directory. `onLost` is
 * called when another process has taken the database over, and this one must end. Throws StoreUnusable.
 */
export async function openStore(
  config: Config,
  { onLost, standingBy = null, ...signing }: OpenStoreOptions,
): Promise<OpenedStore> {
  const { database, dataDir, secretsKey } = config;
  if (database === null) {
    const path = dataDir === ':memory:' ? ':memory:' : join(dataDir, STORE_FILE);
    return { store: await openSqliteStore(path, { secretsKey, ...signing }), leader: null };
  }
  const { openPostgresStore } = await import('../store/postgres/index.ts');
  const store = await openPostgresStore({ ...database, ...signing, onLost, standingBy });
  return { store, leader: store };
}

/**
 * Throws {@link ConfigError} where a PostgreSQL database does not fit the rest of the configuration: with the sandbox,
 * which is one process's world, and beside a database file, whose unfinished payments would be forgotten. So it does
 * where there is none, and the data directory was moved to one or is only restored in part.
 */
export function requireUsableDatabase(config: Config): void {
  const { database, dataDir } = config;
  if (database === null) {
    if (dataDir === ':memory:') return;
    requireNotMoved(dataDir);
    requireWhole(dataDir);
    return;
  }
  requireRealNode(config);
  const file = join(dataDir, STORE_FILE);
  if (dataDir !== ':memory:' && existsSync(file)) {
    throw new ConfigError(
      `${file} holds what this sidecar stored before, and --database-url would leave it out, payments that are not over too: where it is new, from a start without --database-url by mistake, move the files that begin with that name away; otherwise move it with "wallet-sidecar migrate sqlite-to-postgres", use another --data-dir, or leave --database-url out.`,
    );
  }
}

/** Throws {@link ConfigError} where the sandbox would be used beside a PostgreSQL database. */
export function requireRealNode(config: Config): void {
  if (config.database === null || defaultKind(config) !== 'sandbox') return;
  throw new ConfigError(
    'The sandbox keeps its world in the data directory, so it does not work with --database-url: leave --database-url out, or use the credentials of a real node.',
  );
}
