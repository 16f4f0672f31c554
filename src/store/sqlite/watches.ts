import type { Database } from 'bun:sqlite';
import type { CredentialStore, Watch, WatchStore } from '../ports.ts';
import type { WriteQueue } from './write-queue.ts';

/** {@link WatchStore} over SQLite. */
export function sqliteWatches(db: Database, queue: WriteQueue): WatchStore {
  const add = db.prepare(
    'INSERT INTO watch (wallet, kind, key) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  );
  const wallets = db.prepare<{ wallet: string }, []>('SELECT DISTINCT wallet FROM watch');
  const has = db.prepare<{ kind: string }, [string]>(
    'SELECT kind FROM watch WHERE wallet = ? LIMIT 1',
  );
  return {
    add: (walletId, watch) => queue.write(() => void add.run(walletId, watch.kind, keyOf(watch))),
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

/** {@link CredentialStore} over SQLite. */
export function sqliteCredentials(db: Database, queue: WriteQueue): CredentialStore {
  const remember = db.prepare(
    'INSERT OR REPLACE INTO credential (wallet, client_pk, credentials) VALUES (?, ?, ?)',
  );
  const known = db.prepare<{ credentials: string }, [string]>(
    'SELECT credentials FROM credential WHERE wallet = ?',
  );
  const forget = db.prepare('DELETE FROM credential WHERE wallet = ? AND client_pk = ?');
  return {
    remember: (walletId, clientPk, credentials) =>
      queue.write(() => void remember.run(walletId, clientPk, credentials)),
    known: async (walletId) => known.all(walletId).map((row) => row.credentials),
    forget: (walletId, clientPk) => queue.write(() => void forget.run(walletId, clientPk)),
  };
}
