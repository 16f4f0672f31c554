import { formatAmountMsat, MSAT_PER_SAT } from '../../../model/amount.ts';
import { refused } from '../../../model/errors.ts';
import type { World } from '../world.ts';
import { tipHeight } from './blocks.ts';
import { broadcast, type OutputTerms, type Receipt } from './broadcast.ts';
import { type Selection, type Shortfall, selectCoins } from './coin-selection.ts';
import { childSecretKey } from './keys.ts';
import { spendableOutputs, type UnspentOutput } from './outputs.ts';
import { nextUnusedScript, type ScriptOwner } from './scripts.ts';
import {
  type SignedTransaction,
  signTransaction,
  type TransactionInput,
  type TransactionOutput,
} from './transaction.ts';
import { dustLimitSat } from './weight.ts';

/** An output to pay, and whose money it becomes where its script does not tell. */
export interface PaidOutput extends TransactionOutput, OutputTerms {}

/** What is to be paid from the coins of one owner. */
export interface SpendOrder {
  readonly owner: ScriptOwner;
  readonly outputs: readonly PaidOutput[];
  /** Satoshis per virtual byte. */
  readonly feeRate: number;
  /** Names the entries in the ledger. */
  readonly memo: string;
  /** Most that may go to the miners; null or left out is no limit. */
  readonly maxFeeMsat?: bigint | null;
}

/** A payment that is in the mempool. */
export interface Spent {
  readonly transaction: SignedTransaction;
  readonly feeSat: bigint;
  readonly receipts: readonly Receipt[];
}

/**
 * Pays outputs from the owner's coins: chooses coins, signs, broadcasts and books it, in one database transaction.
 * Throws `refused`, with nothing changed, for dust, when the coins do not suffice (naming the fee), and when the
 * fee is above the order's limit.
 */
export function spendCoins(world: World, order: SpendOrder): Spent {
  const { owner, outputs, memo } = order;
  return world.transact(() => {
    const { selection, change } = prepare(world, order);
    const { feeSat, changeSat } = selection;
    const limitMsat = order.maxFeeMsat ?? null;
    if (limitMsat !== null && feeSat * MSAT_PER_SAT > limitMsat) {
      throw refused(
        `The transaction costs a fee of ${feeSat} sats, above the limit of ${formatAmountMsat(limitMsat)} sats; allow more, or take a lower priority.`,
      );
    }
    const paid: TransactionOutput[] = [...outputs];
    if (changeSat > 0n) paid.push({ script: change.script, valueSat: changeSat });
    const transaction = signTransaction({
      inputs: selection.coins.map((coin) => signedBy(owner, coin)),
      outputs: paid,
      lockTime: tipHeight(world),
      auxRand: world.random(32),
    });
    const receipts = broadcast(world, {
      transaction,
      payer: owner.owner,
      fee: [{ from: owner.owner, amountMsat: feeSat * MSAT_PER_SAT }],
      terms: outputs,
      memo,
    });
    return { transaction, feeSat, receipts };
  });
}

/** What {@link spendCoins} would pay to the miners now, in satoshis. Throws `refused` as it would. */
export function estimateFeeSat(world: World, order: SpendOrder): bigint {
  return world.transact(() => prepare(world, order).selection.feeSat);
}

/** An output of the owner's as the input that spends it. */
export function signedBy(
  owner: ScriptOwner,
  output: Pick<
    UnspentOutput,
    'txid' | 'vout' | 'valueSat' | 'script' | 'kind' | 'branch' | 'index'
  >,
): TransactionInput {
  const { txid, vout, valueSat, script, kind, branch, index } = output;
  const secretKey = childSecretKey(owner.accountKey, branch, index);
  return { txid, vout, valueSat, script, keys: { kind, secretKey } };
}

function prepare(world: World, order: SpendOrder) {
  for (const { script, valueSat } of order.outputs) {
    const leastSat = dustLimitSat(script);
    if (valueSat < leastSat) {
      throw refused(
        `An output of ${valueSat} sats is dust, which the network does not relay; send at least ${leastSat} sats.`,
      );
    }
  }
  const change = nextUnusedScript(world, order.owner, 'change');
  return { selection: choose(world, order, change.script), change };
}

/** Confirmed coins are preferred: a payment made of them cannot be undone by what happens to another. */
function choose(
  world: World,
  order: SpendOrder,
  changeScript: Uint8Array,
): Selection<UnspentOutput> {
  const { owner, outputs, feeRate } = order;
  const target = { outputs, changeScript, feeRate };
  const coins = spendableOutputs(world, owner.owner);
  const confirmed = selectCoins(
    coins.filter((coin) => coin.confirmed),
    target,
  );
  if ('coins' in confirmed) return confirmed;
  const any = selectCoins(coins, target);
  if ('coins' in any) return any;
  throw insufficient(order, any);
}

function insufficient({ outputs }: SpendOrder, { feeSat, missingSat }: Shortfall) {
  const amountSat = outputs.reduce((sum, { valueSat }) => sum + valueSat, 0n);
  const sats = (value: bigint) => `${formatAmountMsat(value * MSAT_PER_SAT)} sats`;
  return refused(
    `Sending ${sats(amountSat)} costs a fee of ${sats(feeSat)}, and the spendable on-chain balance is ${sats(missingSat)} short; send less, or wait until incoming payments confirm.`,
  );
}
