import { createdAtOfIndex, type PaymentIndex } from '../../model/payment-index.ts';
import { frequentWords, HEX_BEGIN, linesOf } from './lines.ts';
import { markHash, noMarks } from './marks.ts';
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
  /** The sets of what each client made, as in `sets`: null for none, empty where it is not known. */
  readonly makers: string | null;
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

/** What filters begin with, among the words that have a set. */
export const [DIRECTION, RAIL, STATUS] = ['>', '<', '='] as const;
/** The characters of a client that a bundle has. */
const MAKER_PART = 16;
/** What a bundle's `makers` are read by. PostgreSQL keeps them sealed. */
export const MAKERS = { table: 'word_bundle', key: ['id'], columns: ['makers'] } as const;

/** Returns what `makers` has of a client. */
export const madeBy = (client: string): string => client.slice(0, MAKER_PART);

/** Where an index has its time, without the zeros with which each begins. */
const TIME_BEGIN = 3;

/** Returns the bundle of some payments, of which there is at least one, and of who made them, by index, if known. */
export function bundleOf(
  payments: readonly Bundled[],
  makers: ReadonlyMap<PaymentIndex, string> | null = new Map(),
): Bundle {
  const marks = noMarks();
  const frequent = frequentWords(payments);
  let [lowest, highest] = [payments[0]?.idx as PaymentIndex, '' as PaymentIndex];
  for (const { idx } of payments) {
    markHash(marks, idx, HEX_BEGIN);
    if (idx < lowest) lowest = idx;
    if (idx > highest) highest = idx;
  }
  const lines = linesOf(payments, frequent, marks);
  const sets = [
    ...setsOf(payments, DIRECTION, ({ direction }) => direction),
    ...setsOf(payments, RAIL, ({ rail }) => rail),
    ...setsOf(payments, STATUS, ({ status }) => status),
    ...frequent.map(({ word, set }) => `\n${word} ${textOfSet(set)}`),
  ];
  return {
    since: createdAtOfIndex(lowest),
    until: createdAtOfIndex(highest),
    marks: textOfSet(marks),
    sets: sets.join(''),
    makers: makers === null ? '' : makerSets(payments, makers),
    ids: partsOf(payments, [HEX_BEGIN, -ID_PART], ID_PART),
    times: partsOf(payments, [TIME_BEGIN], TIME),
    lines,
  };
}

function makerSets(payments: readonly Bundled[], makers: ReadonlyMap<PaymentIndex, string>) {
  const sets = setsOf(payments, '', ({ idx }) => {
    const maker = makers.get(idx);
    return maker && madeBy(maker);
  });
  return sets.length === 0 ? null : sets.join('');
}

/** Returns parts of each index, one behind the other: at these places from its beginning or its end. */
function partsOf(payments: readonly Bundled[], places: readonly number[], length: number): string {
  const bytes = Buffer.allocUnsafe(payments.length * places.length * length);
  let end = 0;
  // This takes half the time of joining texts.
  for (const { idx } of payments) {
    for (const place of places) {
      const from = place < 0 ? idx.length + place : place;
      for (let at = from; at < from + length; at++) {
        bytes[end] = idx.charCodeAt(at);
        end += 1;
      }
    }
  }
  return bytes.toString('latin1');
}

/** The sets of the payments that have each of the values of a filter. */
function setsOf(
  payments: readonly Bundled[],
  sign: string,
  of: (payment: Bundled) => string | undefined,
): string[] {
  const sets = new Map<string, RowSet>();
  let last: string | null = null;
  let set = rowSet(payments.length);
  for (let row = 0; row < payments.length; row++) {
    const value = of(payments[row] as Bundled);
    if (value === undefined) continue;
    if (value !== last) {
      set = sets.get(value) ?? rowSet(payments.length);
      sets.set(value, set);
      last = value;
    }
    addRow(set, row);
  }
  return [...sets].map(([value, set]) => `\n${sign}${value} ${textOfSet(set)}`);
}
