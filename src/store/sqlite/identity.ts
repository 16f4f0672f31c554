import type { Database } from 'bun:sqlite';
import type { StoreIdentity } from '../ports.ts';
import type { WriteQueue } from './write-queue.ts';

/** The store's counter, for ports that advance it inside their own transactions. */
export interface StoreCounter {
  /** Adds one to the counter, or to `atLeast` where that is greater, and returns the new count. */
  advance(atLeast?: number): number;
}

/** Prepares the statement of the counter. */
export function storeCounter(db: Database): StoreCounter {
  const advance = db.prepare<{ count: number }, [number]>(
    'UPDATE meta SET count = max(count, ?) + 1 RETURNING count',
  );
  return {
    advance(atLeast = 0) {
      const row = advance.get(atLeast);
      if (!row) throw new Error('The database has lost the row that identifies it.');
      return row.count;
    },
  };
}

/** Returns the {@link StoreIdentity} over SQLite. */
export function sqliteIdentity(
  db: Database,
  queue: WriteQueue,
  counter: StoreCounter,
): StoreIdentity {
  const read = db.prepare<{ id: string; secret: Uint8Array; count: number }, []>(
    'SELECT id, secret, count FROM meta',
  );
  const row = () => {
    const meta = read.get();
    if (!meta) throw new Error('The database has lost the row that identifies it.');
    return meta;
  };
  const { id, secret } = row();
  return {
    id,
    secret,
    count: async () => row().count,
    advance: (atLeast) => queue.write(() => counter.advance(atLeast)),
  };
}
