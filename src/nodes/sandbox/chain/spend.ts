import { dustLimitSat } from '../../../codecs/dust.ts';
import { formatAmountMsat, MSAT_PER_SAT } from '../../../model/amount.ts';
import { refused } from '../../../model/errors.ts';
import type { World } from '../world/world.ts';
import { tipHeight } from './blocks.ts';
import { broadcast, type OutputTerms, type Receipt } from './broadcast.ts';
import { type Selection, type Shortfall, selectCoins, spendAll } from './coin-selection.ts';
import { childSecretKey, SCRIPTS_TO_WEIGH } from './keys.ts';
import { spendableOutputs, type UnspentOutput } from './outputs.ts';
import { markUsed, nextUnusedScript, type ScriptOwner } from './scripts.ts';
import {
  type SignedTransaction,
  signTransaction,
  type TransactionInput,
  type TransactionOutput,
} from './transaction.ts';

/** An output to pay, with the terms of {@link OutputTerms}. */
export interface PaidOutput extends TransactionOutput, OutputTerms {}

/** A payment from the coins of one owner. */
export interface SpendOrder {
  readonly owner: ScriptOwner;
  readonly outputs: readonly PaidOutput[];
  /** Satoshis per virtual byte. */
  readonly feeRate: number;
  /** The most that may go to the miners; null, or leaving it out, is no limit. */
  readonly maxFeeMsat?: bigint | null;
}

/** A payment that is in the mempool. */
export interface Spent {
  readonly transaction: SignedTransaction;
  readonly feeSat: bigint;
  readonly receipts: readonly Receipt[];
}

interface Composed {
  readonly transaction: SignedTransaction;
  readonly feeSat: bigint;
  readonly coins: readonly UnspentOutput[];
}

/**
 * Chooses coins of the owner and signs, within the caller's database transaction; nothing is spent. Throws `refused`,
 * with nothing changed, for dust, when the coins do not suffice (the message names the fee), and when the fee is above
 * the order's limit.
 */
export function composeSpend(world: World, order: SpendOrder): Composed {
  const { owner, outputs } = order;
  requireNoDust(order);
  const change = nextUnusedScript(world, owner, 'change');
  const { coins, feeSat, changeSat } = choose(world, order, change.script);
  requireFeeWithin(feeSat * MSAT_PER_SAT, order.maxFeeMsat ?? null);
  const paid: TransactionOutput[] = [...outputs];
  if (changeSat > 0n) paid.push({ script: change.script, valueSat: changeSat });
  const inputs = coins.map((coin) => signedBy(owner, coin));
  const transaction = signedNow(world, inputs, paid);
  // Another transaction that is signed before this one is published must pay its change to another address.
  if (changeSat > 0n) markUsed(world, change.script);
  return { transaction, feeSat, coins };
}

/** Does what {@link composeSpend} does, and broadcasts and books the transaction, in one database transaction. */
export function spendCoins(world: World, order: SpendOrder): Spent {
  const { owner, outputs } = order;
  return world.transact(() => {
    const { transaction, feeSat } = composeSpend(world, order);
    const receipts = broadcast(world, {
      transaction,
      payer: owner.owner,
      fee: [{ from: owner.owner, amountMsat: feeSat * MSAT_PER_SAT }],
      terms: outputs,
    });
    return { transaction, feeSat, receipts };
  });
}

/** Throws `refused` when a transaction costs more in fees than is allowed; null is no limit. */
export function requireFeeWithin(feeMsat: bigint, maxFeeMsat: bigint | null): void {
  if (maxFeeMsat === null || feeMsat <= maxFeeMsat) return;
  throw refused(
    `The transaction costs a fee of ${formatAmountMsat(feeMsat)} sats, above the limit of ${formatAmountMsat(maxFeeMsat)} sats: allow a higher fee.`,
  );
}

/** Returns the fee in satoshis that {@link spendCoins} would pay now. Throws `refused` as that does. Writes nothing. */
export function estimateFeeSat(world: World, order: SpendOrder): bigint {
  requireNoDust(order);
  return choose(world, order, SCRIPTS_TO_WEIGH[order.owner.kind]).feeSat;
}

/** The most that one output can hold of all coins, and the fee, in satoshis. Throws `refused` for dust. */
export function mostSpendable(
  world: World,
  {
    owner,
    script,
    feeRate,
  }: Pick<SpendOrder, 'owner' | 'feeRate'> & { readonly script: Uint8Array },
): { readonly valueSat: bigint; readonly feeSat: bigint } {
  const { sumSat, feeSat } = spendAll(spendableOutputs(world, owner.owner), script, feeRate);
  const valueSat = sumSat - feeSat;
  if (valueSat >= dustLimitSat(script)) return { valueSat, feeSat };
  throw refused(
    'The spendable on-chain balance does not pay for a transaction that sends it: receive more, or wait until incoming payments confirm.',
  );
}

/** Signs a transaction that no block below the next one can have. */
export function signedNow(
  world: World,
  inputs: readonly TransactionInput[],
  outputs: readonly TransactionOutput[],
): SignedTransaction {
  const lockTime = tipHeight(world);
  return signTransaction({ inputs, outputs, lockTime, auxRand: world.random(32) });
}

/** Returns the transaction input that spends an output of the owner. */
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

function requireNoDust({ outputs }: SpendOrder): void {
  for (const { script, valueSat } of outputs) {
    const leastSat = dustLimitSat(script);
    if (valueSat < leastSat) {
      throw refused(
        `An output of ${valueSat} sats is dust, which the network does not relay; send at least ${leastSat} sats.`,
      );
    }
  }
}

/** Prefers confirmed coins, because a payment with unconfirmed coins is lost when their transaction is replaced. */
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
    `This takes ${sats(amountSat)} and a fee of ${sats(feeSat)}, and the spendable on-chain balance is ${sats(missingSat)} short; choose a smaller amount, or wait until incoming payments confirm and payments on their way have left.`,
  );
}
