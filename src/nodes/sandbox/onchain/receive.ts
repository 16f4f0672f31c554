import type { DecodedAddress } from '../../../codecs/address.ts';
import { MSAT_PER_SAT, wholeSats } from '../../../model/amount.ts';
import { refused } from '../../../model/errors.ts';
import type { Payment } from '../../../model/payment.ts';
import { paymentIndex, receiveId } from '../../../model/payment-index.ts';
import { FINAL_CONFIRMATIONS } from '../../../model/transaction.ts';
import { mineBlocks } from '../chain/blocks.ts';
import type { Receipt } from '../chain/broadcast.ts';
import { followChain } from '../chain/finality.ts';
import { spendCoins } from '../chain/spend.ts';
import type { SignedTransaction } from '../chain/transaction.ts';
import { watchConfirmations } from '../chain/watches.ts';
import { FEE_RATES } from '../chain/weight.ts';
import { insertPayment, requirePayment } from '../world/payments.ts';
import type { World } from '../world/world.ts';
import { addressOf, scriptOf } from './address.ts';
import { outsideCoins, walletOfAccount } from './owners.ts';

/**
 * Records a pending inbound payment for each output that a transaction pays to wallets of this world; it completes with
 * the confirmations (docs/decisions.md 30). Works within the transaction that broadcasts it. Returns the payments.
 */
export function recordReceipts(
  world: World,
  transaction: SignedTransaction,
  receipts: readonly Receipt[],
): Payment[] {
  return receipts.flatMap(({ owner, script, txid, vout, valueSat }) => {
    const userPk = walletOfAccount(owner);
    if (userPk === null) return [];
    const nowMs = world.clock.now();
    const payment = insertPayment(world, userPk, {
      index: paymentIndex(nowMs, receiveId(txid, vout)),
      rail: 'onchain',
      direction: 'inbound',
      createdAtMs: nowMs,
      txid,
      amountMsat: valueSat * MSAT_PER_SAT,
      address: addressOf(script),
      tx: transaction.json,
    });
    watchConfirmations(world, { userPk, index: payment.index, txid });
    return [payment];
  });
}

/** An on-chain payment of the outside world. */
export interface OutsidePayment {
  readonly address: DecodedAddress;
  /** Whole satoshis. */
  readonly amountMsat: bigint;
  /** Whether to mine as well the blocks that make it final. */
  readonly confirmed: boolean;
}

/**
 * Pays an address of a wallet from the outside world with a real transaction. Throws `refused` when no wallet of this
 * world has the address, or when the amount is dust or not whole satoshis.
 */
export function receiveFromOutside(
  world: World,
  sent: OutsidePayment,
): { readonly userPk: string; readonly payment: Payment } {
  if (sent.amountMsat % MSAT_PER_SAT !== 0n) {
    throw refused('On-chain payments are whole satoshis; leave the decimals out.');
  }
  return world.transact(() => {
    const spent = spendCoins(world, {
      owner: outsideCoins(world),
      outputs: [{ script: scriptOf(sent.address), valueSat: wholeSats(sent.amountMsat) }],
      feeRate: FEE_RATES.normal,
    });
    const [payment] = recordReceipts(world, spent.transaction, spent.receipts);
    const userPk = walletOfAccount(spent.receipts[0]?.owner ?? '');
    if (payment === undefined || userPk === null) {
      throw refused('No wallet of this sandbox has that address; ask the wallet for an address.');
    }
    if (sent.confirmed) {
      mineBlocks(world, FINAL_CONFIRMATIONS);
      followChain(world);
    }
    return { userPk, payment: requirePayment(world, userPk, payment.index) };
  });
}
