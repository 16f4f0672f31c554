import { dustLimitSat, INPUT_WEIGHTS, type SpendKind, transactionVsize } from './weight.ts';

/** What coin selection needs to know of an unspent output. */
export interface Coin {
  readonly valueSat: bigint;
  readonly kind: SpendKind;
}

/** What is to be paid, and where what is left over goes. */
export interface SelectionTarget {
  /** Scripts and values of the outputs to pay. */
  readonly outputs: readonly { readonly script: Uint8Array; readonly valueSat: bigint }[];
  readonly changeScript: Uint8Array;
  /** Satoshis per virtual byte. */
  readonly feeRate: number;
}

/** A choice of coins; inputs = outputs + change + fee, always. */
export interface Selection<C extends Coin> {
  readonly coins: readonly C[];
  readonly feeSat: bigint;
  /** Zero when there is no change output: what would have been dust is in the fee. */
  readonly changeSat: bigint;
}

/** Coins that do not suffice; the fee is what the smallest transaction that spends them all would cost. */
export interface Shortfall {
  readonly feeSat: bigint;
  readonly missingSat: bigint;
}

/**
 * Chooses coins for a payment: the smallest single coin that suffices, otherwise the largest ones first. Few inputs
 * make a small fee, and a small sufficient coin leaves the big ones confirmed. Pure; the order of `coins` decides
 * only between coins of the same value.
 */
export function selectCoins<C extends Coin>(
  coins: readonly C[],
  target: SelectionTarget,
): Selection<C> | Shortfall {
  const { feeRate } = target;
  // A coin that costs more than it brings would only make the payment dearer.
  const useful = coins
    .filter((coin) => coin.valueSat > feeOf(INPUT_WEIGHTS[coin.kind], feeRate))
    .toSorted((a, b) => (a.valueSat < b.valueSat ? 1 : a.valueSat > b.valueSat ? -1 : 0));

  for (const coin of useful.toReversed()) {
    const single = settle([coin], target);
    if ('coins' in single) return single;
  }
  for (let count = 2; count < useful.length; count++) {
    const several = settle(useful.slice(0, count), target);
    if ('coins' in several) return several;
  }
  return settle(useful, target);
}

function settle<C extends Coin>(
  coins: readonly C[],
  target: SelectionTarget,
): Selection<C> | Shortfall {
  const scripts = target.outputs.map(({ script }) => script);
  const kinds = coins.map(({ kind }) => kind);
  const vsize = (outputs: readonly Uint8Array[]) =>
    BigInt(transactionVsize(kinds, outputs) * target.feeRate);
  const inSat = coins.reduce((sum, { valueSat }) => sum + valueSat, 0n);
  const outSat = target.outputs.reduce((sum, { valueSat }) => sum + valueSat, 0n);
  const leastFeeSat = vsize(scripts);
  const leftSat = inSat - outSat - leastFeeSat;
  if (leftSat < 0n) return { feeSat: leastFeeSat, missingSat: -leftSat };

  const feeWithChangeSat = vsize([...scripts, target.changeScript]);
  const changeSat = inSat - outSat - feeWithChangeSat;
  return changeSat >= dustLimitSat(target.changeScript)
    ? { coins, feeSat: feeWithChangeSat, changeSat }
    : { coins, feeSat: leastFeeSat + leftSat, changeSat: 0n };
}

function feeOf(weight: number, feeRate: number): bigint {
  return BigInt(Math.ceil((weight * feeRate) / 4));
}
