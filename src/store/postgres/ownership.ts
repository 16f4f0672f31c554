import type { SQL } from 'bun';
import { elapsedMs, systemClock } from '../../lib/clock.ts';
import { postgresFailure } from '../../lib/databases/postgres-failure.ts';
import { sleep } from '../../lib/sleep.ts';
import { ApiError, stoppingError } from '../../model/errors.ts';
import { StoreUnusable } from '../unusable.ts';
import { type Connections, unlessSilent } from './connections.ts';
import { withSettings } from './settings.ts';

/** The lease by which one process owns the database (docs/decisions.md 136). */
export interface Ownership {
  /** Grows each time the database is taken over. Every transaction that writes checks it. */
  readonly fence: bigint;
  /**
   * Resolves when no other process can have taken the database over. Throws error 8 when one has, or when the process
   * ends first. It asks the database only when the lease was not renewed in time.
   */
  confirm(): Promise<void>;
  /** Called when a transaction finds another fencing number. Returns the error for its caller. */
  lost(): ApiError;
  /** Returns a sentence for health while the database cannot be reached; null while it can. */
  problem(): string | null;
  /** Ends the lease, so that another process need not wait for its end. */
  release(): Promise<void>;
}

interface OwnershipOptions {
  readonly connections: Connections;
  readonly leaseMs: number;
  readonly holder: string;
  /** Called once, when another process has taken the database over. This process must end then. */
  readonly onLost: (message: string) => void;
  /** Called when the database has not answered for long. It must cut all connections. */
  readonly onSilent: () => void;
  /** Waits while another process has the lease; null where the process then does not start. */
  readonly untilFree: (() => Promise<void>) | null;
}

interface Lease {
  readonly fence: bigint;
  readonly renewals: bigint;
  readonly held: boolean;
  readonly holder: string;
}

const LOST =
  'Another sidecar has taken over the database, because this one did not renew its lease in time: this one ends.';
const AWAY =
  'The database cannot be reached, so requests are answered with error 8 until it can: check that PostgreSQL runs.';

/** The lease is renewed this often within its length. */
const RENEWALS = 5;
/** Taking a free lease waits for transactions of the process before, which the server ends after 5 seconds. */
const MOST_TAKING_MS = 7000;

/**
 * Takes the database for this process. Waits for the end of a lease that is not renewed, since its process is gone.
 * Unless `untilFree` is given, it throws {@link StoreUnusable} as soon as the lease is renewed by another process.
 */
export async function takeOwnership(options: OwnershipOptions): Promise<Ownership> {
  const { leaseMs, untilFree } = options;
  let seen: Lease | null = null;
  for (;;) {
    await untilFree?.();
    const startedAt = moment();
    const lease = await tryToTake(options);
    if (lease === null) {
      await sleep(leaseMs / RENEWALS / 2);
      continue;
    }
    if (!lease.held) return heldOwnership(options, lease.fence, startedAt);
    if (untilFree !== null) continue;
    if (seen !== null && (lease.fence !== seen.fence || lease.renewals !== seen.renewals)) {
      throw new StoreUnusable(
        `The database is in use by ${lease.holder}: stop that one, or use another database. One sidecar uses a database at a time; several share one with --peer-url.`,
      );
    }
    seen ??= lease;
    await sleep(leaseMs / RENEWALS / 2);
  }
}

/** Takes the lease where it is free. Returns null when the database cannot be reached by a process that stands by. */
async function tryToTake(options: OwnershipOptions): Promise<Lease | null> {
  const { connections, untilFree, onSilent } = options;
  const take = () => withSettings(connections.sql, (tx) => takeFree(tx, options));
  if (untilFree === null) return take();
  try {
    return await unlessSilent(take, { ms: MOST_TAKING_MS, onSilent });
  } catch (error) {
    if (postgresFailure(error) === null) throw error;
    return null;
  }
}

/** Takes the lease where it is free. Returns it with the new fencing number, or as another process holds it. */
async function takeFree(
  tx: SQL,
  { leaseMs, holder }: Pick<OwnershipOptions, 'leaseMs' | 'holder'>,
): Promise<Lease> {
  const [lease] = await tx<Lease[]>`
    SELECT l.fence, l.renewals, l.expires_at > clock_timestamp() AS held, o.holder
    FROM wallet_sidecar.ownership_lease l, wallet_sidecar.ownership o FOR UPDATE OF l`;
  if (lease === undefined) {
    throw new StoreUnusable('The database has lost the row that says whose it is.');
  }
  if (lease.held) return lease;
  const fence = lease.fence + 1n;
  await tx`UPDATE wallet_sidecar.ownership_lease SET fence = ${fence}, renewals = 0,
    expires_at = clock_timestamp() + ${leaseMs}::float8 * interval '1 millisecond'`;
  // It waits for the transactions of the process before, which have locked this row.
  await tx`UPDATE wallet_sidecar.ownership SET fence = ${fence}, holder = ${holder}`;
  return { ...lease, fence };
}

function heldOwnership(options: OwnershipOptions, fence: bigint, takenAt: Moment): Ownership {
  const { connections, leaseMs, onLost, onSilent } = options;
  const ending = new AbortController();
  let renewedAt = takenAt;
  let away = false;
  let isLost = false;

  function lost(): ApiError {
    if (!isLost && !ending.signal.aborted) onLost(LOST);
    isLost = true;
    return new ApiError('overCapacity', LOST);
  }

  /** Renews the lease. Throws when another process has it, and when the database cannot be reached. */
  async function renew(): Promise<void> {
    const startedAt = moment();
    // A renewal is one short transaction, so a database that does not answer it answers nothing. When this process
    // ends, it is not waited for.
    const { count } = await unlessSilent(
      () =>
        withSettings(
          connections.sql,
          (tx) => tx`UPDATE wallet_sidecar.ownership_lease SET renewals = renewals + 1,
              expires_at = clock_timestamp() + ${leaseMs}::float8 * interval '1 millisecond'
            WHERE fence = ${fence}`,
        ),
      { ms: leaseMs / 2, onSilent, ending: ending.signal },
    );
    if (count === 0) throw lost();
    renewedAt = startedAt;
  }

  async function keepRenewing(): Promise<void> {
    while (!ending.signal.aborted && !isLost) {
      await sleep(leaseMs / RENEWALS, ending.signal);
      if (ending.signal.aborted) return;
      await renew().then(
        () => {
          away = false;
        },
        (error) => {
          away = postgresFailure(error) !== null;
        },
      );
    }
  }
  const renewing = keepRenewing();

  return {
    fence,
    async confirm() {
      while (isLost || sinceMs(renewedAt) >= leaseMs) {
        if (isLost) throw lost();
        if (ending.signal.aborted) {
          throw stoppingError();
        }
        await renew().catch(() => sleep(leaseMs / RENEWALS / 2, ending.signal));
      }
    },
    lost,
    problem: () => (away ? AWAY : null),
    async release() {
      ending.abort();
      await renewing;
      // A database that is away forgets the lease by itself.
      await connections.sql`UPDATE wallet_sidecar.ownership_lease SET expires_at = '-infinity' WHERE fence = ${fence}`.catch(
        () => undefined,
      );
    },
  };
}

interface Moment {
  readonly wallMs: number;
  readonly elapsedMs: number;
}

function moment(): Moment {
  return { wallMs: systemClock.now(), elapsedMs: elapsedMs() };
}

/** The wall clock counts too, since the other one may stand still while the machine sleeps. */
function sinceMs(then: Moment): number {
  const now = moment();
  return Math.max(now.wallMs - then.wallMs, now.elapsedMs - then.elapsedMs);
}
