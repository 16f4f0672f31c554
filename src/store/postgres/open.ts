import { hostname } from 'node:os';
import type { SQL } from 'bun';
import { systemClock } from '../../lib/clock.ts';
import { type Connections, openConnections } from './connections.ts';
import { type Ownership, takeOwnership } from './ownership.ts';
import { bringUpToDate, prepareSchema } from './schema.ts';
import { requireOwnSessions } from './settings.ts';
import { type StandingBy, standUntilFree } from './standing-by.ts';
import { whyUnusable } from './unusable.ts';

/** The usual length of the lease by which a process owns the database (docs/decisions.md 136). */
const LEASE_MS = 10_000;
/** Transactions that run at once. */
export const MOST_WRITES = 8;
/** Connections of the pool. Those that no transaction uses are for reads. */
export const MOST_CONNECTIONS = 12;

/** How a database is opened. */
export interface OpenOptions {
  /** A URL as PostgreSQL's own programs take it. It may hold a password. */
  readonly url: string;
  /** Called once, when another process has taken the database over. This process must end then. */
  readonly onLost: (message: string) => void;
  /** The length of the lease in milliseconds. */
  readonly leaseMs?: number;
  readonly onOpened?: () => void;
  /** Returns what is done, for the process with that fencing number, when the schema was brought up to date. */
  readonly onUpgrade?: (fence: bigint) => (tx: SQL, from: number) => Promise<void>;
  /** How this process waits while another one has the database; without it, it does not start then. */
  readonly standingBy?: StandingBy | null;
}

interface OwnedConnections {
  readonly connections: Connections;
  readonly ownership: Ownership;
  readonly fence: bigint;
  close(): Promise<void>;
}

/**
 * Takes a database for this process and brings its schema up to date. Throws StoreUnusable when another process has it,
 * when its schema is of a newer version, and when it cannot be reached or used. No message holds a password.
 */
export async function openOwned(options: OpenOptions): Promise<OwnedConnections> {
  const { url, leaseMs = LEASE_MS, onLost, onOpened, onUpgrade, standingBy = null } = options;
  const pool = openConnections(url, MOST_CONNECTIONS, onOpened);
  // The lease has a connection of its own, so that its renewal never waits behind other work.
  const leasing = openConnections(url, 1, onOpened);
  const closeAll = () => Promise.all([pool, leasing].map((one) => one.close()));
  try {
    await requireSessions(url);
    await prepareSchema(leasing.sql);
    const ownership = await takeOwnership({
      connections: leasing,
      leaseMs,
      holder: describeProcess(),
      onLost,
      untilFree: standingBy && standUntilFree(leasing, standingBy),
      onSilent() {
        leasing.cut();
        pool.cut();
      },
    });
    const { fence } = ownership;
    const close = async () => {
      await ownership.release();
      await closeAll();
    };
    try {
      const slots = MOST_WRITES;
      await bringUpToDate(pool.sql, { fence, slots, onUpgrade: onUpgrade?.(fence) });
    } catch (error) {
      await ownership.release();
      throw error;
    }
    return { connections: pool, ownership, fence, close };
  } catch (error) {
    await closeAll();
    throw whyUnusable(error, url);
  }
}

/** Runs `work` on a database that this process owns meanwhile. Throws as {@link openOwned} does. */
export async function withOwnedDatabase<T>(
  options: OpenOptions,
  work: (owned: OwnedConnections) => Promise<T>,
): Promise<T> {
  const owned = await openOwned(options);
  try {
    return await work(owned);
  } catch (error) {
    throw whyUnusable(error, options.url);
  } finally {
    await owned.close();
  }
}

/** The connections for it are closed again, since a process that stands by needs one alone. */
async function requireSessions(url: string): Promise<void> {
  const trial = openConnections(url, 2);
  try {
    await requireOwnSessions(trial.sql);
  } finally {
    await trial.close();
  }
}

function describeProcess(): string {
  const since = new Date(systemClock.now()).toISOString();
  return `the wallet-sidecar with process id ${process.pid} on ${hostname()}, started at ${since}`;
}
