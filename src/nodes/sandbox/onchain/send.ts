import { hex } from '@scure/base';
import { MSAT_PER_SAT, wholeSats } from '../../../model/amount.ts';
import { refused } from '../../../model/errors.ts';
import { type Payment, sendWords } from '../../../model/payment.ts';
import type { PayOnchainCommand, SignedSend } from '../../node.ts';
import { broadcast } from '../chain/broadcast.ts';
import { lockCoins, releaseLocks, renewLocks } from '../chain/locks.ts';
import { spendableInputsSat } from '../chain/outputs.ts';
import { composeSpend, estimateFeeSat, mostSpendable, type SpendOrder } from '../chain/spend.ts';
import { readTransaction, type SignedTransaction } from '../chain/transaction.ts';
import { watchConfirmations } from '../chain/watches.ts';
import { FEE_RATES } from '../chain/weight.ts';
import { insertPayment, madePayment } from '../world/payments.ts';
import type { World } from '../world/world.ts';
import { scriptOf } from './address.ts';
import { onchainAccount, walletCoins } from './owners.ts';
import { recordReceipts } from './receive.ts';

/**
 * Chooses coins and signs one transaction; publishes nothing and moves no money. Its coins stay locked for ten minutes,
 * in which the balances show them as before. Throws `refused`, with nothing locked, for an address of another network,
 * dust, parts of a satoshi, coins that do not suffice, and a fee above the limit.
 */
export function signOnchain(world: World, userPk: string, command: PayOnchainCommand): SignedSend {
  return world.transact(() => {
    const { transaction, feeSat, coins } = composeSpend(world, {
      ...orderOf(world, userPk, command),
      maxFeeMsat: command.maxFeeMsat,
    });
    return {
      txid: transaction.txid,
      txHex: hex.encode(transaction.raw),
      feeMsat: String(feeSat * MSAT_PER_SAT),
      locks: lockCoins(world, onchainAccount(userPk), coins),
    };
  });
}

/**
 * Puts the signed bytes into the mempool, once for an id: a repeat returns the first payment. The payment, the coins,
 * the ledger and the payment of a receiving wallet in this world change in one database transaction. Throws `refused`,
 * with nothing sent, when the bytes do not pay what the command says, and when another transaction spent the coins, so
 * that these bytes can never confirm.
 */
export function publishOnchain(
  world: World,
  userPk: string,
  command: PayOnchainCommand,
  signed: SignedSend,
): Payment {
  return world.transact(() => {
    const first = madePayment(world, userPk, command.index);
    if (first !== null) {
      if (first.txid !== signed.txid) releaseSigned(world, userPk, signed);
      return first;
    }
    const transaction = readSigned(signed);
    requirePays(transaction, command);
    const owner = onchainAccount(userPk);
    const feeMsat = feeOf(world, owner, transaction) * MSAT_PER_SAT;
    const receipts = broadcast(world, {
      transaction,
      payer: owner,
      fee: [{ from: owner, amountMsat: feeMsat }],
    });
    releaseLocks(world, owner, signed.locks);
    const { index, createdAtMs, amountMsat, priority, address } = command;
    const { txid, json: tx } = transaction;
    const payment = insertPayment(world, userPk, {
      index,
      rail: 'onchain',
      direction: 'outbound',
      createdAtMs,
      txid,
      amountMsat,
      feesMsat: feeMsat,
      address: address.canonical,
      tx,
      priority,
      ...sendWords(command),
    });
    watchConfirmations(world, { userPk, index, txid });
    recordReceipts(world, transaction, receipts);
    return payment;
  });
}

/** Extends the locks of an unpublished transaction by ten minutes. Throws `refused` when another uses its coins. */
export function renewSigned(world: World, userPk: string, { locks, txid }: SignedSend): void {
  renewLocks(world, onchainAccount(userPk), { locks, spentBy: txid });
}

/** Releases the coins of a transaction that will not be published. */
export function releaseSigned(world: World, userPk: string, { locks }: SignedSend): void {
  releaseLocks(world, onchainAccount(userPk), locks);
}

/** Returns the fee of {@link signOnchain} now, in millisatoshis. Throws `refused` as that does. */
export function estimateOnchainFeeMsat(world: World, userPk: string, payment: Destination): bigint {
  return estimateFeeSat(world, orderOf(world, userPk, payment)) * MSAT_PER_SAT;
}

/** Returns the most that one transaction can send to the address now, and its fee; see `NodeOnchain.mostSendable`. */
export function mostSendable(
  world: World,
  userPk: string,
  { address, priority }: Pick<Destination, 'address' | 'priority'>,
): { readonly amountMsat: bigint; readonly feeMsat: bigint } {
  const { valueSat, feeSat } = mostSpendable(world, {
    owner: walletCoins(world, userPk),
    script: scriptOf(address),
    feeRate: FEE_RATES[priority],
  });
  return { amountMsat: valueSat * MSAT_PER_SAT, feeMsat: feeSat * MSAT_PER_SAT };
}

type Destination = Pick<PayOnchainCommand, 'address' | 'amountMsat' | 'priority'>;

function orderOf(world: World, userPk: string, payment: Destination): SpendOrder {
  const { address, amountMsat, priority } = payment;
  if (amountMsat % MSAT_PER_SAT !== 0n) {
    throw refused('On-chain payments are whole satoshis; leave the decimals out.');
  }
  return {
    owner: walletCoins(world, userPk),
    outputs: [{ script: scriptOf(address), valueSat: wholeSats(amountMsat) }],
    feeRate: FEE_RATES[priority],
  };
}

function readSigned({ txid, txHex }: SignedSend): SignedTransaction {
  const transaction = parsed(txHex);
  if (transaction?.txid === txid) return transaction;
  throw refused('The signed transaction is damaged: sign a new one.');
}

function parsed(txHex: string): SignedTransaction | null {
  try {
    return readTransaction(hex.decode(txHex));
  } catch {
    return null;
  }
}

function requirePays({ outputs }: SignedTransaction, command: PayOnchainCommand): void {
  const script = hex.encode(scriptOf(command.address));
  const pays = outputs.some(
    (output) =>
      hex.encode(output.script) === script && output.valueSat * MSAT_PER_SAT === command.amountMsat,
  );
  if (!pays) throw refused('The signed transaction is for another payment: sign a new one.');
}

/** The transaction's fee, in satoshis. */
function feeOf(world: World, owner: string, { json, outputs }: SignedTransaction): bigint {
  const outpoints = json.input.map(({ previous_output }) => previous_output);
  const inSat = spendableInputsSat(world, owner, outpoints);
  const outSat = outputs.reduce((sum, { valueSat }) => sum + valueSat, 0n);
  if (inSat === null || inSat < outSat) {
    throw refused(
      'Another transaction spent the coins of the signed one, so it can never confirm: send again.',
    );
  }
  return inSat - outSat;
}
