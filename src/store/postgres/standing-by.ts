import type { SQL } from 'bun';
import { postgresFailure } from '../../lib/databases/postgres-failure.ts';
import { SealBroken, type Sealer } from '../../lib/secrets/seal.ts';
import { sleep } from '../../lib/sleep.ts';
import { lineageIn } from '../lineage.ts';
import type { Advance, StoreStanding } from '../ports.ts';
import { type Connections, unlessSilent } from './connections.ts';
import { requireSameKey, standingIn } from './identity.ts';
import { requireKnownVersion } from './schema.ts';
import { withSettings } from './settings.ts';
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
  readonly fence: string;
  /** Null until it has told. */
  readonly notice: LeaderNotice | null;
  readonly store: { readonly storeId: string } & StoreStanding;
}

/** How a process stands by until the lease is free. */
export interface StandingBy {
  readonly sealer: Sealer;
  /** What the marker of this process holds, with which the store is compared; null while it holds nothing. */
  readonly marked: () => Advance | null;
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
  readonly sealed_secret: string | null;
}

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
  { sealer, marked, onLook, onAway, ending }: StandingBy,
): () => Promise<void> {
  return async () => {
    for (;;) {
      const seen = await look(connections, marked()).catch((error) => {
        if (postgresFailure(error) === null) throw error;
        return null;
      });
      ending.throwIfAborted();
      onAway(seen === null);
      if (seen !== null) {
        const { row, standing } = seen;
        requireKnownVersion(row.version);
        if (row.sealed_secret !== null) requireSameKey(row.sealed_secret, sealer);
        if (!row.held) return;
        const store = { storeId: row.id ?? '', ...standing };
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
  await tx`UPDATE wallet_sidecar.ownership SET sealed_peer = ${sealed} WHERE fence = ${fence}`;
}

interface Look {
  readonly row: Row;
  readonly standing: StoreStanding;
}

function look(connections: Connections, marked: Advance | null): Promise<Look | null> {
  const compared = marked === null ? [] : [marked];
  const read = async (tx: SQL): Promise<Look | null> => {
    // An older version may not have added the column yet.
    const [row] = await tx<Row[]>`
      SELECT l.fence, l.expires_at > clock_timestamp() AS held, to_jsonb(o) ->> 'sealed_peer' AS sealed_peer,
        (SELECT version FROM wallet_sidecar.schema_version) AS version, m.id, m.sealed_secret
      FROM wallet_sidecar.ownership_lease l CROSS JOIN wallet_sidecar.ownership o LEFT JOIN wallet_sidecar.meta m ON true`;
    if (row === undefined) return null;
    if (row.id === null) return { row, standing: UNUSED };
    const hasWords = row.version >= FIRST_WITH_WORDS;
    const standing = await (hasWords ? standingIn(tx, compared) : countIn(tx, compared));
    return { row, standing };
  };
  return unlessSilent(() => withSettings(connections.sql, read), {
    ms: SILENT_MS,
    onSilent: connections.cut,
  });
}

/** The version of the schema that has a word for each advance. */
const FIRST_WITH_WORDS = 6;
/** Of a database in which no process has made a store yet. */
const UNUSED: StoreStanding = {
  newest: { count: 0, word: null },
  lineage: 'same',
  isUnconfirmed: false,
};

/** How a store whose schema is older stands, which a process of an older version leads. */
async function countIn(tx: SQL, compared: readonly Advance[]): Promise<StoreStanding> {
  const [row] = await tx<{ count: bigint }[]>`SELECT count FROM wallet_sidecar.meta`;
  const newest = { count: numberOf(row?.count ?? 0n), word: null };
  const lineage = lineageIn(compared, { newest, confirmedAt: 0, wordAt: () => null });
  return { newest, lineage, isUnconfirmed: false };
}

/** What the process of that fencing number told; null when it was another, or one without the key. */
function noticeIn(sealed: string, sealer: Sealer, fence: bigint): LeaderNotice | null {
  try {
    return JSON.parse(sealer.open(sealed, placeOf(fence))) as LeaderNotice;
  } catch (error) {
    if (error instanceof SealBroken) return null;
    throw error;
  }
}

/**
 * Returns what is done after an upgrade: a store that the process before did not trust is not trusted. Versions before
 * {@link FIRST_WITH_WORDS} kept that in the notice alone.
 */
export function keepingDistrust(sealer: Sealer, fence: bigint) {
  return async (tx: SQL, from: number): Promise<void> => {
    if (from >= FIRST_WITH_WORDS) return;
    const [row] = await tx<{ sealed_peer: string | null }[]>`
      SELECT sealed_peer FROM wallet_sidecar.ownership`;
    const notice = row?.sealed_peer ? noticeIn(row.sealed_peer, sealer, fence - 1n) : null;
    if (notice?.isTrusted === false) {
      await tx`UPDATE wallet_sidecar.meta SET unconfirmed = 0`;
    }
  };
}

/** The fencing number belongs to the place, so that nobody can put back what an earlier process told. */
function placeOf(fence: bigint) {
  return { table: 'ownership', column: 'sealed_peer', row: [`${fence}`] };
}
