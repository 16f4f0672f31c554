import type { Log } from '../lib/log.ts';
import type { UnfitRow } from '../store/row-signer.ts';

/** Rows of the database that are not as this sidecar wrote them, and are not used (docs/decisions.md 171). */
export interface UnfitRows {
  /** Tells of a row, once. */
  readonly tell: (row: UnfitRow) => void;
  /** Returns a sentence for health; null where there is none. */
  readonly problem: () => string | null;
}

/** How many rows are named in the log. A writer of the database could otherwise fill it. */
const MOST_TOLD = 1000;

/** Collects them. `namesIds` says whether health may name them to everybody who asks. */
export function unfitRows(log: Log, namesIds: boolean): UnfitRows {
  const told = new Map<string, UnfitRow>();
  return {
    tell(row) {
      const name = `${row.table} ${row.id}`;
      if (told.has(name) || told.size >= MOST_TOLD) return;
      told.set(name, row);
      log.error('A row of the database is not as this sidecar wrote it: it is not used.', {
        table: row.table,
        id: row.id,
      });
    },
    problem() {
      const [first] = told.values();
      if (first === undefined) return null;
      const name = namesIds ? `${first.table} ${first.id}` : `one of ${first.table}`;
      const others = told.size > 1 ? ` and ${told.size - 1} more` : '';
      return `Rows of the database are not as this sidecar wrote them, and are not used (${name}${others}): the log names them. Find out who writes to the database.`;
    },
  };
}
