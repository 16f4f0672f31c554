import { formatAmountMsat, parseAmountMsat } from '../../model/amount.ts';
import type { Price } from '../../model/prices/price.ts';
import { fields } from './table.ts';
import { priceWords, sats } from './words.ts';

/** What a payment costs, before it is sent. Amounts are in sats. */
interface Cost {
  /** Null is everything that is on chain. */
  readonly amount: string | null;
  /** The price of which the amount is the worth about; null, or left out, where it is exact. */
  readonly price?: Price | null;
  readonly feeEstimate: string | null;
  /** The most that fees may cost; null where nothing bounds them. */
  readonly maxFee: string | null;
  readonly to: string;
  readonly description: string | null;
}

/** Returns the lines of the question before a payment: what is paid, to whom, and the most it may cost. */
export function costLines(cost: Cost): string[] {
  const { amount, price, feeEstimate, maxFee, to, description } = cost;
  const estimate = feeEstimate === null ? [] : [`about ${sats(feeEstimate)}`];
  const cap = maxFee === null ? 'without a limit (--max-fee sets one)' : `at most ${sats(maxFee)}`;
  const paid = amount === null ? 'everything that is on chain' : sats(amount);
  const isExact = amount !== null && maxFee !== null && !price;
  return fields({
    Pay: price ? `${priceWords(price)}, about ${paid}` : paid,
    To: to,
    For: description,
    Fees: [...estimate, cap].join(', '),
    'In all': isExact ? `at most ${sats(sum(amount, maxFee))}` : null,
  });
}

function sum(amount: string, more: string): string {
  return formatAmountMsat((parseAmountMsat(amount) ?? 0n) + (parseAmountMsat(more) ?? 0n));
}
