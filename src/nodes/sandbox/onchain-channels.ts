import { secp256k1 } from '@noble/curves/secp256k1.js';
import { MSAT_PER_SAT, wholeSats } from '../../model/amount.ts';
import { refused } from '../../model/errors.ts';
import type { Priority } from '../../model/payment.ts';
import { tipHeight } from './chain/blocks.ts';
import { broadcast } from './chain/broadcast.ts';
import { multisigOutput } from './chain/keys.ts';
import { nextUnusedScript, type ScriptOwner } from './chain/scripts.ts';
import { type PaidOutput, spendCoins } from './chain/spend.ts';
import { signTransaction } from './chain/transaction.ts';
import { dustLimitSat, FEE_RATES, transactionVsize } from './chain/weight.ts';
import { outsideCoins, walletCoins } from './onchain-owners.ts';
import type { World } from './world.ts';

/** What a wallet pays to a script that is not an address of anybody: a channel's funding output. */
export interface ScriptPayment {
  readonly scriptPubKey: Uint8Array;
  readonly valueSat: bigint;
  readonly priority: Priority;
  /** Ledger account that the value becomes part of. */
  readonly account: string;
}

/** An output on the chain. */
export interface FundedOutput {
  readonly txid: string;
  readonly vout: number;
  readonly feeSat: bigint;
}

/**
 * Pays a script from a wallet's coins, as part of the caller's database transaction: no payment is recorded, the
 * money stays the wallet's. Throws `refused` when the coins do not suffice.
 */
export function spendToScript(world: World, userPk: string, payment: ScriptPayment): FundedOutput {
  return payScript(world, walletCoins(world, userPk), payment);
}

/** {@link spendToScript} from the outside world's coins: a channel that it opens towards a wallet. */
export function spendToScriptFromOutside(world: World, payment: ScriptPayment): FundedOutput {
  return payScript(world, outsideCoins(world), payment);
}

function payScript(world: World, owner: ScriptOwner, payment: ScriptPayment): FundedOutput {
  const { transaction, feeSat } = spendCoins(world, {
    owner,
    outputs: [
      { script: payment.scriptPubKey, valueSat: payment.valueSat, account: payment.account },
    ],
    feeRate: FEE_RATES[payment.priority],
    memo: 'channel open',
  });
  return { txid: transaction.txid, vout: 0, feeSat };
}

/** The script of a channel's funding output, which both sides must sign to spend. */
export function fundingScript(ourSecretKey: Uint8Array, theirSecretKey: Uint8Array): Uint8Array {
  return multisigOutput([
    secp256k1.getPublicKey(ourSecretKey, true),
    secp256k1.getPublicKey(theirSecretKey, true),
  ]).script;
}

/** One side of a channel that is closed: what it owns, and the ledger account that holds it. */
export interface ChannelSide {
  readonly account: string;
  readonly amountMsat: bigint;
  readonly secretKey: Uint8Array;
}

/** A channel to close: its funding output, and the two sides, which together own its whole value. */
export interface ChannelToClose {
  readonly fundingTxid: string;
  readonly fundingVout: number;
  readonly ours: ChannelSide;
  readonly theirs: ChannelSide;
}

/** What the wallet got of a closed channel. */
export interface ClosedChannel {
  readonly txid: string;
  readonly paidSat: bigint;
}

/**
 * Closes a channel cooperatively with one signed transaction: our side goes to the wallet's coins less the fee,
 * which it bears, theirs to the outside world; what is too little for an output goes to the miners. The wallet's
 * output is trusted at once, being its own doing. Part of the caller's database transaction. Throws `refused` when
 * nothing would be left.
 */
export function payToWallet(world: World, userPk: string, channel: ChannelToClose): ClosedChannel {
  const { ours, theirs } = channel;
  const valueSat = wholeSats(ours.amountMsat + theirs.amountMsat);
  const ourScript = nextUnusedScript(world, walletCoins(world, userPk), 'change').script;
  const theirScript = nextUnusedScript(world, outsideCoins(world), 'change').script;
  const vsize = transactionVsize(['multisig'], [ourScript, theirScript]);
  const feeSat = BigInt(vsize * FEE_RATES.normal);
  const paidSat = worthPaying(wholeSats(ours.amountMsat) - feeSat, ourScript);
  const theirSat = worthPaying(wholeSats(theirs.amountMsat), theirScript);

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
  const transaction = signTransaction({
    inputs: [
      {
        txid: channel.fundingTxid,
        vout: channel.fundingVout,
        valueSat,
        script: fundingScript(ours.secretKey, theirs.secretKey),
        keys: { kind: 'multisig', secretKeys: [ours.secretKey, theirs.secretKey] },
      },
    ],
    outputs,
    lockTime: tipHeight(world),
    auxRand: world.random(32),
  });
  broadcast(world, {
    transaction,
    payer: ours.account,
    fee: [
      { from: ours.account, amountMsat: ours.amountMsat - paidSat * MSAT_PER_SAT },
      { from: theirs.account, amountMsat: theirs.amountMsat - theirSat * MSAT_PER_SAT },
    ],
    terms: outputs,
    memo: 'channel close',
  });
  return { txid: transaction.txid, paidSat };
}

function worthPaying(valueSat: bigint, script: Uint8Array): bigint {
  return valueSat >= dustLimitSat(script) ? valueSat : 0n;
}
