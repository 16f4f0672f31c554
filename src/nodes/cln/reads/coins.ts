import { dustLimitSat } from '../../../codecs/dust.ts';
import { MSAT_PER_SAT } from '../../../model/amount.ts';
import { isApiError, refused } from '../../../model/errors.ts';
import { feeSatOf } from '../../remote/orders/psbt.ts';
import { unspentShape } from '../words/chain-wire.ts';
import { type ClnOutput, fundsShape, infoShape } from '../words/wire.ts';
import type { ClnRpc } from './rpc.ts';

/** Weight of a signed input by the beginning of its script, as Core Lightning counts it. */
const INPUT_WEIGHT: readonly (readonly [string, bigint])[] = [
  // P2TR, P2WPKH, P2SH-P2WPKH, and P2WSH for the output of a closed channel.
  ['5120', 230n],
  ['0014', 271n],
  ['a914', 363n],
  ['0020', 239n],
];
/** Version, lock time, the numbers of inputs and outputs, marker and flag. */
export const CORE_WEIGHT = 42n;
/** The amount of an output and the length of its script. */
const OUTPUT_FRAME_BYTES = 9n;
/** Change goes to P2TR: 34 bytes of script. */
export const CHANGE_SCRIPT_BYTES = 34n;
/** Less change than this goes to the miner. */
const LEAST_CHANGE_SAT = dustLimitSat(new Uint8Array([0x51, 0x20, ...new Uint8Array(32)]));

/** The wallet's coins: outputs that it can spend now or later. */
export async function readCoins(rpc: ClnRpc): Promise<readonly ClnOutput[]> {
  const { outputs } = await rpc.list('listfunds', {}, fundsShape);
  return outputs.filter(({ status }) => status !== 'spent');
}

/** All coins that the wallet has or had. */
export async function readEveryCoin(rpc: ClnRpc): Promise<readonly ClnOutput[]> {
  return (await rpc.list('listfunds', { spent: true }, fundsShape)).outputs;
}

/** A coin's outpoint. */
export function outpointOf({ txid, output }: Pick<ClnOutput, 'txid' | 'output'>): string {
  return `${txid}:${output}`;
}

/** The coins that nothing holds back, whether they are confirmed or not. */
export async function readFree(owner: ClnRpc): Promise<readonly ClnOutput[]> {
  const [all, { blockheight }] = await Promise.all([
    readCoins(owner),
    owner.read('getinfo', {}, infoShape),
  ]);
  return all.filter(
    (coin) =>
      !coin.reserved &&
      coin.status !== 'immature' &&
      (coin.spendable_at ?? 0) <= blockheight &&
      weightOf(coin) !== null,
  );
}

/** The confirmed ones of the coins, the largest first. */
export function confirmedOf(coins: readonly ClnOutput[]): readonly ClnOutput[] {
  return coins.filter(({ status }) => status === 'confirmed').toSorted(largestFirst);
}

/**
 * The coins that can be spent now: confirmed ones first, the largest first. An unconfirmed one came from a transaction
 * of the wallet itself; it counts only where the Bitcoin node still has that transaction. The node does not forget
 * coins of a transaction that was replaced.
 */
export async function readSpendable(owner: ClnRpc): Promise<readonly ClnOutput[]> {
  const free = await readFree(owner);
  const unconfirmed: ClnOutput[] = [];
  for (const coin of free) {
    if (coin.status === 'unconfirmed' && (await isThere(owner, coin))) unconfirmed.push(coin);
  }
  return [...confirmedOf(free), ...unconfirmed.toSorted(largestFirst)];
}

async function isThere(owner: ClnRpc, { txid, output }: ClnOutput): Promise<boolean> {
  try {
    const found = await owner.read('getutxout', { txid, vout: `${output}` }, unspentShape);
    return found.amount !== null;
  } catch (error) {
    // A backend that cannot tell.
    if (isApiError(error, 'refused', 'unsupported', 'forbidden')) return false;
    throw error;
  }
}

interface Order {
  readonly amountSat: bigint;
  /** Bytes of the script that is paid. */
  readonly scriptBytes: bigint;
  readonly satPerKw: bigint;
}

interface ChosenCoins {
  readonly coins: readonly ClnOutput[];
  /** What Core Lightning takes as the fee when it is given these coins, in satoshis. */
  readonly feeSat: bigint;
}

/** Chooses coins in their order until they pay, and calculates the fee; pure. Throws `refused` for too few. */
export function chooseCoins(
  spendable: readonly ClnOutput[],
  { amountSat, scriptBytes, satPerKw }: Order,
): ChosenCoins {
  const coins: ClnOutput[] = [];
  let sumSat = 0n;
  let weight = startWeight(scriptBytes);
  for (const coin of worthSpending(spendable, satPerKw)) {
    coins.push(coin);
    sumSat += satOf(coin);
    weight += weightOf(coin) ?? 0n;
    const leftSat = sumSat - amountSat;
    if (leftSat < feeSatOf(weight, satPerKw)) continue;
    const withChangeSat = feeSatOf(weight + outputWeight(CHANGE_SCRIPT_BYTES), satPerKw);
    const hasChange = leftSat - withChangeSat >= LEAST_CHANGE_SAT;
    return { coins, feeSat: hasChange ? withChangeSat : leftSat };
  }
  throw refused(
    'The spendable on-chain balance does not pay for this and its fee: send less, or receive more first.',
  );
}

/** The coins that hold more than spending them costs. */
export function worthSpending(coins: readonly ClnOutput[], satPerKw: bigint): readonly ClnOutput[] {
  return coins.filter((coin) => satOf(coin) > feeSatOf(weightOf(coin) ?? 0n, satPerKw));
}

/** The weight that a transaction has before its inputs, with one output of a script of so many bytes. */
export function startWeight(scriptBytes: bigint): bigint {
  return CORE_WEIGHT + outputWeight(scriptBytes);
}

/** The weight of a signed input that spends the coin; null for a kind of script that is not known. */
export function weightOf({ scriptpubkey }: Pick<ClnOutput, 'scriptpubkey'>): bigint | null {
  return INPUT_WEIGHT.find(([start]) => scriptpubkey.startsWith(start))?.[1] ?? null;
}

/** Satoshis that the coin holds. */
export function satOf({ amount_msat }: Pick<ClnOutput, 'amount_msat'>): bigint {
  return amount_msat / MSAT_PER_SAT;
}

function outputWeight(scriptBytes: bigint): bigint {
  return 4n * (OUTPUT_FRAME_BYTES + scriptBytes);
}

function largestFirst(a: ClnOutput, b: ClnOutput): number {
  return Number(b.amount_msat - a.amount_msat);
}
