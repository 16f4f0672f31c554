import { createdAtOfIndex, type PaymentIndex, timePart } from '../../model/payment-index.ts';
import { type CacheConditions, cacheConditions } from '../cache-conditions.ts';
import type { CacheQuery } from '../ports.ts';
import { type Made, makerRows, makersOf, OFFER_JSON } from '../rows/callers/makers.ts';
import type { RawRow, Rows } from '../rows/rows.ts';
import type { Steps } from '../rows/steps.ts';
import { type Bundle, MAKERS, madeBy } from './bundle.ts';
import {
  type BundleHead,
  mayHaveAll,
  mayNeedIds,
  needsMarks,
  partsOfIds,
  rowsWithAll,
  setOfAll,
  termsOf,
  timeOf,
} from './terms.ts';

/** Bundles that are read at first, and at most, before other requests are served. */
const [READ_FIRST, READ_MOST] = [8, 256] as const;
/** Payments after which no more bundles are read at once than before. */
const ENOUGH = 200;
/** Payments that are compared before other requests are served, which takes about a millisecond. */
const COMPARED_AT_ONCE = 250;
/** Payments that are compared one by one in place of reading bundles, where no more have the status asked for. */
const FEW = 5000;

/** Bundles, about 2 MB, of which is kept who made their payments. */
const MOST_OPENED = 10_000;

/** What is looked for by words, filters and characters of ids. */
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

/** Times of creation between which payments are still looked for. */
type Span = readonly [sinceMs: number, untilMs: number];

interface ReadHead extends BundleHead, RawRow {
  readonly id: number;
  readonly since: number;
  readonly until: number;
}

/** How far a search is. */
interface Reading {
  readonly span: Span;
  /** One of the wallet's bundles when the search began: while it is there, the cache was not cleared. */
  readonly anchor: number | null;
  /** The bundle behind which it goes on; null at the beginning. */
  readonly after: ReadHead | null;
  /** Times of payments before which bundles that were not read may have others. */
  readonly waiting: readonly number[];
  readonly atOnce: number;
}

/**
 * Returns what begins a search in bundles. A bundle may say what a payment said before, so the rows of the times that
 * it gives are compared. Loose payments are compared too.
 */
