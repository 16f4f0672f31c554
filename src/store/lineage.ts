import type { Advance, Lineage } from './ports.ts';

/** The history of a store, as far as it is compared. */
export interface History {
  readonly newest: Advance;
  /** The count of the owner's last confirmation; 0 where there was none. */
  readonly confirmedAt: number;
  /** The word of the advance with that count; null where it has none. */
  wordAt(count: number): string | null;
}

/** Returns how a store stands to the first advance seen of it that does not fit (docs/decisions.md 145). */
export function lineageIn(seen: readonly Advance[], history: History): Lineage {
  return seen.map((one) => lineageOf(one, history)).find((lineage) => lineage !== 'same') ?? 'same';
}

function lineageOf(seen: Advance, { newest, confirmedAt, wordAt }: History): Lineage {
  if (seen.count > newest.count) return 'behind';
  // The owner has looked at the budgets since, whatever the history before was.
  if (seen.count < confirmedAt) return 'same';
  // A marker of an earlier version has no word. It can be compared by its count alone.
  if (seen.word === null) return 'same';
  return wordAt(seen.count) === seen.word ? 'same' : 'branched';
}
