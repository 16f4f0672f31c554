import type { PaymentIndex } from '../../../model/payment-index.ts';
import { cancelExpired } from '../lightning/held.ts';
import { failExpired } from '../lightning/htlcs.ts';
import { findPayment, updatePayment } from '../world/payments.ts';
import type { World } from '../world/world.ts';
import { FINAL_CONFIRMATIONS, tipHeight } from './blocks.ts';
import { announceWork } from './waiting-work.ts';

/** A payment that waits for the confirmations of its transaction, or of the one that replaces it. */
export interface Watch {
  readonly userPk: string;
  readonly index: PaymentIndex;
  readonly txid: string;
}

interface WatchRow {
  user_pk: string;
  payment_index: string;
  txid: string;
}

/** Makes the payment complete once its transaction has 6 confirmations. */
export function watchConfirmations(world: World, { userPk, index, txid }: Watch): void {
  world.db
    .query('INSERT INTO chain_watches (user_pk, payment_index, txid) VALUES (?, ?, ?)')
    .run(userPk, index, txid);
  announceWork(world);
}

/**
 * Names the transaction that spends the same coins as `txid` in the payments that wait for that. They fail once the
 * replacement has 6 confirmations (docs/decisions.md 39).
 */
export function watchReplacement(
  world: World,
  { txid, replacement }: { readonly txid: string; readonly replacement: string },
): void {
  const moved = world.db
    .query<WatchRow, [string, string]>(
      'UPDATE chain_watches SET txid = ? WHERE txid = ? RETURNING user_pk, payment_index, txid',
    )
    .all(replacement, txid)
    .map(watchOf);
  for (const { userPk, index } of moved) updatePayment(world, userPk, index, { replacement });
}

/**
 * Applies a new height: ends payments whose transaction, or its replacement, has its confirmations (docs/api.md,
 * Payment status), and fails those whose HTLCs were held until their expiry. Must be called after blocks were mined.
 */
export function followChain(world: World): void {
  endConfirmed(world);
  cancelExpired(world);
  failExpired(world);
}

function endConfirmed(world: World): void {
  const final = world.db
    .query<WatchRow, [number]>(
      `DELETE FROM chain_watches WHERE txid IN (
         SELECT w.txid FROM chain_watches w JOIN chain_transactions t ON t.txid = w.txid
         WHERE t.height <= ?)
       RETURNING user_pk, payment_index, txid`,
    )
    .all(tipHeight(world) - FINAL_CONFIRMATIONS + 1)
    .map(watchOf);
  for (const { userPk, index, txid } of final) {
    const isOwn = findPayment(world, userPk, index)?.txid === txid;
    updatePayment(
      world,
      userPk,
      index,
      isOwn
        ? { status: 'completed', statusMsg: 'completed' }
        : { status: 'failed', statusMsg: 'replaced' },
    );
  }
}

function watchOf(row: WatchRow): Watch {
  return {
    userPk: row.user_pk,
    index: row.payment_index as PaymentIndex,
    txid: row.txid,
  };
}
