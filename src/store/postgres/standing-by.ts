import type { SQL } from 'bun';
import { postgresFailure } from '../../lib/postgres-failure.ts';
import { SealBroken, type Sealer } from '../../lib/seal.ts';
import { sleep } from '../../lib/sleep.ts';
import { type Connections, unlessSilent } from './connections.ts';
import { requireSameKey } from './identity.ts';
import { requireKnownVersion } from './schema.ts';
import { numberOf } from './values.ts';

/** What the process that leads tells the others of its database (docs/decisions.md 139). */
export interface LeaderNotice {
  /** The URL at which the others reach it; null where it was started without one. */
  readonly url: string | null;
  /** Whether its store is known to be the newest, so that their markers may follow it. */
  readonly isTrusted: boolean;
}

/** What a process that stands by sees of the one that leads. */
export interface SeenLeader {
  /** The fencing number. */
  readonly fence: string;
  /** Null until it has told. */
  readonly notice: LeaderNotice | null;
  /** The store's id and counter. */
  readonly store: { readonly storeId: string; readonly count: number };
}

/** How a process stands by until the lease is free. */
export interface StandingBy {
  readonly sealer: Sealer;
  /** Called after each look at the lease that another process has. */
  readonly onLook: (leader: SeenLeader) => void;
  /** Called when the database cannot be reached, and when it can be again. */
  readonly onAway: (isAway: boolean) => void;
  /** Aborts when the process is told to stop: it does not take over any more. */
  readonly ending: AbortSignal;
}

interface Row {
  readonly fence: bigint;
  readonly held: boolean;
  readonly sealed_peer: string | null;
  readonly version: number;
  readonly id: string | null;
  readonly count: bigint | null;
  readonly sealed_secret: string | null;
}

/** How often the lease is looked at. */
const LOOK_MS = 250;
/** After this time without an answer, the connection is opened again. */
const SILENT_MS = 3000;

/**
 * Returns a function that resolves when the lease is free. Meanwhile a database that cannot be reached is waited for.
 * It throws StoreUnusable when the schema is of a newer version, or the database was sealed with another key, and the
 * reason of `ending` when that aborts.
 */
export function standUntilFree(
  connections: Connections,
  { sealer, onLook, onAway, ending }: StandingBy,
): () => Promise<void> {
  return async () => {
    for (;;) {
      const row = await look(connections).catch((error) => {
        if (postgresFailure(error) === null) throw error;
        return null;
      });
      ending.throwIfAborted();
      onAway(row === null);
      if (row !== null) {
        requireKnownVersion(row.version);
        if (row.sealed_secret !== null) requireSameKey(row.sealed_secret, sealer);
        if (!row.held) return;
        const store = { storeId: row.id ?? '', count: numberOf(row.count ?? 0n) };
        const notice = row.sealed_peer && noticeIn(row.sealed_peer, sealer, row.fence);
        onLook({ fence: `${row.fence}`, notice: notice || null, store });
      }
      await sleep(LOOK_MS, ending);
    }
  };
}

/** Tells the others where this process is, as long as it leads. */
export async function writeNotice(
  tx: SQL,
  { sealer, fence }: { readonly sealer: Sealer; readonly fence: bigint },
  notice: LeaderNotice,
): Promise<void> {
  const sealed = sealer.seal(JSON.stringify(notice), placeOf(fence));
  await tx`UPDATE ownership SET sealed_peer = ${sealed} WHERE fence = ${fence}`;
}

async function look(connections: Connections): Promise<Row | null> {
  // An older version may not have added the column yet.
  const [row] = await unlessSilent(
    () => connections.sql<Row[]>`
      SELECT l.fence, l.expires_at > clock_timestamp() AS held, to_jsonb(o) ->> 'sealed_peer' AS sealed_peer,
        (SELECT version FROM schema_version) AS version, m.id, m.count, m.sealed_secret
      FROM ownership_lease l CROSS JOIN ownership o LEFT JOIN meta m ON true`,
    { ms: SILENT_MS, onSilent: connections.cut },
  );
  return row ?? null;
}

/**
 * Returns what the process with that fencing number told; null when it was another one, or somebody without the key.
 */
function noticeIn(sealed: string, sealer: Sealer, fence: bigint): LeaderNotice | null {
  try {
    return JSON.parse(sealer.open(sealed, placeOf(fence))) as LeaderNotice;
  } catch (error) {
    if (error instanceof SealBroken) return null;
    throw error;
  }
}

/** The fencing number belongs to the place, so that nobody can put back what an earlier process told. */
function placeOf(fence: bigint) {
  return { table: 'ownership', column: 'sealed_peer', row: [`${fence}`] };
}
