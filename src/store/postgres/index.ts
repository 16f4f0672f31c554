import type { SQL } from 'bun';
import { sealer } from '../../lib/secrets/seal.ts';
import type { Store } from '../ports.ts';
import { rowSigner, type UnfitRow } from '../row-signer.ts';
import { rowPorts } from '../rows/ports.ts';
import { SIGNED_BEFORE, StoreUnusable } from '../unusable.ts';
import { postgresCacheWriter } from './cache-writer.ts';
import { ownedDatabase } from './database.ts';
import { postgresIdentity } from './identity.ts';
import { postgresObserved } from './observed-rows.ts';
import { MOST_WRITES, type OpenOptions, openOwned } from './open.ts';
import { postgresDatabase, postgresRows } from './rows.ts';
import { seenAdvances } from './seen-advances.ts';
import { signAllRows } from './signed-rows.ts';
import { keepingDistrust, type LeaderNotice, type StandingBy, writeNotice } from './standing-by.ts';
import { whyUnusable } from './unusable.ts';

export { copyIntoPostgres } from './copy.ts';
export type { SeenLeader } from './standing-by.ts';
export { databaseName } from './unusable.ts';

/** What a store over PostgreSQL needs. */
export interface PostgresOptions
  extends Omit<OpenOptions, 'standingBy' | 'onOpened' | 'onUpgrade'> {
  /** 32 bytes, with which secrets are sealed and rows are signed (docs/decisions.md 138, 171). */
  readonly secretsKey: Uint8Array;
  /** Whether the marker, outside the database, says that its rows are signed. */
  readonly isMarkedSigned?: boolean;
  /** Called for each row that is not as it was written. */
  readonly onUnfit?: (row: UnfitRow) => void;
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
    onUpgrade: (fence) => {
      const keep = keepingDistrust(secrets, fence);
      return async (tx, from) => {
        await keep(tx, from);
        await signOnce(tx, from, options);
      };
    },
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
    const identity = await postgresIdentity(db, {
      sealer: secrets,
      seen,
      onDoubt: (look) => void looks.push(look),
    });
    const signer = rowSigner(options.secretsKey, identity.id, options.onUnfit ?? (() => undefined));
    return {
      ...rowPorts(postgresDatabase(db), postgresRows(secrets, signer), {
        observed: postgresObserved,
        cacheWriter: postgresCacheWriter,
        owner: `${fence}`,
      }),
      identity,
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

/** Signs every row of a database without MACs. Throws {@link StoreUnusable} where its marker says they had. */
async function signOnce(
  tx: SQL,
  from: number,
  { secretsKey, isMarkedSigned = false, onUnfit = () => undefined }: PostgresOptions,
): Promise<void> {
  if (from >= FIRST_SIGNED) return;
  const [meta] = await tx<{ id: string }[]>`SELECT id FROM wallet_sidecar.meta`;
  // A database in which no process has made a store yet has no rows.
  if (!meta) return;
  if (isMarkedSigned) throw new StoreUnusable(SIGNED_BEFORE);
  await signAllRows(tx, sealer(secretsKey), rowSigner(secretsKey, meta.id, onUnfit));
}

/** The version of the schema whose rows are signed. */
const FIRST_SIGNED = 7;
