import type { SQL } from 'bun';
import { StoreUnusable } from '../unusable.ts';
import { SCHEMA_VERSION, STEPS } from './migrations/index.ts';
import { withSettings } from './settings.ts';

/** The number of the lock under which schemas are made and changed. It is drawn at random, and ours alone. */
const SCHEMA_LOCK = 7_301_554_216_008_113n;

/**
 * Makes the schema where there is none. Throws {@link StoreUnusable} for one of a newer version. An older one is left
 * as it is, since another process may still be using it.
 */
export async function prepareSchema(sql: SQL): Promise<void> {
  await withSettings(sql, async (tx) => {
    await tx`SELECT pg_advisory_xact_lock(${SCHEMA_LOCK})`;
    const [found] = await tx<
      { there: boolean }[]
    >`SELECT to_regnamespace('wallet_sidecar') IS NOT NULL AS there`;
    // A user who may not make schemas can use one that an administrator has made.
    if (!found?.there) await tx`CREATE SCHEMA wallet_sidecar`;
    await requireNoneElsewhere(tx);
    await tx`CREATE TABLE IF NOT EXISTS wallet_sidecar.schema_version (one INT PRIMARY KEY CHECK (one = 1), version INT NOT NULL)`;
    const version = await versionOf(tx);
    requireKnownVersion(version);
    if (version === 0) await migrate(tx, 0);
  });
}

/**
 * Throws {@link StoreUnusable} for a database whose tables are in the schema `public`, where versions before put them
 * behind a pooler that had left out the schema. A new store would take the place of that one.
 */
async function requireNoneElsewhere(tx: SQL): Promise<void> {
  const [found] = await tx<{ elsewhere: boolean }[]>`
    SELECT to_regclass('wallet_sidecar.ownership_lease') IS NULL
      AND to_regclass('public.ownership_lease') IS NOT NULL AND to_regclass('public.commit_mark') IS NOT NULL AS elsewhere`;
  if (!found?.elsewhere) return;
  throw new StoreUnusable(
    'The tables of this database are in the schema public, where an earlier version put them behind a pooler: move them to the schema wallet_sidecar, as "Poolers" in docs/postgresql.md shows.',
  );
}

interface UpToDateOptions {
  readonly fence: bigint;
  readonly slots: number;
  /** Called within the transaction that has brought the schema up to date, with the version before. */
  readonly onUpgrade?: ((tx: SQL, from: number) => Promise<void>) | undefined;
}

/** Brings an older schema up to date, in one transaction, for the process that owns the database. */
export async function bringUpToDate(
  sql: SQL,
  { fence, slots, onUpgrade }: UpToDateOptions,
): Promise<void> {
  await withSettings(sql, async (tx) => {
    await tx`SELECT pg_advisory_xact_lock(${SCHEMA_LOCK})`;
    const [owner] =
      await tx`SELECT 1 FROM wallet_sidecar.ownership WHERE fence = ${fence} FOR SHARE`;
    if (owner === undefined) {
      throw new StoreUnusable(
        'Another sidecar has taken over the database meanwhile: start again.',
      );
    }
    const version = await versionOf(tx);
    requireKnownVersion(version);
    if (version < SCHEMA_VERSION) {
      await migrate(tx, version);
      await onUpgrade?.(tx, version);
    }
    await tx`INSERT INTO wallet_sidecar.commit_mark SELECT slot, '' FROM generate_series(0, ${slots - 1}::int) AS slot
      ON CONFLICT DO NOTHING`;
  });
}

/** Throws {@link StoreUnusable} for a schema of a newer version. */
export function requireKnownVersion(version: number): void {
  if (version <= SCHEMA_VERSION) return;
  throw new StoreUnusable(
    `The database was written by a newer version of wallet-sidecar (schema ${version}, this version knows ${SCHEMA_VERSION}): start that version, or use another database.`,
  );
}

async function versionOf(tx: SQL): Promise<number> {
  const [row] = await tx<{ version: number }[]>`SELECT version FROM wallet_sidecar.schema_version`;
  return row?.version ?? 0;
}

async function migrate(tx: SQL, from: number): Promise<void> {
  for (const step of STEPS.slice(from)) {
    if (typeof step === 'string') await tx.unsafe(step);
    else await step(tx);
  }
  await tx`INSERT INTO wallet_sidecar.schema_version VALUES (1, ${SCHEMA_VERSION})
    ON CONFLICT (one) DO UPDATE SET version = excluded.version`;
}
