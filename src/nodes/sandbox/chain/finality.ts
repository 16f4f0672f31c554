import { FINAL_CONFIRMATIONS } from '../../../model/transaction.ts';
import { COMPLETED, REPLACED } from '../../shown-payment.ts';
import { cancelExpired } from '../lightning/held.ts';
import { failExpired } from '../lightning/htlcs.ts';
import { findPayment, updatePayment } from '../world/payments.ts';
import { allRows } from '../world/rows.ts';
import type { World } from '../world/world.ts';
import { tipHeight } from './blocks.ts';
import type { Watch } from './watches.ts';

const COLUMNS = 'user_pk AS userPk, payment_index AS "index", txid';

/**
 * Names the transaction that spends the same coins as `txid` in the payments that wait for that. They fail once the
 * replacement has 6 confirmations (docs/decisions.md 39).
 */
export function watchReplacement(
  world: World,
  { txid, replacement }: { readonly txid: string; readonly replacement: string },
): void {
  const moved = allRows<Watch>(
    world,
    `UPDATE chain_watches SET txid = ? WHERE txid = ? RETURNING ${COLUMNS}`,
    replacement,
    txid,
  );
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
  const final = allRows<Watch>(
    world,
    `DELETE FROM chain_watches WHERE txid IN (
       SELECT w.txid FROM chain_watches w JOIN chain_transactions t ON t.txid = w.txid
       WHERE t.height <= ?)
     RETURNING ${COLUMNS}`,
    tipHeight(world) - FINAL_CONFIRMATIONS + 1,
  );
  for (const { userPk, index, txid } of final) {
    const isOwn = findPayment(world, userPk, index)?.txid === txid;
    updatePayment(world, userPk, index, isOwn ? COMPLETED : REPLACED);
  }
}
