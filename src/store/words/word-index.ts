import { type PaymentIndex, timePart } from '../../model/payment-index.ts';
import type { CacheConditions } from '../cache-conditions.ts';
import type { CacheQuery } from '../ports.ts';
import type { Steps } from '../rows/steps.ts';

/** What is looked for by words. */
export interface WantedWords {
  readonly walletId: string;
  /** The query, whose limit is the most that is to be found. */
  readonly query: CacheQuery;
  readonly conditions: CacheConditions;
}

/** Some of the payments that fit, in order, and what finds more of them; null where these are all or the most. */
export interface FoundWords {
  readonly found: readonly PaymentIndex[];
  readonly next: (() => Steps<FoundWords>) | null;
}

/** How an engine finds cached payments by their words. */
export interface WordIndex {
  find(wanted: WantedWords): Steps<FoundWords>;
}

/** A query without what is compared with words and ids. */
export const WORDLESS = { text: undefined, idPart: undefined };

/** Whether a list begins with the oldest payment. */
export const isUp = ({ order }: CacheQuery): boolean => order === 'asc';

/** Returns the first and the last index that a payment may have, by their text: `after`, which is no result, is one. */
export function rangeOf({
  order,
  after,
  sinceMs,
  untilMs,
}: CacheQuery): [PaymentIndex, PaymentIndex] {
  const since = timePart(sinceMs ?? 0) as PaymentIndex;
  const until = timePart(untilMs ?? Number.MAX_SAFE_INTEGER) as PaymentIndex;
  if (after === null) return [since, until];
  return order === 'asc'
    ? [after > since ? after : since, until]
    : [since, after < until ? after : until];
}
