import { formatAmountMsat } from '../../../model/amount.ts';
import { refused } from '../../../model/errors.ts';

/** What may cost too much, and what to do then. */
const WORDS = {
  send: ['The transaction would cost', 'raise max_fee, or wait for lower fees'],
  bump: ['Raising the fee may cost', 'raise max_fee'],
  open: ['Opening the channel may cost', 'wait for lower fees'],
  close: ['Closing the channel may cost', 'wait for lower fees'],
} as const;

/** Throws `refused` when a fee, in millisatoshis, is above the limit; null is no limit. */
export function requireFeeWithin(
  deed: keyof typeof WORDS,
  feeMsat: bigint,
  maxFeeMsat: bigint | null,
): void {
  if (maxFeeMsat === null || feeMsat <= maxFeeMsat) return;
  const [costs, advice] = WORDS[deed];
  throw refused(`${costs} ${formatAmountMsat(feeMsat)} sats, more than is allowed: ${advice}.`);
}
