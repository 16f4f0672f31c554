import { createdAtOfIndex, type PaymentIndex, timePart } from '../../model/payment-index.ts';
import { cacheConditions } from '../cache-conditions.ts';
import type { CachedRow } from '../rows/payment-cache.ts';
import type { Rows } from '../rows/rows.ts';
import type { Steps } from '../rows/steps.ts';
import { joinedMarks, lineOf, marksOf, mayHave, soughtInLines, timesOfLines } from './lines.ts';
import {
  type FoundWords,
  isUp,
  rangeOf,
  type WantedWords,
  WORDLESS,
  type WordIndex,
} from './word-index.ts';

/** Bundles that are joined to one of the next level. */
const JOINED = 16;
/** Characters from which on a bundle is joined no more, which would cost more than reading some more of them. */
const LARGE = 8 * 1024;
/** The level of bundles that are joined no more. */
const LAST_LEVEL = 9;
/** Bundles that are read before other requests are served, which takes about a millisecond. */
const READ_AT_ONCE = 32;
/** Payments after which no more bundles are read before these are compared. */
const ENOUGH = 2000;
/** Payments that are compared before other requests are served, which takes about a millisecond. */
const COMPARED_AT_ONCE = 250;
/** Payments from which on it is cheaper to ask another index first which of them fit the filters. */
const MANY = 50;

/** Payments that are compared one by one in place of reading bundles, where no more of them fit the filters. */
const FEW = 5000;

type Prepare = Pick<Rows, 'prepare'>;

/**
 * Returns what writes the words of rows of one wallet, in the transaction of the rows, so that none is missing. They
 * are kept once more in bundles, which are read as a whole: a line for each payment, also for what it said before.
 */
export function bundleWriter({ prepare }: Prepare): (rows: readonly CachedRow[]) => Steps<void> {
  const insert = prepare(
    'INSERT INTO word_bundle (wallet, level, since, until, marks, lines) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const count = prepare<{ n: number }>(
    'SELECT count(*) AS n FROM word_bundle WHERE wallet = ? AND level = ?',
  );
  const sizes = prepare<{ bytes: number; marks: Uint8Array }>(
    'SELECT length(CAST(lines AS BLOB)) AS bytes, marks FROM word_bundle WHERE wallet = ? AND level = ?',
  );
  // Before those that it is made of are deleted, so that no bundle ever gets the number of another one.
  const join = prepare(
    `INSERT INTO word_bundle (wallet, level, since, until, marks, lines)
     SELECT wallet, ?, min(since), max(until), ?, group_concat(lines, '') FROM word_bundle
     WHERE wallet = ? AND level = ? GROUP BY wallet`,
  );
  const remove = prepare('DELETE FROM word_bundle WHERE wallet = ? AND level = ?');

  /** Joins the bundles of a level where there are enough, which may make enough of the next one. */
  function* joinLevel(wallet: string, level: number): Steps<void> {
    if (((yield* count.one(wallet, level))?.n ?? 0) < JOINED) return;
    const joined = yield* sizes.all(wallet, level);
    const size = joined.reduce((sum, { bytes }) => sum + bytes, 0);
    const next = size >= LARGE ? LAST_LEVEL : level + 1;
    yield* join.run(next, joinedMarks(joined.map(({ marks }) => marks)), wallet, level);
    yield* remove.run(wallet, level);
    if (next < LAST_LEVEL) yield* joinLevel(wallet, next);
  }

  return function* (rows) {
    const [first] = rows;
    if (first === undefined) return;
    const { wallet } = first;
    let [lowest, highest, lines] = [first.idx, first.idx, ''];
    for (const row of rows) {
      if (row.idx < lowest) lowest = row.idx;
      if (row.idx > highest) highest = row.idx;
      lines += lineOf(row);
    }
    const [since, until] = [createdAtOfIndex(lowest), createdAtOfIndex(highest)];
    const level = lines.length >= LARGE ? LAST_LEVEL : 0;
    yield* insert.run(wallet, level, since, until, marksOf(lines), lines);
    if (level === 0) yield* joinLevel(wallet, level);
  };
}

/** Some of a wallet's bundles, in the order of a list. */
interface Bundle {
  readonly id: number;
  readonly since: number;
  readonly until: number;
  readonly marks: Uint8Array;
}

/**
 * Returns how bundles are read: one after the other. A line says when a payment was made, and may be of words that it
 * had before, so the rows of that time are compared.
 */
