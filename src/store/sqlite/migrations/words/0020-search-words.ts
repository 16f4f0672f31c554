import type { Database } from 'bun:sqlite';
import { createdAtOfIndex, type PaymentIndex } from '../../../../model/payment-index.ts';
import { searchWordsIn } from '../../../columns/cached.ts';

/** A period, about 25 days, and the end of a wallet's id: what terms of the index begin with. */
const PERIOD_MS = 2 ** 31;

/**
 * Adds the words of cached payments, and an index of them (docs/decisions.md 193). The index names times of creation,
 * not rows: the cache has no numbers for its rows. So payments made in one millisecond share an entry, no entry is ever
 * taken out, and a search compares the words of the rows. What it says of its content is for reading all of the
 * table alone. It takes words as they are, since all of them are in lower case and of characters that are no space.
 */
export function searchWords(db: Database): void {
  db.run(`ALTER TABLE cache ADD COLUMN words TEXT NOT NULL DEFAULT ''`);
  const write = db.query('UPDATE cache SET words = ? WHERE wallet = ? AND idx = ?');
  const read = db.query<{ wallet: string; idx: PaymentIndex; json: string }, []>(
    'SELECT wallet, idx, json FROM cache',
  );
  db.run(`
CREATE VIRTUAL TABLE cache_word
  USING fts5(words, content = 'cache', columnsize = 0, detail = none, tokenize = "ascii tokenchars '.#'");
-- Merging less often halves what a single payment costs.
INSERT INTO cache_word (cache_word, rank) VALUES ('automerge', 8);`);
  const add = db.query('INSERT INTO cache_word (rowid, words) VALUES (?, ?)');
  for (const { wallet, idx, json } of read.iterate()) {
    const words = searchWordsIn(json);
    write.run(words, wallet, idx);
    add.run(createdAtOfIndex(idx), indexedWords(wallet, createdAtOfIndex(idx), words));
  }
}

/** Returns what the index of words keeps of the payments that a wallet made at a time. */
function indexedWords(walletId: string, atMs: number, words: string): string {
  const period = Math.floor(atMs / PERIOD_MS).toString(36);
  const beginning = period + walletId.slice(-6).replace(/[^0-9a-z]/gi, '');
  return beginning + words.replaceAll(' ', ` ${beginning}`);
}
