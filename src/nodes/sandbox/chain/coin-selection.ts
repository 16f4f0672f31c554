import { dustLimitSat } from '../../../codecs/dust.ts';
import { frameWeight, INPUT_WEIGHTS, type SpendKind, transactionVsize, vsizeOf } from './weight.ts';

/** An unspent output, as far as coin selection needs it. */
export interface Coin {
  readonly valueSat: bigint;
  readonly kind: SpendKind;
}

interface SelectionTarget {
  readonly outputs: readonly { readonly script: Uint8Array; readonly valueSat: bigint }[];
  readonly changeScript: Uint8Array;
  /** Satoshis per virtual byte. */
  readonly feeRate: number;
}

/** A choice of coins. Inputs always equal outputs, change and fee together. */
export interface Selection<C extends Coin> {
  readonly coins: readonly C[];
  readonly feeSat: bigint;
  /** Zero when there is no change output; change that would be dust goes into the fee. */
  readonly changeSat: bigint;
}

/** The result when the coins do not suffice. The fee is that of the smallest transaction that spends all of them. */
export interface Shortfall {
  readonly feeSat: bigint;
  readonly missingSat: bigint;
}

/**
 * Chooses coins for a payment: the smallest single coin that suffices, otherwise the largest coins first. Few inputs
 * make a small fee, and a small coin leaves the large ones unspent and confirmed. Pure; the order of `coins` decides
 * only between coins of the same value.
 */
export function selectCoins<C extends Coin>(
  coins: readonly C[],
  target: SelectionTarget,
): Selection<C> | Shortfall {
  const useful = usefulCoins(coins, target.feeRate).toSorted((a, b) =>
    a.valueSat < b.valueSat ? 1 : a.valueSat > b.valueSat ? -1 : 0,
  );

  for (const coin of useful.toReversed()) {
    const single = settle([coin], target);
    if ('coins' in single) return single;
  }
  return settle(useful.slice(0, enough(useful, target)), target);
}

/** How many of the coins, from the first on, pay for the outputs and the fee; all of them where none do. */
function enough(coins: readonly Coin[], { outputs, feeRate }: SelectionTarget): number {
  const outSat = outputs.reduce((sum, { valueSat }) => sum + valueSat, 0n);
  let weight = frameWeight(outputs.map(({ script }) => script));
  let inSat = 0n;
  for (const [at, { valueSat, kind }] of coins.entries()) {
    inSat += valueSat;
    weight += INPUT_WEIGHTS[kind];
    if (inSat - outSat >= BigInt(vsizeOf(weight) * feeRate)) return at + 1;
  }
  return coins.length;
}

/** Returns what the coins hold together, and the fee of spending all of them on one output, in satoshis. Pure. */
export function spendAll(
  coins: readonly Coin[],
  script: Uint8Array,
  feeRate: number,
): { readonly sumSat: bigint; readonly feeSat: bigint } {
  const useful = usefulCoins(coins, feeRate);
  const kinds = useful.map(({ kind }) => kind);
  return {
    sumSat: useful.reduce((sum, { valueSat }) => sum + valueSat, 0n),
    feeSat: BigInt(transactionVsize(kinds, [script]) * feeRate),
  };
}

/** Without the coins whose input costs more than they hold, which would make a payment more expensive. */
function usefulCoins<C extends Coin>(coins: readonly C[], feeRate: number): C[] {
  return coins.filter((coin) => coin.valueSat > feeOf(INPUT_WEIGHTS[coin.kind], feeRate));
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
