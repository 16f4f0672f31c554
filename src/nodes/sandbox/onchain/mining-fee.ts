import { miningFeeId, paymentIndex } from '../../../model/payment-index.ts';
import type { SignedTransaction } from '../chain/transaction.ts';
import { watchConfirmations } from '../chain/watches.ts';
import { insertPayment } from '../world/payments.ts';
import type { World } from '../world/world.ts';

/**
 * Records what a transaction costs the wallet that pays nobody else, since it is part of no other payment: the child of
 * a fee bump, and what opens or closes a channel (docs/decisions.md 158, 192). A transaction that costs it nothing has
 * no row.
 */
export function recordMiningFee(
  world: World,
  userPk: string,
  { transaction, feeMsat }: { readonly transaction: SignedTransaction; readonly feeMsat: bigint },
): void {
  if (feeMsat === 0n) return;
  const [txid = '', vout] = transaction.json.input[0]?.previous_output.split(':') ?? [];
  const nowMs = world.clock.now();
  const { index } = insertPayment(world, userPk, {
    index: paymentIndex(nowMs, miningFeeId(txid, Number(vout))),
    rail: 'onchain',
    direction: 'info',
    createdAtMs: nowMs,
    txid: transaction.txid,
    tx: transaction.json,
    amountMsat: 0n,
    feesMsat: feeMsat,
  });
  watchConfirmations(world, { userPk, index, txid: transaction.txid });
}
