import type { Database } from 'bun:sqlite';
import type { ConnectorState } from '../ports.ts';
import type { WriteQueue } from './write-queue.ts';

/** {@link ConnectorState} over SQLite. */
export function sqliteConnectorState(db: Database, queue: WriteQueue): ConnectorState {
  const read = db.prepare<{ json: string }, [string, string, string]>(
    'SELECT json FROM connector_state WHERE wallet = ? AND kind = ? AND key = ?',
  );
  const write = db.prepare(
    'INSERT OR REPLACE INTO connector_state (wallet, kind, key, json) VALUES (?, ?, ?, ?)',
  );
  const all = db.prepare<{ key: string; json: string }, [string, string]>(
    'SELECT key, json FROM connector_state WHERE wallet = ? AND kind = ? ORDER BY key',
  );
  const anywhere = db.prepare<{ wallet: string; json: string }, [string, string]>(
    'SELECT wallet, json FROM connector_state WHERE kind = ? AND key = ?',
  );
  return {
    async find(kind, key) {
      const row = anywhere.get(kind, key);
      return row && { walletId: row.wallet, value: JSON.parse(row.json) };
    },
    async get(walletId, kind, key) {
      const row = read.get(walletId, kind, key);
      return row ? JSON.parse(row.json) : null;
    },
    put: (walletId, kind, key, value) =>
      queue.write(() => void write.run(walletId, kind, key, JSON.stringify(value))),
    async list(walletId, kind) {
      return all.all(walletId, kind).map(({ key, json }) => ({ key, value: JSON.parse(json) }));
    },
  };
}
