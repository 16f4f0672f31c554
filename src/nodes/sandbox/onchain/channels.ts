import { secp256k1 } from '@noble/curves/secp256k1.js';
import { dustLimitSat } from '../../../codecs/dust.ts';
import { MSAT_PER_SAT, wholeSats } from '../../../model/amount.ts';
import { refused } from '../../../model/errors.ts';
import type { Priority } from '../../../model/payment.ts';
import { broadcast } from '../chain/broadcast.ts';
import { multisigOutput } from '../chain/keys.ts';
import { nextUnusedScript, type ScriptOwner } from '../chain/scripts.ts';
import { type PaidOutput, type SpendOrder, signedNow, spendCoins } from '../chain/spend.ts';
import type { SignedTransaction, TransactionInput } from '../chain/transaction.ts';
import { FEE_RATES, transactionVsize } from '../chain/weight.ts';
import type { World } from '../world/world.ts';
import { recordMiningFee } from './mining-fee.ts';
import { outsideCoins, walletCoins } from './owners.ts';

/** A payment to a script without an address in this world: a channel's funding output. */
export interface ScriptPayment {
  readonly scriptPubKey: Uint8Array;
  readonly valueSat: bigint;
  readonly priority: Priority;
  /** Ledger account that gets the value. */
  readonly account: string;
  /** The most that it may cost in fees; null, or leaving it out, is no limit. */
  readonly maxFeeMsat?: bigint | null;
}

/** An output on the chain. */
export interface FundedOutput {
  readonly txid: string;
  readonly vout: number;
  readonly feeSat: bigint;
  readonly transaction: SignedTransaction;
}

/**
 * Pays a script from the owner's coins, within the caller's database transaction. No payment is recorded, because the
 * money goes into a channel; what it costs is the caller's to record. Throws `refused` when the coins do not suffice.
 */
export function spendToScript(
  world: World,
  owner: ScriptOwner,
  payment: ScriptPayment,
): FundedOutput {
  const { transaction, feeSat } = spendCoins(world, scriptOrder(owner, payment));
  return { txid: transaction.txid, vout: 0, feeSat, transaction };
}

/** Returns what {@link spendToScript} orders. */
export function scriptOrder(
  owner: ScriptOwner,
  { scriptPubKey: script, valueSat, priority, account, maxFeeMsat = null }: ScriptPayment,
): SpendOrder {
  const outputs = [{ script, valueSat, account }];
  return { owner, outputs, feeRate: FEE_RATES[priority], maxFeeMsat };
}

/** Returns the script of a channel's funding output, which both sides must sign to spend. */
export function fundingScript(ourSecretKey: Uint8Array, theirSecretKey: Uint8Array): Uint8Array {
  return multisigOutput([
    secp256k1.getPublicKey(ourSecretKey, true),
    secp256k1.getPublicKey(theirSecretKey, true),
  ]).script;
}

/** One side of a channel to close: the amount that it owns, and the ledger account that holds it. */
interface ChannelSide {
  readonly account: string;
  readonly amountMsat: bigint;
  readonly secretKey: Uint8Array;
}

/** A channel to close: its funding output and its two sides, which together own the whole value. */
export interface ChannelToClose {
  readonly fundingTxid: string;
  readonly fundingVout: number;
  readonly ours: ChannelSide;
  readonly theirs: ChannelSide;
}

/** What the wallet got from a closed channel, and what closing it cost. */
export interface ClosedChannel {
  readonly txid: string;
  readonly paidSat: bigint;
  readonly feeMsat: bigint;
}

/**
 * Closes a channel cooperatively with one signed transaction, within the caller's database transaction. The wallet's
 * side, less the fee, becomes its coins, which are trusted at once because the wallet caused them. The other side goes
 * to the outside world. Amounts too small for an output go to the miners. Throws `refused` when nothing would be left
 * for the wallet.
 */
export function payToWallet(world: World, userPk: string, channel: ChannelToClose): ClosedChannel {
  const { ours, theirs } = channel;
  const { ourScript, theirScript, paidSat, theirSat, feeSat } = sharesOf(world, userPk, channel);
  const outputs: PaidOutput[] = [];
  if (paidSat > 0n) {
    outputs.push({ script: ourScript, valueSat: paidSat, from: ours.account, own: true });
  }
  if (theirSat > 0n) {
    outputs.push({ script: theirScript, valueSat: theirSat, from: theirs.account });
  }
  if (outputs.length === 0) {
    throw refused(
      `The channel holds too little to pay the ${feeSat} sats that closing it costs; receive something first.`,
    );
  }
  const funding: TransactionInput = {
    txid: channel.fundingTxid,
    vout: channel.fundingVout,
    valueSat: wholeSats(ours.amountMsat + theirs.amountMsat),
    script: fundingScript(ours.secretKey, theirs.secretKey),
    keys: { kind: 'multisig', secretKeys: [ours.secretKey, theirs.secretKey] },
  };
  const transaction = signedNow(world, [funding], outputs);
  const feeMsat = ours.amountMsat - paidSat * MSAT_PER_SAT;
  broadcast(world, {
    transaction,
    payer: ours.account,
    fee: [
      { from: ours.account, amountMsat: feeMsat },
      { from: theirs.account, amountMsat: theirs.amountMsat - theirSat * MSAT_PER_SAT },
    ],
    terms: outputs,
  });
  recordMiningFee(world, userPk, { transaction, feeMsat });
  return { txid: transaction.txid, paidSat, feeMsat };
}

/** Returns what {@link payToWallet} would cost the wallet now: the fee, and an amount too small for an output. */
export function closingFeeMsat(world: World, userPk: string, channel: ChannelToClose): bigint {
  const { paidSat } = sharesOf(world, userPk, channel);
  return channel.ours.amountMsat - paidSat * MSAT_PER_SAT;
}

/** What each side gets on chain, in whole satoshis. Works within the caller's database transaction. */
function sharesOf(world: World, userPk: string, { ours, theirs }: ChannelToClose) {
  const ourScript = nextUnusedScript(world, walletCoins(world, userPk), 'change').script;
  const theirScript = nextUnusedScript(world, outsideCoins(world), 'change').script;
  const vsize = transactionVsize(['multisig'], [ourScript, theirScript]);
  const feeSat = BigInt(vsize * FEE_RATES.normal);
  return {
    ourScript,
    theirScript,
    feeSat,
    paidSat: worthPaying(wholeSats(ours.amountMsat) - feeSat, ourScript),
    theirSat: worthPaying(wholeSats(theirs.amountMsat), theirScript),
  };
}

function worthPaying(valueSat: bigint, script: Uint8Array): bigint {
  return valueSat >= dustLimitSat(script) ? valueSat : 0n;
}
