import { hex } from '@scure/base';
import { refused } from '../../../model/errors.ts';
import { feeSuffices } from '../../refusals.ts';
import { noChangeLeft } from './onchain-send.ts';
import { feeSatOf, weightOf } from './psbt.ts';

/** A transaction of the wallet that is in no block yet. */
export interface UnconfirmedTransaction {
  readonly txid: string;
  readonly txHex: string;
  readonly feeSat: bigint;
  /** The coins of the wallet that it spends, as `<txid>:<vout>`. */
  readonly spends: readonly string[];
}

/** An unspent output of an unconfirmed transaction that is the wallet's. */
export interface UnconfirmedCoin {
  /** `<txid>:<vout>`. */
  readonly outpoint: string;
  readonly amountSat: bigint;
  /** Whether it is kept for a transaction that is not published yet. */
  readonly isReserved: boolean;
  /** The weight of a transaction that spends it alone, into one output of the wallet. */
  readonly childWeight: bigint;
}

/** A further child of a send, with a fee for itself and for those before it (CPFP). */
export interface FeeChild {
  /** The coin that it spends. */
  readonly outpoint: string;
  readonly satPerKw: bigint;
  /** What it costs, in satoshis. */
  readonly feeSat: bigint;
}

/**
 * The child that an unconfirmed send needs for the feerate; null where one that pays as much is there. Throws `refused`
 * where the fee of the send itself suffices, or its change is gone, reserved, or too small.
 */
export function feeChild(
  send: UnconfirmedTransaction,
  transactions: readonly UnconfirmedTransaction[],
  coins: readonly UnconfirmedCoin[],
  satPerKw: bigint,
): FeeChild | null {
  const family = familyOf(send, transactions);
  const weight = sum(family.map(({ txHex }) => weightOf(hex.decode(txHex))));
  const paidSat = sum(family.map(({ feeSat }) => feeSat));
  if (paidSat >= feeSatOf(weight, satPerKw)) {
    if (family.length > 1) return null;
    throw feeSuffices();
  }
  const coin = changeOf(family.at(-1) ?? send, coins);
  if (coin === undefined) throw noChangeLeft();
  const { outpoint, amountSat, isReserved, childWeight } = coin;
  if (isReserved) {
    throw refused(
      'The change of the transaction is reserved for something else: try again when that is over.',
    );
  }
  const wantedSat = feeSatOf(weight + childWeight, satPerKw) - paidSat;
  const childSatPerKw = (wantedSat * 1000n + childWeight - 1n) / childWeight;
  const feeSat = feeSatOf(childWeight, childSatPerKw);
  if (amountSat <= feeSat) {
    throw refused('The change of the transaction does not pay for a higher fee.');
  }
  return { outpoint, satPerKw: childSatPerKw, feeSat };
}

/** A send and the transactions that spend its change, each that of the one before. */
function familyOf(
  send: UnconfirmedTransaction,
  transactions: readonly UnconfirmedTransaction[],
): UnconfirmedTransaction[] {
  const family = [send];
  for (let last: UnconfirmedTransaction | undefined = send; last !== undefined; ) {
    const before: string = `${last.txid}:`;
    last = transactions.find(({ spends }) => spends.some((coin) => coin.startsWith(before)));
    if (last !== undefined) family.push(last);
  }
  return family;
}

/** An output of the transaction that is the wallet's, not a reserved one where there is another. */
function changeOf(
  { txid }: UnconfirmedTransaction,
  coins: readonly UnconfirmedCoin[],
): UnconfirmedCoin | undefined {
  return coins
    .filter(({ outpoint }) => outpoint.startsWith(`${txid}:`))
    .toSorted((a, b) => Number(a.isReserved) - Number(b.isReserved))[0];
}

function sum(numbers: readonly bigint[]): bigint {
  return numbers.reduce((all, one) => all + one, 0n);
}
