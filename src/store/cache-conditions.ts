import { AWAITING_APPROVAL } from '../model/payment.ts';
import { timePart } from '../model/payment-index.ts';
import type { CacheQuery } from './ports.ts';

/** What a list of the payment cache selects, in SQL that every engine reads. */
interface CacheConditions {
  /** The conditions, with `?` in the place of each value. */
  readonly where: string;
  readonly values: readonly string[];
  readonly order: 'ASC' | 'DESC';
}

/** Any time and any prefix of an id, for LIKE: what an index has before the hex characters of its id. */
const BEFORE_HEX = '_'.repeat('0001700000000000000-ln_'.length);

/** The payments that wait for approval. In the JSON of a row no other text has such quotes, which are escaped there. */
const AWAITING = `status = 'pending' AND direction = 'outbound'
  AND json LIKE '%"status_msg":${JSON.stringify(AWAITING_APPROVAL)}%'`;

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
  return {
    where: conditions.join(' AND '),
    values,
    order: query.order === 'asc' ? 'ASC' : 'DESC',
  };
}
