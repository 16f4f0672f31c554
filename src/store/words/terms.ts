import { type SoughtWord, soughtWords } from '../../model/payment-search.ts';
import type { CacheQuery } from '../ports.ts';
import { type Bundle, DIRECTION, ID_PART, madeBy, RAIL, STATUS, TIME } from './bundle.ts';
import { LINE_BASE } from './lines.ts';
import { mayHave } from './marks.ts';
import { addRow, addRows, emptySet, FULL, keepRows, type RowSet, rowsOf } from './row-set.ts';

/** What a payment must have to be found: one of these. */
export interface Term {
  /** Beginnings of words. */
  readonly starts: readonly string[];
  /** Filters, of which every bundle has the sets. */
  readonly filters: readonly string[];
  /** What `makers` has of the client that made it. */
  readonly makers: readonly string[];
  /** First and last characters of its own id. */
  readonly first: readonly string[];
  readonly last: readonly string[];
}

/** Terms that are looked for in bundles: what has these is compared with the rest. */
const MOST_TERMS = 12;

const NONE: Term = { starts: [], filters: [], makers: [], first: [], last: [] };

/** Returns what payments must have that fit a query: some that have all of it may not fit. */
export function termsOf(query: CacheQuery): Term[] {
  const { text = '', idPart, direction, rail, externalId, filter, maker } = query;
  // Its words are among those of the payment.
  const words = new Map(
    [...soughtWords(text), ...soughtWords(externalId ?? '')].map((word) => [word.join(' '), word]),
  );
  const statuses = statusesOf(filter).map((status) => STATUS + status);
  return [
    ...(statuses.length > 0 ? [{ ...NONE, filters: statuses }] : []),
    ...(direction === null ? [] : [{ ...NONE, filters: [DIRECTION + direction] }]),
    ...(rail === null ? [] : [{ ...NONE, filters: [RAIL + rail] }]),
    ...(maker === undefined ? [] : [{ ...NONE, makers: [madeBy(maker)] }]),
    ...(idPart === undefined
      ? []
      : [{ ...NONE, first: [idPart.slice(0, ID_PART)], last: [idPart.slice(-ID_PART)] }]),
    ...[...words.values()].map(termOfWord),
  ].slice(0, MOST_TERMS);
}

function termOfWord(word: SoughtWord): Term {
  const hashes = word.filter((start) => start.startsWith('#'));
  return { ...NONE, starts: word, first: hashes.map((hash) => hash.slice(1, 1 + ID_PART)) };
}

function statusesOf(filter: CacheQuery['filter']): readonly string[] {
  if (filter === 'all') return [];
  if (filter === 'finalized') return ['completed', 'failed'];
  return [filter === 'awaiting' ? 'pending' : filter];
}

/** What is read of a bundle first; its ids where {@link partsOfIds} are needed. */
export type BundleHead = Pick<Bundle, 'marks' | 'sets'> & Partial<Pick<Bundle, 'makers' | 'ids'>>;
/** What is read of those that may have payments with all terms; their ids where {@link mayNeedIds}. */
export type BundleWords = BundleHead & Pick<Bundle, 'lines'>;

/** The characters of either end of an id, where a term is the last ones, of which there are no marks. */
export function partsOfIds(terms: readonly Term[]): string[] {
  return terms.flatMap(({ first, last }) => (last.length > 0 ? [...first, ...last] : []));
}

/** Whether a term may be characters of an id. */
export function mayNeedIds(terms: readonly Term[]): boolean {
  return terms.some(({ first }) => first.length > 0);
}

/** Whether a term is a word, of whose beginnings there are marks. */
export function needsMarks(terms: readonly Term[]): boolean {
  return terms.some(({ starts }) => starts.length > 0);
}

/** Whether a bundle may have payments with all terms, as far as the beginning of its row tells. */
export function mayHaveAll(head: BundleHead, terms: readonly Term[]): boolean {
  const { marks, ids } = head;
  let known: RowSet | null = null;
  for (const term of terms) {
    const isOfIds = term.last.length > 0;
    if (!isOfIds && mayBeElsewhere(marks, term)) continue;
    const set = setOf(head, term);
    if (isOfIds) addIds(set, ids ?? '', term);
    if (!keepRows(set, known ?? set)) return false;
    known = set;
  }
  return true;
}

/** Whether the lines or ids of a bundle may have a term that its sets do not have. */
function mayBeElsewhere(marks: string, { starts, first }: Term): boolean {
  return (
    starts.some((start) => mayHave(marks, start)) ||
    first.some((part) => mayHave(marks, `#${part}`))
  );
}

/** Returns the numbers of the payments of a bundle that have all terms. */
export function rowsWithAll(bundle: BundleWords, terms: readonly Term[]): number[] {
  const { marks, ids = '', lines } = bundle;
  let all: RowSet | null = null;
  for (const term of terms) {
    const set = setOf(bundle, term);
    for (const start of term.starts) if (mayHave(marks, start)) addLines(set, lines, start);
    addIds(set, ids, term);
    if (!keepRows(set, all ?? set)) return [];
    all = set;
  }
  return all === null ? [] : [...rowsOf(all)];
}

/** Returns the time of creation of a payment of a bundle. */
export function timeOf(times: string, row: number): number {
  return Number(times.slice(row * TIME, (row + 1) * TIME));
}

/** Returns those with a term by the sets of a bundle. */
function setOf({ sets, makers }: BundleHead, term: Term): RowSet {
  const found = emptySet(lengthIn(sets));
  const add = (text: string, word: string) => {
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
      addRows(found, text, text.indexOf(' ', at) + 1);
    }
  };
  for (const start of term.starts) add(sets, `\n${start}`);
  for (const filter of term.filters) add(sets, `\n${filter} `);
  for (const maker of term.makers) add(makers ?? '', `\n${maker} `);
  return found;
}

/** Returns the line of a client that may have made every payment of a bundle. */
export function setOfAll(sets: string, maker: string): string {
  return `\n${maker} ${FULL.repeat(lengthIn(sets))}`;
}

/** Returns how long each set of a bundle is: as the first one, of a filter. */
function lengthIn(sets: string): number {
  const begin = sets.indexOf(' ') + 1;
  return sets.indexOf('\n', begin) - begin;
}

function addLines(set: RowSet, lines: string, start: string): void {
  const word = ` ${start}`;
  for (let at = lines.indexOf(word); at >= 0; at = lines.indexOf(word, at)) {
    const begin = lines.lastIndexOf('\n', at) + 1;
    addRow(set, Number.parseInt(lines.slice(begin, lines.indexOf(' ', begin)), LINE_BASE));
    at = lines.indexOf('\n', at);
    if (at < 0) return;
  }
}

function addIds(set: RowSet, ids: string, { first, last }: Term): void {
  const add = (part: string, place: number) => {
    for (let at = ids.indexOf(part); at >= 0; at = ids.indexOf(part, at + 1)) {
      if (at % (2 * ID_PART) === place) addRow(set, Math.floor(at / (2 * ID_PART)));
    }
  };
  for (const part of first) add(part, 0);
  for (const part of last) add(part, ID_PART);
}
