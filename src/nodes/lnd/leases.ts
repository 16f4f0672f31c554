import { base64, hex } from '@scure/base';
import { isApiError, refused } from '../../model/errors.ts';
import type { SignedSend } from '../node.ts';
import type { LndRest } from './rest.ts';
import { anyShape, type LndLease } from './wire.ts';

/** Seconds after which a lock on a coin ends unless it is renewed. */
export const LOCK_SECS = 600;

type Lock = SignedSend['locks'][number];

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

/**
 * Replaces LND's own locks by locks under `id`. LND before 0.19 locks funded coins under an id of its own, and such a
 * lock can be released but not renewed. Throws `refused`, with no coin locked, when another send took a coin in
 * between.
 */
export async function relock(
  owner: LndRest,
  locks: readonly Lock[],
  id: string,
): Promise<readonly Lock[]> {
  await releaseAll(owner, locks);
  const ours = locks.map(({ outpoint }) => ({ id, outpoint }));
  try {
    for (const lock of ours) await lease(owner, lock);
    return ours;
  } catch (error) {
    await releaseAll(owner, ours);
    throw isApiError(error, 'refused')
      ? refused('Another send took the coins: try again.', error)
      : error;
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
