import { createdAtOfIndex, type PaymentIndex } from '../../model/payment-index.ts';
import { markWord, noMarks } from './marks.ts';
import { addRow, type RowSet, rowSet, textOfSet } from './row-set.ts';

/** The columns of a cached payment that a bundle says. */
export interface Bundled {
  readonly idx: PaymentIndex;
  readonly status: string;
  readonly direction: string;
  readonly rail: string;
  readonly words: string;
}

/** What some payments say, each of which has a number in it (docs/decisions.md 193). */
export interface Bundle {
  /** The times of creation of the first and of the last. */
  readonly since: number;
  readonly until: number;
  /** The marks of the words that `lines` has, and of the payments' own ids. */
  readonly marks: string;
  /** Filters and words that many have: each in a line of its own, with the set of those that have it. */
  readonly sets: string;
  /** The first and the last characters of each id, as many of each as {@link ID_PART}. */
  readonly ids: string;
  /** The times of creation, each as long as {@link TIME}. */
  readonly times: string;
  /** All other words: a line for each payment that has any, which begins with its number. */
  readonly lines: string;
}

/** The characters of an id that a bundle has of either end: the fewest by which a payment is looked for. */
export const ID_PART = 4;
/** The characters of a time of creation, without the zeros with which each begins. */
export const TIME = 16;
/** Where an index has its time, and the hex characters of its id. */
const [TIME_BEGIN, HEX_BEGIN] = [3, 23] as const;
/** The base of the numbers at the beginning of lines. */
export const LINE_BASE = 36;

/** What filters begin with, among the words that have a set. */
export const [DIRECTION, RAIL, STATUS] = ['>', '<', '='] as const;

const [SPACE, HASH] = [32, 35] as const;
/** Of each so many payments the words are counted: those that two of them have are taken for frequent. */
const COUNTED = 7;
/** Places of the table of frequent words, of which there are fewer. */
const PLACES = 1024;

/** Returns the bundle of some payments, of which there is at least one. */
export function bundleOf(payments: readonly Bundled[]): Bundle {
  const frequent = frequentWords(payments);
  const filters = new Map<string, RowSet>();
  const marks = noMarks();
  let [lines, ids, times] = ['', '', ''];
  let [lowest, highest] = [payments[0]?.idx ?? '', ''];
  payments.forEach((payment, row) => {
    const { idx, direction, rail, status } = payment;
    for (const filter of [DIRECTION + direction, RAIL + rail, STATUS + status]) {
      const set = filters.get(filter) ?? rowSet(payments.length);
      filters.set(filter, set);
      addRow(set, row);
    }
    lines += lineOf(payment, row, frequent, marks);
    const hash = `#${idx.slice(HEX_BEGIN, HEX_BEGIN + ID_PART)}`;
    markWord(marks, hash, 0, hash.length);
    ids += hash.slice(1) + idx.slice(-ID_PART);
    times += idx.slice(TIME_BEGIN, TIME_BEGIN + TIME);
    if (idx < lowest) lowest = idx;
    if (idx > highest) highest = idx;
  });
  const sets = [...filters, ...frequent.sets].map(([word, set]) => `\n${word} ${textOfSet(set)}`);
  return {
    since: createdAtOfIndex(lowest as PaymentIndex),
    until: createdAtOfIndex(highest as PaymentIndex),
    marks: textOfSet(marks),
    sets: sets.join(''),
    ids,
    times,
    lines,
  };
}

/** Frequent words, which are found by a number of their characters: it takes a third of the time of a Map. */
interface Frequent {
  readonly sets: ReadonlyMap<string, RowSet>;
  readonly places: readonly ({ readonly word: string; readonly set: RowSet } | undefined)[];
}

function frequentWords(payments: readonly Bundled[]): Frequent {
  const seen = new Set<string>();
  const sets = new Map<string, RowSet>();
  const places: Frequent['places'][number][] = Array(PLACES).fill(undefined);
  for (let at = 0; at < payments.length; at += COUNTED) {
    for (const word of new Set(payments[at]?.words.split(' '))) {
      if (!seen.has(word)) {
        seen.add(word);
      } else if (!sets.has(word) && isCounted(word) && sets.size < PLACES / 2) {
        const set = rowSet(payments.length);
        sets.set(word, set);
        let place = placeOf(mixed(word));
        while (places[place]) place = (place + 1) % PLACES;
        places[place] = { word, set };
      }
    }
  }
  return { sets, places };
}

/** Whether a word may be a frequent one. Ids are in lines alone, since few payments have the same. */
const isCounted = (word: string): boolean => word !== '' && word.charCodeAt(0) !== HASH;

function mixed(word: string): number {
  let mix = 0;
  for (let at = 0; at < word.length; at++) mix = Math.imul(mix ^ word.charCodeAt(at), 16_777_619);
  return mix;
}

const placeOf = (mix: number): number => ((mix ^ (mix >>> 15)) >>> 0) % PLACES;

/** Adds a payment to the sets of its frequent words. Returns its line, which has the others and marks them. */
function lineOf(
  { idx, words }: Bundled,
  row: number,
  { places }: Frequent,
  marks: RowSet,
): string {
  let line = '';
  // Without a list of the words, which takes longer than all the rest.
  for (let [from, to] = [0, 0]; from < words.length; from = to + 1) {
    let mix = 0;
    to = from;
    for (let code = words.charCodeAt(to); code !== SPACE && to < words.length; ) {
      mix = Math.imul(mix ^ code, 16_777_619);
      to += 1;
      code = words.charCodeAt(to);
    }
    const isHash = words.charCodeAt(from) === HASH;
    let place = placeOf(mix);
    let frequent = isHash ? undefined : places[place];
    while (frequent) {
      if (frequent.word.length === to - from && words.startsWith(frequent.word, from)) break;
      place = (place + 1) % PLACES;
      frequent = places[place];
    }
    if (frequent) {
      addRow(frequent.set, row);
    } else if (!isHash || !idx.startsWith(words.slice(from + 1, to), HEX_BEGIN)) {
      line += ` ${words.slice(from, to)}`;
      markWord(marks, words, from, to);
    }
  }
  return line === '' ? '' : `\n${row.toString(LINE_BASE)}${line}`;
}