export function bundledWords(rows: Rows) {
  const { query, eachText, among, forEach, forms } = rows;
  const made = makerRows(rows);
  const makersColumn = forms.nameOf(MAKERS.table, 'makers');
  /** Who made the payments of bundles that were read: opening takes most of a search, and no bundle changes. */
  const opened = new Map<number, string>();
  return function* find(wanted: WantedWords): Steps<FoundWords> {
    const few = yield* amongFew(wanted);
    if (few && wanted.query.maker === undefined) return { found: few, next: null };
    if (few)
      return yield* compare(wanted, inOrder(few.map(createdAtOfIndex), isUp(wanted.query)), null);
    const [lowest, highest] = rangeOf(wanted.query);
    return yield* search(wanted, [createdAtOfIndex(lowest), createdAtOfIndex(highest)]);
  };

  /** Compares all payments of the status that is asked for, where they are no more than {@link FEW}; else null. */
  function* amongFew({
    walletId,
    query: asked,
    conditions: { where, values, order },
  }: WantedWords): Steps<readonly PaymentIndex[] | null> {
    if (asked.filter === 'all' || asked.filter === 'finalized') return null;
    const status = asked.filter === 'awaiting' ? 'pending' : asked.filter;
    const more = yield* query(
      'SELECT 1 AS one FROM wallet_sidecar.cache WHERE wallet = ? AND status = ? LIMIT 1 OFFSET ?',
    ).one(walletId, status, FEW);
    if (more) return null;
    const found = yield* query<{ idx: PaymentIndex }>(
      `SELECT idx FROM wallet_sidecar.cache WHERE ${where} ORDER BY idx ${order} LIMIT ?`,
    ).all(...values, asked.maker === undefined ? asked.limit : FEW);
    return found.map(({ idx }) => idx);
  }

  /** Begins a search, at first or where the cache was cleared meanwhile. */
  function* search(wanted: WantedWords, span: Span): Steps<FoundWords> {
    const isUpwards = isUp(wanted.query);
    const terms = termsOf(wanted.query);
    const [edge, compared] = isUpwards ? ['since', '>'] : ['until', '<'];
    const makers = wanted.query.maker === undefined ? '' : `, ${makersColumn}`;
    const columns = `id, since, until, ${needsMarks(terms) ? 'marks' : "'' AS marks"}, sets${makers}`;
    const order = isUpwards ? `${edge}, id` : `${edge} DESC, id DESC`;
    const some = `FROM wallet_sidecar.word_bundle
      WHERE wallet = ? AND until >= ? AND since <= ? AND (${edge}, id) ${compared} (?, ?)
      ORDER BY ${order} LIMIT ?`;
    // The ids of all bundles are 8 MB at a million payments, so those that cannot fit are not sent. PostgreSQL puts
    // each together from several rows, once; replacing is how both engines look for text fast.
    const parts = partsOfIds(terms);
    const mayFit = parts.map(() => "replace(ids, ?, '') <> ids").join(' OR ');
    const heads = query<ReadHead>(
      parts.length === 0
        ? `SELECT ${columns} ${some}`
        : `SELECT ${columns}, CASE WHEN ${mayFit} THEN ids ELSE '' END AS ids
           FROM (SELECT ${columns}, ids || '' AS ids ${some}) AS head ORDER BY ${order}`,
    );
    const beginning = isUpwards ? -1 : Number.MAX_SAFE_INTEGER;
    const anchor = yield* query<{ id: number }>(
      'SELECT id FROM wallet_sidecar.word_bundle WHERE wallet = ? LIMIT 1',
    ).one(wanted.walletId);
    const loose = yield* query<{ idx: PaymentIndex }>(
      'SELECT idx FROM wallet_sidecar.word_loose WHERE wallet = ?',
    ).all(wanted.walletId);
    return yield* read({
      span,
      anchor: anchor?.id ?? null,
      after: null,
      waiting: loose.map(({ idx }) => createdAtOfIndex(idx)).filter(isWithin(span)),
      atOnce: READ_FIRST,
    });

    function* read({
      span: left,
      anchor: first,
      after,
      waiting,
      atOnce,
    }: Reading): Steps<FoundWords> {
      const found = yield* heads.all(
        ...parts,
        wanted.walletId,
        ...left,
        after?.[edge as 'since' | 'until'] ?? beginning,
        after?.id ?? beginning,
        atOnce + 1,
      );
      const some = found.slice(0, atOnce);
      const times = yield* timesIn(some, wanted.query);
      // What was cleared and stored again may be in bundles that were passed.
      if (times === null || !(yield* isThere(first, found.length > 0))) {
        return { found: [], next: () => search(wanted, left) };
      }
      const all = [...waiting, ...times.filter(isWithin(left))];
      const [last, next] = [some.at(-1), found[atOnce]];
      if (last === undefined || next === undefined) {
        return yield* compare(wanted, inOrder(all, isUpwards), null);
      }
      const isReady = (time: number) => (isUpwards ? time < next.since : time > next.until);
      return yield* compare(wanted, inOrder(all.filter(isReady), isUpwards), () =>
        read({
          span: isUpwards
            ? [Math.max(left[0], next.since), left[1]]
            : [left[0], Math.min(left[1], next.until)],
          anchor: first,
          after: last,
          waiting: all.filter((time) => !isReady(time)),
          atOnce: times.length < ENOUGH ? Math.min(2 * atOnce, READ_MOST) : atOnce,
        }),
      );
    }
  }

  /** Returns the times of the payments of these bundles that have all terms; null where a bundle is not there. */
  function* timesIn(heads: readonly ReadHead[], asked: CacheQuery): Steps<number[] | null> {
    const { maker, ...others } = asked;
    const terms = termsOf(asked);
    // Who made them is read last, since it may be sealed.
    const rest = termsOf(others);
    const some = heads.filter((head) => mayHaveAll(head, rest));
    const those =
      maker === undefined
        ? some
        : some
            .map((head) => withMakers(head, madeBy(maker)))
            .filter((head) => mayHaveAll(head, terms));
    const fitting = new Map(those.map((head) => [head.id, head]));
    const read = <Row>(columns: string, ids: readonly number[]) =>
      query<Row & { id: number }>(
        `SELECT id, ${columns} FROM wallet_sidecar.word_bundle WHERE ${among('id')}`,
      ).all(JSON.stringify(ids));
    if (fitting.size === 0) return [];
    const ids = [...fitting.keys()];
    const columns = mayNeedIds(terms) ? 'lines, ids' : 'lines';
    const bundles =
      needsMarks(terms) || mayNeedIds(terms)
        ? yield* read<Pick<Bundle, 'lines'>>(columns, ids)
        : ids.map((id) => ({ id, lines: '' }));
    const rows = new Map(
      bundles.map((bundle) => {
        const head = fitting.get(bundle.id) as ReadHead;
        return [bundle.id, rowsWithAll({ ...head, ...bundle }, terms)];
      }),
    );
    const found = bundles.map(({ id }) => id).filter((id) => rows.get(id)?.length);
    const timed = found.length === 0 ? [] : yield* read<Pick<Bundle, 'times'>>('times', found);
    if (bundles.length < fitting.size || timed.length < found.length) return null;
    return timed.flatMap(({ id, times }) => (rows.get(id) ?? []).map((row) => timeOf(times, row)));
  }

  /** Adds who made the payments of a bundle. Where that cannot be read, each may be of that client. */
  function withMakers(head: ReadHead, maker: string): ReadHead {
    if (head[makersColumn] === null) return head;
    const makers = opened.get(head.id) ?? String(forms.read(MAKERS, head, [])?.makers ?? '');
    if (opened.size >= MOST_OPENED) opened.clear();
    opened.set(head.id, makers);
    return { ...head, makers: makers || setOfAll(head.sets, maker) };
  }

  function* isThere(anchor: number | null, mayBeNew: boolean): Steps<boolean> {
    if (anchor === null) return !mayBeNew;
    const found = yield* query('SELECT 1 AS one FROM wallet_sidecar.word_bundle WHERE id = ?').one(
      anchor,
    );
    return found !== null;
  }

  /** Finds which payments of these times fit, some at once. */
  function* compare(
    wanted: WantedWords,
    times: readonly number[],
    next: FoundWords['next'],
  ): Steps<FoundWords> {
    if (times.length === 0) return { found: [], next };
    const [lowest, highest] = rangeOf(wanted.query);
    const { where, values, order } = unbound(wanted);
    const found = yield* query<Made>(
      `SELECT idx, ${OFFER_JSON} FROM ${eachText} ${forEach(
        'wallet_sidecar.cache',
        'sqlite_autoindex_cache_1',
        `idx BETWEEN value || '-' AND value || '.' AND ${where}`,
      )} ORDER BY idx ${order}`,
    ).all(JSON.stringify(times.slice(0, COMPARED_AT_ONCE).map(timePart)), ...values);
    const rest = times.slice(COMPARED_AT_ONCE);
    const {
      walletId,
      query: { maker },
    } = wanted;
    const makers = maker === undefined ? null : yield* makersOf(made, walletId, found);
    return {
      found: found
        .map(({ idx }) => idx)
        .filter(
          (idx) => idx > lowest && idx < highest && (makers === null || makers.get(idx) === maker),
        ),
      next: rest.length > 0 ? () => compare(wanted, rest, next) : next,
    };
  }
}

