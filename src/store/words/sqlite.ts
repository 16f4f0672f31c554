import { createdAtOfIndex, type PaymentIndex, timePart } from '../../model/payment-index.ts';
import type { Rows } from '../rows/rows.ts';
import type { Steps } from '../rows/steps.ts';
import type { FoundWords, WantedWords, WordIndex } from './word-index.ts';

/** A period, about 25 days: FTS5 reads all that begins with a word of a wallet and period before the first of it. */
const PERIOD_MS = 2 ** 31;
/** Entries that are read of a period at first; all of them are read where these are not enough. */
const FIRST = 500;
/** Entries whose payments are compared before other requests are served, which takes some milliseconds. */
const AT_ONCE = 1000;

const isUp = ({ fits }: WantedWords): boolean => fits.order === 'ASC';

const periodOf = (atMs: number): number => Math.floor(atMs / PERIOD_MS);

/** What terms of the index begin with: their period and the end of their wallet's id, of letters and digits alone. */
const beginningOf = (walletId: string, period: number): string =>
  period.toString(36) + walletId.slice(-6).replace(/[^0-9a-z]/gi, '');

/** Returns what the index of words keeps of the payments that a wallet made at a time. */
export function indexedWords(walletId: string, atMs: number, words: string): string {
  const beginning = beginningOf(walletId, periodOf(atMs));
  return beginning + words.replaceAll(' ', ` ${beginning}`);
}

/**
 * Returns how the index of words is read, a period at a time. An entry names a time of creation, and may be of words
 * that a payment had before, so the rows of that time are compared (the step of the schema says why).
 */
export function sqliteWordIndex(query: Rows['query']): WordIndex {
  return { find: (wanted) => periodOfPayment(wanted, wanted.range[isUp(wanted) ? 0 : 1]) };

  /** Finds what is in the period of a payment, and goes on from there. */
  function periodOfPayment(wanted: WantedWords, from: PaymentIndex): Steps<FoundWords> {
    const { where, values, order } = wanted.listed;
    const atMs = createdAtOfIndex(from);
    const first = periodOf(atMs) * PERIOD_MS;
    const last = first + PERIOD_MS - 1;
    const [lowest, highest] = wanted.range;
    const beyond = query<{ idx: PaymentIndex }>(
      `SELECT idx FROM cache WHERE ${where} AND idx ${isUp(wanted) ? '>' : '<'} ? ORDER BY idx ${order} LIMIT 1`,
    );
    function* later(): Steps<FoundWords> {
      const edge = timePart(isUp(wanted) ? last + 1 : first);
      // An index that was damaged leads nowhere, and not back.
      const next = yield* beyond.one(...values, edge > from === isUp(wanted) ? edge : from);
      if (next === null || next.idx < lowest || next.idx > highest)
        return { found: [], next: null };
      return yield* periodOfPayment(wanted, next.idx);
    }
    const sinceMs = Math.max(first, createdAtOfIndex(lowest));
    const untilMs = Math.min(last, createdAtOfIndex(highest));
    return entries(wanted, [sinceMs, untilMs], FIRST, later);
  }

  /** Finds what is between two times of one period. */
  function* entries(
    wanted: WantedWords,
    [sinceMs, untilMs]: readonly [number, number],
    most: number | null,
    later: () => Steps<FoundWords>,
  ): Steps<FoundWords> {
    const { where, values, order, sought } = wanted.fits;
    const beginning = beginningOf(wanted.walletId, periodOf(sinceMs));
    // Where even a rare word has many payments, what has all of the words is less than what has to be compared.
    const match = (most === null ? sought : wanted.rare)
      .map((word) => `(${word.map((start) => `"${beginning}${start}"*`).join(' OR ')})`)
      .join(' AND ');
    const times = yield* query<{ at: number }>(
      `SELECT rowid AS at FROM cache_word WHERE cache_word MATCH ? AND rowid BETWEEN ? AND ?
       ORDER BY rowid ${order} LIMIT ?`,
    ).all(match, sinceMs, untilMs, most ?? -1);
    const last = times.at(-1)?.at;
    if (last === undefined || most === null || times.length < most) return yield* rows(0, later);
    const rest = isUp(wanted) ? ([last + 1, untilMs] as const) : ([sinceMs, last - 1] as const);
    return yield* rows(0, () => entries(wanted, rest, null, later));

    /** Compares the payments of these times, some at once. */
    function* rows(from: number, next: () => Steps<FoundWords>): Steps<FoundWords> {
      const to = from + AT_ONCE;
      const [lowest, highest] = wanted.range;
      const ranges = times.slice(from, to).map(({ at }) => {
        const [since, until] = [timePart(at), timePart(at + 1)];
        return [since > lowest ? since : lowest, until < highest ? until : highest];
      });
      // A second condition on the index would have SQLite read the whole range for each time.
      const found = yield* query<{ idx: string }>(
        `SELECT idx FROM (SELECT value ->> 0 AS since, value ->> 1 AS until FROM json_each(?))
         CROSS JOIN cache INDEXED BY sqlite_autoindex_cache_1
         WHERE idx BETWEEN since AND until AND ${where} ORDER BY idx ${order}`,
      ).all(JSON.stringify(ranges), ...values);
      return {
        found: found.map(({ idx }) => idx),
        next: to < times.length ? () => rows(to, next) : next,
      };
    }
  }
}
