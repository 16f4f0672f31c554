import { MSAT_PER_SAT, wholeSats } from '../../model/amount.ts';
import { refused } from '../../model/errors.ts';
import { blankPayment, type Payment, type Priority } from '../../model/payment.ts';
import { idOfIndex } from '../../model/payment-index.ts';
import type { PayOnchainCommand } from '../node.ts';
import { watchConfirmations } from './chain/finality.ts';
import { untrustedSat } from './chain/outputs.ts';
import { nextUnusedScript } from './chain/scripts.ts';
import { estimateFeeSat, type SpendOrder, spendCoins } from './chain/spend.ts';
import { FEE_RATES } from './chain/weight.ts';
import { balanceMsat } from './ledger.ts';
import { addressOf, scriptOf } from './onchain-address.ts';
import { onchainAccount, walletCoins } from './onchain-owners.ts';
import { recordReceipts } from './onchain-receive.ts';
import { insertPayment, latestPayment } from './payments.ts';
import type { World } from './world.ts';

/** The address that is handed out until a payment to it is seen, P2WPKH. */
export function nextUnusedAddress(world: World, userPk: string): string {
  return addressOf(nextUnusedScript(world, walletCoins(world, userPk), 'receive').script);
}

/** The wallet's on-chain balances in millisatoshis (contract, Node info). */
export interface OnchainBalances {
  readonly onchainBalanceMsat: bigint;
  /** Without what others sent and no block has confirmed: only this can be spent. */
  readonly onchainTrustedMsat: bigint;
}

/** Reads the balances: the ledger holds the sum, and only unconfirmed payments of others are added up. */
export function onchainBalances(world: World, userPk: string): OnchainBalances {
  const account = onchainAccount(userPk);
  const onchainBalanceMsat = balanceMsat(world, account);
  return {
    onchainBalanceMsat,
    onchainTrustedMsat: onchainBalanceMsat - untrustedSat(world, account) * MSAT_PER_SAT,
  };
}

/**
 * Signs and broadcasts one transaction, once for an id: a repeat answers the first payment. The payment, the coins,
 * the ledger and what a receiving wallet of this world sees change in one database transaction. Throws `refused`
 * with nothing sent: another network's address, dust, decimals, coins that do not suffice, a fee above the limit.
 */
export function payOnchain(world: World, userPk: string, command: PayOnchainCommand): Payment {
  return world.transact(() => {
    const first = latestPayment(world, userPk, idOfIndex(command.index));
    if (first !== null) return first;
    const { transaction, feeSat, receipts } = spendCoins(world, {
      ...orderOf(world, userPk, command),
      maxFeeMsat: command.maxFeeMsat,
    });
    const payment = insertPayment(world, userPk, {
      ...blankPayment({
        index: command.index,
        rail: 'onchain',
        direction: 'outbound',
        status: 'pending',
        statusMsg: 'broadcasted',
        createdAtMs: command.createdAtMs,
        updatedAtMs: command.createdAtMs,
      }),
      txid: transaction.txid,
      amountMsat: command.amountMsat,
      feesMsat: feeSat * MSAT_PER_SAT,
      address: command.address,
      tx: transaction.json,
      priority: command.priority,
      personalNote: command.personalNote,
    });
    watchConfirmations(world, { userPk, index: payment.index, txid: transaction.txid });
    recordReceipts(world, transaction, receipts);
    return payment;
  });
}

/** What {@link payOnchain} would cost now, in millisatoshis. Throws `refused` where it would. */
export function estimateOnchainFeeMsat(world: World, userPk: string, payment: Destination): bigint {
  return estimateFeeSat(world, orderOf(world, userPk, payment)) * MSAT_PER_SAT;
}

interface Destination {
  readonly address: string;
  readonly amountMsat: bigint;
  readonly priority: Priority;
}

function orderOf(world: World, userPk: string, payment: Destination): SpendOrder {
  const { address, amountMsat, priority } = payment;
  if (amountMsat % MSAT_PER_SAT !== 0n) {
    throw refused('On-chain payments are whole satoshis; leave the decimals away.');
  }
  return {
    owner: walletCoins(world, userPk),
    outputs: [{ script: scriptOf(address), valueSat: wholeSats(amountMsat) }],
    feeRate: FEE_RATES[priority],
    memo: 'on-chain payment',
  };
}