const isUp = ({ order }: CacheQuery): boolean => order === 'asc';

const isWithin =
  ([sinceMs, untilMs]: Span) =>
  (time: number): boolean =>
    time >= sinceMs && time <= untilMs;

/** Returns each of these times once. */
function inOrder(times: readonly number[], isUpwards: boolean): number[] {
  // Twice as fast as an array and a comparison, which counts where a word is frequent.
  const sorted = Float64Array.from(times).sort();
  const each = [...sorted].filter((time, at) => time !== sorted[at - 1]);
  return isUpwards ? each : each.toReversed();
}

function unbound({ walletId, query }: WantedWords): CacheConditions {
  return cacheConditions(walletId, { ...query, after: null, sinceMs: null, untilMs: null });
}

/** Returns what the index of a payment is between, by its text: `after`, which is no result, may be one of them. */
function rangeOf({ order, after, sinceMs, untilMs }: CacheQuery): [PaymentIndex, PaymentIndex] {
  const since = timePart(sinceMs ?? 0) as PaymentIndex;
  const until = timePart(untilMs ?? Number.MAX_SAFE_INTEGER) as PaymentIndex;
  if (after === null) return [since, until];
  return order === 'asc'
    ? [after > since ? after : since, until]
    : [since, after < until ? after : until];
}
