import type { Database } from 'bun:sqlite';
import { lineageIn } from '../lineage.ts';
import type { Advance, StoreIdentity } from '../ports.ts';
import { newWord } from '../word.ts';
import type { WriteQueue } from './write-queue.ts';

/** The store's counter, for ports that advance it inside their own transactions. */
interface StoreCounter {
  /** Adds one to the counter, or to `atLeast` where that is greater. */
  advance(atLeast?: number): Advance;
}

interface Row {
  readonly id: string;
  readonly secret: Uint8Array;
  readonly count: number;
  readonly confirmed_at: number;
  readonly unconfirmed: number | null;
}

const GONE = 'The database has lost the row that identifies it.';

/** Prepares the statements of the counter. */
export function storeCounter(db: Database): StoreCounter {
  const advance = db.prepare<{ count: number }, [number]>(
    'UPDATE meta SET count = max(count, ?) + 1 RETURNING count',
  );
  const keep = db.prepare('INSERT INTO advance (count, word) VALUES (?, ?)');
  return {
    advance(atLeast = 0) {
      const row = advance.get(atLeast);
      if (!row) throw new Error(GONE);
      const made = { count: row.count, word: newWord() };
      keep.run(made.count, made.word);
      return made;
    },
  };
}

/** Returns the {@link StoreIdentity} over SQLite. A file does not go back while a process has it open. */
export function sqliteIdentity(
  db: Database,
  queue: WriteQueue,
  counter: StoreCounter,
  isSigned: boolean,
): StoreIdentity {
  const read = db.prepare<Row, []>('SELECT id, secret, count, confirmed_at, unconfirmed FROM meta');
  const word = db.prepare<{ word: string }, [number]>('SELECT word FROM advance WHERE count = ?');
  const distrust = db.prepare('UPDATE meta SET unconfirmed = max(coalesce(unconfirmed, 0), ?)');
  const confirmed = db.prepare('UPDATE meta SET unconfirmed = NULL, confirmed_at = ?');
  const row = () => {
    const meta = read.get();
    if (!meta) throw new Error(GONE);
    return meta;
  };
  const { id, secret } = row();
  const wordAt = (count: number) => word.get(count)?.word ?? null;
  return {
    id,
    secret,
    isSigned,
    async standing(marked) {
      const { count, confirmed_at: confirmedAt, unconfirmed } = row();
      const newest = { count, word: wordAt(count) };
      const history = { newest, confirmedAt, wordAt };
      return {
        newest,
        lineage: lineageIn(marked === null ? [] : [marked], history),
        isUnconfirmed: unconfirmed !== null,
      };
    },
    advance: () => queue.write(() => counter.advance()),
    distrust: (count) => queue.write(() => void distrust.run(count)),
    confirm: (atLeast) =>
      queue.write(() => {
        const made = counter.advance(Math.max(atLeast, row().unconfirmed ?? 0));
        confirmed.run(made.count);
        return made;
      }),
    onDoubt: () => undefined,
  };
}
