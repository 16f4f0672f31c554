import { base64, hex } from '@scure/base';
import { formatAmountMsat, MSAT_PER_SAT } from '../../../model/amount.ts';
import { type ApiError, isApiError, refused } from '../../../model/errors.ts';
import type { SignedSend } from '../../node.ts';
import { MOST_LIST_BYTES } from '../../remote/calls/calls.ts';
import { isMissingAtLnd } from '../words/refusal.ts';
import { anyShape, type LndLease, leasesShape } from '../words/wire.ts';
import type { LndRest } from './rest.ts';
import { unconfirmedTransactions } from './transactions.ts';
import type { LndOwned } from './wallet.ts';

/** Seconds after which a lock on a coin ends unless it is renewed. */
export const LOCK_SECS = 600;

type Lock = SignedSend['locks'][number];

/** A lock that LND lists. */
export interface LockedCoin extends Lock {
  readonly amountSat: bigint;
  /** When the lock ends, in milliseconds since the epoch. */
  readonly untilMs: number;
}

/** Returns a lease of LND in the form in which a signed send keeps it. */
export function lockOf({ id, outpoint }: LndLease): Lock {
  return { id, outpoint: `${outpoint.txid_str}:${outpoint.output_index}` };
}

/** Locks a coin, or extends its lock. Throws `refused` when it is locked under another id. */
export async function lease(owner: LndRest, lock: Lock): Promise<void> {
  await owner.post(
    '/v2/wallet/utxos/lease',
    { ...requestOf(lock), expiration_seconds: `${LOCK_SECS}` },
    anyShape,
    { harmlessTwice: true },
  );
}

/** Releases the locks. Coins that LND does not have locked are skipped. */
export async function releaseAll(owner: LndRest, locks: readonly Lock[]): Promise<void> {
  for (const lock of locks) {
    try {
      await owner.post('/v2/wallet/utxos/release', requestOf(lock), anyShape, {
        harmlessTwice: true,
      });
    } catch (error) {
      if (!isApiError(error, 'refused', 'notFound')) throw error;
    }
  }
}

/** {@link releaseAll} for coins that nobody needs; where it fails, they are looked for later. */
export async function giveBack(
  { owner, wallet: { coinLocks } }: LndOwned,
  locks: readonly Lock[],
): Promise<void> {
  await releaseAll(owner, locks).catch((error: unknown) => {
    if (!isApiError(error)) throw error;
    coinLocks.lost();
  });
}

/** Returns every lock on a coin, also those of other programs, and of coins that an unconfirmed transaction spends. */
export async function readAllLeases(owner: LndRest): Promise<readonly LockedCoin[]> {
  const { locked_utxos } = await owner.post('/v2/wallet/utxos/leases', {}, leasesShape, {
    harmlessTwice: true,
    mostBytes: MOST_LIST_BYTES,
  });
  return locked_utxos.map((one) => ({
    ...lockOf(one),
    amountSat: one.value,
    untilMs: one.expiration * 1000,
  }));
}

/** {@link readAllLeases}; none where the macaroon may not read them, or LND was built without `walletrpc`. */
export async function readLeases(owner: LndRest): Promise<readonly LockedCoin[]> {
  return readAllLeases(owner).catch((error: unknown) => {
    if (isApiError(error, 'forbidden') || isMissingAtLnd(error)) return [];
    throw error;
  });
}

/**
 * Returns the locked coins that no transaction spends: LND leaves them out of its balance and of its choice of coins.
 * LND itself removes the lock of a coin when a block spends it.
 */
export async function lockedCoins(
  owner: LndRest,
  read: (owner: LndRest) => Promise<readonly LockedCoin[]> = readLeases,
): Promise<readonly LockedCoin[]> {
  const leases = await read(owner);
  if (leases.length === 0) return [];
  const spent = new Set(
    (await unconfirmedTransactions(owner)).flatMap(({ previous_outpoints }) =>
      previous_outpoints.map(({ outpoint }) => outpoint),
    ),
  );
  return leases.filter(({ outpoint }) => !spent.has(outpoint));
}

/** Returns the error of a lack of coins, which also says how much is locked, and until when; `exceptId` is left out. */
export async function tellingLocks(
  owner: LndRest,
  error: ApiError,
  exceptId = '',
): Promise<ApiError> {
  const locked = (await lockedCoins(owner).catch(() => [])).filter(({ id }) => id !== exceptId);
  if (locked.length === 0) return error;
  return refused(`${error.message} ${lockedText(locked)}`, error.cause);
}

/** Runs a choice of coins, whose refusal is that they do not suffice; see {@link tellingLocks}. */
export async function orTellingLocks<T>(owner: LndRest, choose: () => T): Promise<T> {
  try {
    return choose();
  } catch (error) {
    throw isApiError(error, 'refused') ? await tellingLocks(owner, error) : error;
  }
}

/** Returns what LND answered to a choice of coins; as {@link tellingLocks} where it lacks coins. */
export async function withLocks(owner: LndRest, error: unknown): Promise<unknown> {
  if (!isApiError(error, 'refused')) return error;
  return /insufficient funds/i.test(error.message) ? tellingLocks(owner, error) : error;
}

/** Returns the sentence that says how much is locked, and until when. */
export function lockedText(locked: readonly LockedCoin[]): string {
  const sumSat = locked.reduce((sum, { amountSat }) => sum + amountSat, 0n);
  const lastMs = Math.max(...locked.map(({ untilMs }) => untilMs));
  return `Coins of ${formatAmountMsat(sumSat * MSAT_PER_SAT)} sats are locked at LND, for sends or by other programs, until ${new Date(lastMs).toISOString()} at the latest: try again then.`;
}

/**
 * Replaces LND's own locks, made just now, by locks under `id`. LND before 0.19 locks funded coins under an id of its
 * own, and such a lock can be released but not renewed. Returns null, with no coin locked, when somebody took a coin in
 * between.
 */
export async function relock(
  { owner, wallet }: LndOwned,
  locks: readonly Lock[],
  id: string,
): Promise<readonly Lock[] | null> {
  const ours = locks.map(({ outpoint }) => ({ id, outpoint }));
  try {
    await releaseAll(owner, locks);
  } catch (error) {
    wallet.coinLocks.lostUnderLndId();
    throw error;
  }
  try {
    for (const lock of ours) await lease(owner, lock);
    return ours;
  } catch (error) {
    await giveBack({ owner, wallet }, ours);
    if (isApiError(error, 'refused')) return null;
    // The request that was not answered may still arrive.
    wallet.coinLocks.lost();
    throw error;
  }
}

function requestOf({ id, outpoint }: Lock): Record<string, unknown> {
  const [txid = '', vout = '0'] = outpoint.split(':');
  return {
    id: base64.encode(hex.decode(id)),
    outpoint: {
      txid_bytes: base64.encode(hex.decode(txid).reverse()),
      output_index: Number(vout),
    },
  };
}
