import { AWAITING_APPROVAL } from '../model/payment.ts';
import { timePart } from '../model/payment-index.ts';
import { type SoughtWord, soughtWords } from '../model/payment-search.ts';
import type { CacheQuery } from './ports.ts';

/** What a list of the payment cache selects, in SQL that every engine reads. */
export interface CacheConditions {
  /** The conditions, with `?` in the place of each value. */
  readonly where: string;
  readonly values: readonly string[];
  readonly order: 'ASC' | 'DESC';
  /** The words that a payment must have, which are among the conditions. */
  readonly sought: readonly SoughtWord[];
}

/** Any time and any prefix of an id, for LIKE: what an index has before the hex characters of its id. */
const BEFORE_HEX = '_'.repeat('0001700000000000000-ln_'.length);

/** The payments that wait for approval. In the JSON of a row no other text has such quotes, which are escaped there. */
const AWAITING = `status = 'pending' AND direction = 'outbound'
  AND json LIKE '%"status_msg":${JSON.stringify(AWAITING_APPROVAL)}%'`;

/** Returns the condition that a payment has a word, with a value for each of its beginnings. */
function hasWord(word: SoughtWord): string {
  return `(${word.map(() => "' ' || words LIKE ?").join(' OR ')})`;
}

/** Returns the values of {@link hasWord}. No word has a character that means anything to LIKE. */
function patternsOf(word: SoughtWord): string[] {
  return word.map((beginning) => `% ${beginning}%`);
}

/**
 * Returns words that find the same, as many as a power of two and each with as many beginnings: a server keeps what a
 * connection prepares, so searches may have few different statements.
 */
function evened(words: readonly SoughtWord[]): SoughtWord[] {
  const most = Math.max(...words.map(({ length }) => length));
  const count = words.length && 2 ** Math.ceil(Math.log2(words.length));
  return Array.from({ length: count }, (_, at) => {
    const word = words[at % words.length] as SoughtWord;
    return Array.from({ length: most }, (_, one) => word[one % word.length] as string);
  });
}

/** Returns what the list of a wallet's payments selects. */
export function cacheConditions(walletId: string, query: CacheQuery): CacheConditions {
  const conditions: string[] = [];
  const values: string[] = [];
  const where = (condition: string, value: string) => {
    conditions.push(condition);
    values.push(value);
  };
  where('wallet = ?', walletId);
  if (query.filter === 'finalized') conditions.push("status != 'pending'");
  else if (query.filter === 'awaiting') conditions.push(AWAITING);
  else if (query.filter !== 'all') where('status = ?', query.filter);
  if (query.after !== null) where(query.order === 'asc' ? 'idx > ?' : 'idx < ?', query.after);
  if (query.direction !== null) where('direction = ?', query.direction);
  if (query.rail !== null) where('rail = ?', query.rail);
  if (query.sinceMs !== null) where('idx >= ?', timePart(query.sinceMs));
  if (query.untilMs !== null) where('idx < ?', timePart(query.untilMs));
  // The column is made of the row's JSON, and so holds the text as JSON (docs/decisions.md 184).
  if (query.externalId !== null) where('external_id = ?', JSON.stringify(query.externalId));
  if (query.idPart !== undefined) {
    // Read of the index alone, as the other filters are: rows that do not fit are not read.
    conditions.push('(idx LIKE ? OR idx LIKE ?)');
    values.push(`${BEFORE_HEX}${query.idPart}%`, `%${query.idPart}`);
  }
  const sought = query.text === undefined ? [] : evened(soughtWords(query.text));
  for (const word of sought) {
    conditions.push(hasWord(word));
    values.push(...patternsOf(word));
  }
  return {
    where: conditions.join(' AND '),
    values,
    order: query.order === 'asc' ? 'ASC' : 'DESC',
    sought,
  };
}