export function bundledWords(query: Rows['query']): WordIndex {
  return {
    *find(wanted) {
      const few = yield* amongFew(wanted);
      if (few) return { found: few, next: null };
      const [lowest, highest] = rangeOf(wanted.query);
      return yield* bundlesBetween(wanted, createdAtOfIndex(lowest), createdAtOfIndex(highest));
    },
  };

  /** Compares the payments that fit the filters, where their indexes find no more than {@link FEW}; else null. */
  function* amongFew({
    walletId,
    query: asked,
    conditions,
  }: WantedWords): Steps<readonly PaymentIndex[] | null> {
    if (asked.filter === 'all' && asked.direction === null && asked.rail === null) return null;
    const listed = cacheConditions(walletId, { ...asked, ...WORDLESS });
    const more = yield* query<{ idx: PaymentIndex }>(
      `SELECT idx FROM cache WHERE ${listed.where} ORDER BY idx ${listed.order} LIMIT 1 OFFSET ?`,
    ).one(...listed.values, FEW);
    if (more) return null;
    const { where, values, order } = conditions;
    const found = yield* query<{ idx: PaymentIndex }>(
      `SELECT idx FROM cache WHERE ${where} ORDER BY idx ${order} LIMIT ?`,
    ).all(...values, asked.limit);
    return found.map(({ idx }) => idx);
  }

  function* bundlesBetween(
    wanted: WantedWords,
    sinceMs: number,
    untilMs: number,
  ): Steps<FoundWords> {
    const isUpwards = isUp(wanted.query);
    const order = isUpwards ? 'since' : 'until DESC';
    const sought = soughtInLines(wanted.conditions.sought, wanted.query);
    const all = yield* query<Bundle>(
      `SELECT id, since, until, marks FROM word_bundle
       WHERE wallet = ? AND until >= ? AND since <= ? ORDER BY ${order}`,
    ).all(wanted.walletId, sinceMs, untilMs);
    const bundles = all.filter(({ marks }) => mayHave(marks, sought));
    const linesOf = query<{ lines: Uint8Array }>(
      'SELECT CAST(lines AS BLOB) AS lines FROM word_bundle WHERE id = ? AND wallet = ? AND since = ? AND until = ?',
    );
    return yield* bundlesFrom(0, [sinceMs, untilMs], []);

    /** Reads some bundles. `waiting` are times of payments before which later bundles may have others. */
    function* bundlesFrom(
      first: number,
      [since, until]: readonly [number, number],
      waiting: readonly number[],
    ): Steps<FoundWords> {
      const times = [...waiting];
      const most = waiting.length + ENOUGH;
      let at = first;
      while (at < bundles.length && at < first + READ_AT_ONCE && times.length < most) {
        const { id = null, since: from = null, until: to = null } = bundles[at] ?? {};
        const read = yield* linesOf.one(id, wanted.walletId, from, to);
        // It was joined to others meanwhile, or the cache was cleared, after which another one may have its number.
        if (read === null) return { found: [], next: () => bundlesBetween(wanted, since, until) };
        const found = timesOfLines(read.lines, sought);
        times.push(...found.filter((time) => time >= since && time <= until));
        at += 1;
      }
      const next = bundles[at];
      if (next === undefined) return yield* compared(wanted, inOrder(times), null);
      const isReady = (time: number) => (isUpwards ? time < next.since : time > next.until);
      const rest = times.filter((time) => !isReady(time));
      const left = isUpwards
        ? ([Math.max(since, next.since), until] as const)
        : ([since, Math.min(until, next.until)] as const);
      return yield* compared(wanted, inOrder(times.filter(isReady)), () =>
        bundlesFrom(at, left, rest),
      );
    }

    function inOrder(times: readonly number[]): number[] {
      // Twice as fast as an array and a comparison, which counts where a word is frequent.
      const sorted = Float64Array.from(times).sort();
      const each = [...sorted].filter((time, at) => time !== sorted[at - 1]);
      return isUpwards ? each : each.toReversed();
    }
  }

  /** Finds which payments of these times fit, some at once. */
  function* compared(
    wanted: WantedWords,
    given: readonly number[],
    next: FoundWords['next'],
  ): Steps<FoundWords> {
    const times = given.length > MANY ? yield* fitting(wanted, given) : given;
    return times.length === 0 ? { found: [], next } : yield* from(0);

    function* from(at: number): Steps<FoundWords> {
      const to = at + COMPARED_AT_ONCE;
      const [lowest, highest] = rangeOf(wanted.query);
      const { where, values, order } = unbound(wanted);
      const ranges = times.slice(at, to).map((time) => {
        const [since, until] = [timePart(time), timePart(time + 1)];
        return [since > lowest ? since : lowest, until < highest ? until : highest];
      });
      // A second condition on the index would have SQLite read the whole range for each time.
      const found = yield* query<{ idx: PaymentIndex }>(
        `SELECT idx FROM (SELECT value ->> 0 AS since, value ->> 1 AS until FROM json_each(?))
         CROSS JOIN cache INDEXED BY sqlite_autoindex_cache_1
         WHERE idx BETWEEN since AND until AND ${where} ORDER BY idx ${order}`,
      ).all(JSON.stringify(ranges), ...values);
      return {
        found: found.map(({ idx }) => idx).filter((idx) => idx !== wanted.query.after),
        next: to < times.length ? () => from(to) : next,
      };
    }
  }

  /** Returns the times of which payments may fit a filter that no line says: all of them, or few that do. */
  function* fitting(wanted: WantedWords, times: readonly number[]): Steps<readonly number[]> {
    const { query: asked, walletId } = wanted;
    // No index has what is not pending alone.
    const isSaid = asked.filter === 'all' || asked.filter === 'finalized';
    if (isSaid && asked.externalId === null) return times;
    const ends = [times[0] ?? 0, times.at(-1) ?? 0];
    const between = { sinceMs: Math.min(...ends), untilMs: Math.max(...ends) + 1 };
    const { where, values } = cacheConditions(walletId, {
      ...asked,
      ...WORDLESS,
      ...between,
      after: null,
    });
    const fit = yield* query<{ idx: PaymentIndex }>(
      `SELECT idx FROM cache WHERE ${where} LIMIT ?`,
    ).all(...values, times.length);
    if (fit.length === times.length) return times;
    const among = new Set(fit.map(({ idx }) => createdAtOfIndex(idx)));
    return times.filter((time) => among.has(time));
  }
}

function unbound({ walletId, query }: WantedWords) {
  return cacheConditions(walletId, { ...query, after: null, sinceMs: null, untilMs: null });
}
