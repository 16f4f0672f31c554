import type { PaymentIndex } from '../../../model/payment-index.ts';
import { failExpired } from '../lightning/htlcs.ts';
import { updatePayment } from '../world/payments.ts';
import type { World } from '../world/world.ts';
import { FINAL_CONFIRMATIONS, tipHeight } from './blocks.ts';
import { announceWork } from './waiting-work.ts';

/** A payment that waits for the confirmations of its transaction. */
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

/** Ends the watches on a transaction. Returns the payments that were waiting for it. */
export function unwatchTransaction(world: World, txid: string): Watch[] {
  return world.db
    .query<WatchRow, [string]>(
      'DELETE FROM chain_watches WHERE txid = ? RETURNING user_pk, payment_index, txid',
    )
    .all(txid)
    .map(watchOf);
}

/**
 * Applies a new height: completes payments whose transaction has its confirmations (docs/api.md, Payment status), and
 * fails those whose HTLCs were held until their expiry. Must be called after blocks were mined.
 */
export function followChain(world: World): void {
  completeConfirmed(world);
  failExpired(world);
}

function completeConfirmed(world: World): void {
  const final = world.db
    .query<WatchRow, [number]>(
      `DELETE FROM chain_watches WHERE txid IN (
         SELECT w.txid FROM chain_watches w JOIN chain_transactions t ON t.txid = w.txid
         WHERE t.height <= ?)
       RETURNING user_pk, payment_index, txid`,
    )
    .all(tipHeight(world) - FINAL_CONFIRMATIONS + 1)
    .map(watchOf);
  for (const { userPk, index } of final) {
    updatePayment(world, userPk, index, { status: 'completed', statusMsg: 'completed' });
  }
}

function watchOf(row: WatchRow): Watch {
  return {
    userPk: row.user_pk,
    index: row.payment_index as PaymentIndex,
    txid: row.txid,
  };
}
