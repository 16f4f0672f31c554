import type { Database } from 'bun:sqlite';
import type { PaymentIndex } from '../../model/payment-index.ts';
import type { Watch } from '../ports.ts';
import { watchKey } from '../watch-key.ts';

/** Rows of the watch table, for ports that write them inside their own transactions. */
export interface WatchRows {
  add(walletId: string, watch: Watch): void;
  /** Deletes the watches of one payment. Watches of offers and addresses stay. */
  endPayment(walletId: string, index: PaymentIndex): void;
  /** Deletes a watch. Returns whether there was one. */
  end(walletId: string, watch: Watch): boolean;
  /** Whether the wallet has any of these watches. */
  hasAny(walletId: string, watches: readonly Watch[]): boolean;
}

/** Prepares the statements of the watch table. */
export function watchRows(db: Database): WatchRows {
  const add = db.prepare(
    'INSERT INTO watch (wallet, kind, key) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  );
  const endPayment = db.prepare(
    "DELETE FROM watch WHERE wallet = ? AND kind IN ('payment', 'held') AND key = ?",
  );
  const end = db.prepare('DELETE FROM watch WHERE wallet = ? AND kind = ? AND key = ?');
  const find = db.prepare<{ kind: string }, [string, string, string]>(
    'SELECT kind FROM watch WHERE wallet = ? AND kind = ? AND key = ?',
  );
  return {
    add: (walletId, watch) => void add.run(walletId, watch.kind, watchKey(watch)),
    endPayment: (walletId, index) => void endPayment.run(walletId, index),
    end: (walletId, watch) => end.run(walletId, watch.kind, watchKey(watch)).changes > 0,
    hasAny: (walletId, watches) =>
      watches.some((watch) => find.get(walletId, watch.kind, watchKey(watch)) !== null),
  };
}
