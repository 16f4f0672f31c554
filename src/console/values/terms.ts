import { type Amount, fromMsat, type Payable, type Price, toMsat } from '../../client/index.ts';

const MSAT_PER_SAT = 1000n;
/** The least that routing may cost, as the sidecar's own default has it (`--max-fee`). */
const LEAST_FEE_MSAT = 10n * MSAT_PER_SAT;

/** Returns the string by which one way to pay is named. */
export function methodOf(payable: Payable): string {
  if (payable.kind === 'invoice') return payable.invoice;
  if (payable.kind === 'offer') return payable.offer;
  return payable.kind === 'onchain' ? payable.onchain : payable.lnurl;
}

/**
 * Returns the price at which an offer in a currency is paid, and the most that it may cost: its worth now, and the 2
 * per cent by which the receiver's rate may differ (docs/decisions.md 201). Null where an amount is asked for or given.
 */
export function ownPrice(payable: Payable): { price: Price; amount: Amount } | null {
  if (payable.kind !== 'offer' || payable.amount !== null) return null;
  const { price, min_amount: worth } = payable;
  return price && worth && { price, amount: fromMsat((toMsat(worth) * 102n) / 100n) };
}

/**
 * Returns a limit of the fee that a payment seldom reaches: on Lightning 1 % and never less than 10 sats, on chain
 * twice what the node expects. Null where nothing is known. Whole sats, rounded up.
 */
export function usualFeeLimitMsat(
  payable: Pick<Payable, 'kind' | 'fee_estimate'>,
  amountMsat: bigint,
): bigint | null {
  if (payable.kind === 'onchain') {
    return payable.fee_estimate === null ? null : 2n * toMsat(payable.fee_estimate);
  }
  const percentMsat = wholeSats(amountMsat / 100n);
  return percentMsat > LEAST_FEE_MSAT ? percentMsat : LEAST_FEE_MSAT;
}

/** What is wrong with an amount for a way to pay; null when nothing is. */
export function amountProblem(
  { min_amount, max_amount }: Pick<Payable, 'min_amount' | 'max_amount'>,
  amountMsat: bigint | null,
): 'none' | 'small' | 'large' | null {
  if (amountMsat === null) return 'none';
  if (min_amount !== null && amountMsat < toMsat(min_amount)) return 'small';
  return max_amount !== null && amountMsat > toMsat(max_amount) ? 'large' : null;
}

function wholeSats(amountMsat: bigint): bigint {
  return ((amountMsat + MSAT_PER_SAT - 1n) / MSAT_PER_SAT) * MSAT_PER_SAT;
}
