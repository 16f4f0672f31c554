import type { PaymentIndex } from '../../model/payment-index.ts';
import type { Watch, WatchStore } from '../ports.ts';
import { watchKey } from '../watch-key.ts';
import type { RowDatabase, Rows } from './rows.ts';
import { type Steps, together } from './steps.ts';

/** Rows of the watch table, for ports that write them inside their own transactions. */
export interface WatchRows {
  add(walletId: string, watch: Watch): Steps<unknown>;
  /**
   * Deletes the watches of one payment; only what arrives may be held before its end. Watches of offers and addresses
   * stay. Returns whether its end was watched.
   */
  endPayment(walletId: string, index: PaymentIndex, mayBeHeld: boolean): Steps<boolean>;
  /** Deletes a watch. Returns whether there was one. */
  end(walletId: string, watch: Watch): Steps<boolean>;
  hasAny(walletId: string, watches: readonly Watch[]): Steps<boolean>;
}

/** Prepares the statements of the watch table. */
export function watchRows({ prepare }: Rows): WatchRows {
  const add = prepare(
    'INSERT INTO wallet_sidecar.watch (wallet, kind, key) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  );
  const end = prepare('DELETE FROM wallet_sidecar.watch WHERE wallet = ? AND kind = ? AND key = ?');
  const find = prepare(
    'SELECT kind FROM wallet_sidecar.watch WHERE wallet = ? AND kind = ? AND key = ?',
  );
  return {
    add: (walletId, watch) => add.run(walletId, watch.kind, watchKey(watch)),
    *endPayment(walletId, index, mayBeHeld) {
      // One statement for both kinds, which also tells what it deleted, took SQLite three times as long.
      const [ended] = yield* together([
        end.run(walletId, 'payment', index),
        mayBeHeld && end.run(walletId, 'held', index),
      ]);
      return ended > 0;
    },
    *end(walletId, watch) {
      return (yield* end.run(walletId, watch.kind, watchKey(watch))) > 0;
    },
    *hasAny(walletId, watches) {
      const found = yield* together(
        watches.map((watch) => find.one(walletId, watch.kind, watchKey(watch))),
      );
      return found.some((row) => row !== null);
    },
  };
}

/** Returns the {@link WatchStore}. */
export function watchStore(db: RowDatabase, { prepare }: Rows, rows: WatchRows): WatchStore {
  const wallets = prepare<{ wallet: string }>('SELECT DISTINCT wallet FROM wallet_sidecar.watch');
  const has = prepare('SELECT kind FROM wallet_sidecar.watch WHERE wallet = ? LIMIT 1');
  return {
    add: (walletId, watch) =>
      db.write(walletId, function* () {
        yield* rows.add(walletId, watch);
      }),
    wallets: async () => (await db.read(() => wallets.all())).map(({ wallet }) => wallet),
    has: async (walletId) => (await db.read(() => has.one(walletId))) !== null,
  };
}
