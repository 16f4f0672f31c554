import { secp256k1 } from '@noble/curves/secp256k1.js';
import { MSAT_PER_SAT, wholeSats } from '../../../model/amount.ts';
import { refused } from '../../../model/errors.ts';
import type { Priority } from '../../../model/payment.ts';
import { tipHeight } from '../chain/blocks.ts';
import { broadcast } from '../chain/broadcast.ts';
import { multisigOutput } from '../chain/keys.ts';
import { nextUnusedScript, type ScriptOwner } from '../chain/scripts.ts';
import { estimateFeeSat, type PaidOutput, type SpendOrder, spendCoins } from '../chain/spend.ts';
import { signTransaction } from '../chain/transaction.ts';
import { dustLimitSat, FEE_RATES, transactionVsize } from '../chain/weight.ts';
import type { World } from '../world/world.ts';
import { outsideCoins, walletCoins } from './owners.ts';

/** What a wallet pays to a script that is not an address of anybody: a channel's funding output. */
export interface ScriptPayment {
  readonly scriptPubKey: Uint8Array;
  readonly valueSat: bigint;
  readonly priority: Priority;
  /** Ledger account that the value becomes part of. */
  readonly account: string;
  /** Most that it may cost in fees; null or left out is no limit. */
  readonly maxFeeMsat?: bigint | null;
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

/** What {@link spendToScript} would cost in fees now, in satoshis. Throws `refused` as it would. */
export function estimateScriptFeeSat(
  world: World,
  userPk: string,
  payment: Pick<ScriptPayment, 'scriptPubKey' | 'valueSat' | 'priority'>,
): bigint {
  return estimateFeeSat(world, scriptOrder(walletCoins(world, userPk), payment));
}

function payScript(world: World, owner: ScriptOwner, payment: ScriptPayment): FundedOutput {
  const { transaction, feeSat } = spendCoins(world, scriptOrder(owner, payment));
  return { txid: transaction.txid, vout: 0, feeSat };
}

function scriptOrder(
  owner: ScriptOwner,
  payment: Omit<ScriptPayment, 'account'> & { readonly account?: string },
): SpendOrder {
  const { scriptPubKey: script, valueSat, account } = payment;
  return {
    owner,
    outputs: [{ script, valueSat, ...(account === undefined ? {} : { account }) }],
    feeRate: FEE_RATES[payment.priority],
    memo: 'channel open',
    maxFeeMsat: payment.maxFeeMsat ?? null,
  };
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

/** What the wallet got of a closed channel, and what it paid for closing it. */
export interface ClosedChannel {
  readonly txid: string;
  readonly paidSat: bigint;
  readonly feeMsat: bigint;
}

/**
 * Closes a channel cooperatively with one signed transaction: our side goes to the wallet's coins less the fee,
 * which it bears, theirs to the outside world; what is too little for an output goes to the miners. The wallet's
 * output is trusted at once, being its own doing. Part of the caller's database transaction. Throws `refused` when
 * nothing would be left.
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
  const transaction = signTransaction({
    inputs: [
      {
        txid: channel.fundingTxid,
        vout: channel.fundingVout,
        valueSat: wholeSats(ours.amountMsat + theirs.amountMsat),
        script: fundingScript(ours.secretKey, theirs.secretKey),
        keys: { kind: 'multisig', secretKeys: [ours.secretKey, theirs.secretKey] },
      },
    ],
    outputs,
    lockTime: tipHeight(world),
    auxRand: world.random(32),
  });
  const feeMsat = ours.amountMsat - paidSat * MSAT_PER_SAT;
  broadcast(world, {
    transaction,
    payer: ours.account,
    fee: [
      { from: ours.account, amountMsat: feeMsat },
      { from: theirs.account, amountMsat: theirs.amountMsat - theirSat * MSAT_PER_SAT },
    ],
    terms: outputs,
    memo: 'channel close',
  });
  return { txid: transaction.txid, paidSat, feeMsat };
}

/** What {@link payToWallet} would cost the wallet now: the fee, and what is too little for an output. */
export function closingFeeMsat(world: World, userPk: string, channel: ChannelToClose): bigint {
  const { paidSat } = sharesOf(world, userPk, channel);
  return channel.ours.amountMsat - paidSat * MSAT_PER_SAT;
}

/** What each side gets on chain, in whole satoshis. Part of the caller's database transaction. */
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
