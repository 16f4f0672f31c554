import type { Database } from 'bun:sqlite';
import type { Payment } from '../../model/payment.ts';
import type { PaymentIndex } from '../../model/payment-index.ts';
import type { Watch, WatchStore } from '../ports.ts';
import type { WriteQueue } from './write-queue.ts';

/** Watches, for the ports that write them inside their own transactions. */
export interface WatchRows {
  add(walletId: string, watch: Watch): void;
  /** Ends the watch of one payment; those of offers and addresses go on. */
  endPayment(walletId: string, index: PaymentIndex): void;
  /** Whether the payment is watched itself, or arrived on an offer or address that is. */
  covers(walletId: string, payment: Payment): boolean;
}

/** Prepared access to the watch table. */
export function watchRows(db: Database): WatchRows {
  const add = db.prepare(
    'INSERT INTO watch (wallet, kind, key) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  );
  const endPayment = db.prepare(
    "DELETE FROM watch WHERE wallet = ? AND kind = 'payment' AND key = ?",
  );
  const covering = db.prepare<{ kind: string }, [string, string, string, string]>(
    `SELECT kind FROM watch WHERE wallet = ?1 AND
       (kind, key) IN (VALUES ('payment', ?2), ('offer', ?3), ('address', ?4)) LIMIT 1`,
  );
  return {
    add: (walletId, watch) => void add.run(walletId, watch.kind, keyOf(watch)),
    endPayment: (walletId, index) => void endPayment.run(walletId, index),
    covers(walletId, { index, direction, offerId, address }) {
      const inbound = direction === 'inbound';
      const arrivedOn = [(inbound && offerId) || '', (inbound && address) || ''] as const;
      return covering.get(walletId, index, ...arrivedOn) !== null;
    },
  };
}

/** {@link WatchStore} over SQLite. */
export function sqliteWatches(db: Database, queue: WriteQueue, rows: WatchRows): WatchStore {
  const wallets = db.prepare<{ wallet: string }, []>('SELECT DISTINCT wallet FROM watch');
  const has = db.prepare<{ kind: string }, [string]>(
    'SELECT kind FROM watch WHERE wallet = ? LIMIT 1',
  );
  return {
    add: (walletId, watch) => queue.write(() => rows.add(walletId, watch)),
    wallets: async () => wallets.all().map(({ wallet }) => wallet),
    has: async (walletId) => has.get(walletId) !== null,
  };
}

function keyOf(watch: Watch): string {
  switch (watch.kind) {
    case 'payment':
      return watch.index;
    case 'offer':
      return watch.offerId;
    case 'address':
      return watch.address;
  }
}
