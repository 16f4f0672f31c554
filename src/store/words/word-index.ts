import type { PaymentIndex } from '../../model/payment-index.ts';
import type { SoughtWord } from '../../model/payment-search.ts';
import type { CacheConditions } from '../cache-conditions.ts';
import type { Steps } from '../rows/steps.ts';

/** What is looked for in an index of words. */
export interface WantedWords {
  readonly walletId: string;
  /** Those of the words that are looked for at first, which few payments have. */
  readonly rare: readonly SoughtWord[];
  /** What a payment must fit, besides the range. */
  readonly fits: CacheConditions;
  /** The same without the words, which other indexes answer. */
  readonly listed: CacheConditions;
  /** The first and the last index that a payment may have, by their text. */
  readonly range: readonly [PaymentIndex, PaymentIndex];
  readonly most: number;
}

/** Some of the payments that fit, in order, and what finds more of them; null where these are all or the most. */
export interface FoundWords {
  readonly found: readonly string[];
  readonly next: (() => Steps<FoundWords>) | null;
}

/** How an engine finds cached payments by its index of their words. */
export interface WordIndex {
  find(wanted: WantedWords): Steps<FoundWords>;
}
