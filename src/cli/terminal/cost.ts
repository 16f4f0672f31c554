import { formatAmountMsat, parseAmountMsat } from '../../model/amount.ts';
import { fields } from './table.ts';
import { sats } from './words.ts';

/** What a payment costs, before it is sent. Amounts are in sats. */
interface Cost {
  /** Null is everything that is on chain. */
  readonly amount: string | null;
  readonly feeEstimate: string | null;
  /** The most that fees may cost; null where nothing bounds them. */
  readonly maxFee: string | null;
  readonly to: string;
  readonly description: string | null;
}

/** Returns the lines of the question before a payment: what is paid, to whom, and the most it may cost. */
export function costLines({ amount, feeEstimate, maxFee, to, description }: Cost): string[] {
  const estimate = feeEstimate === null ? [] : [`about ${sats(feeEstimate)}`];
  const cap = maxFee === null ? 'without a limit (--max-fee sets one)' : `at most ${sats(maxFee)}`;
  return fields({
    Pay: amount === null ? 'everything that is on chain' : sats(amount),
    To: to,
    For: description,
    Fees: [...estimate, cap].join(', '),
    'In all': amount === null || maxFee === null ? null : `at most ${sats(sum(amount, maxFee))}`,
  });
}

function sum(...amounts: readonly string[]): string {
  return formatAmountMsat(
    amounts.reduce((total, amount) => total + (parseAmountMsat(amount) ?? 0n), 0n),
  );
}
