import type { Database } from 'bun:sqlite';
import type { ConnectorState } from '../ports.ts';
import type { WriteQueue } from './write-queue.ts';

/** Returns the {@link ConnectorState} over SQLite. */
export function sqliteConnectorState(db: Database, queue: WriteQueue): ConnectorState {
  const read = db.prepare<{ json: string }, [string, string, string]>(
    'SELECT json FROM connector_state WHERE wallet = ? AND kind = ? AND key = ?',
  );
  const write = db.prepare(
    'INSERT OR REPLACE INTO connector_state (wallet, kind, key, json) VALUES (?, ?, ?, ?)',
  );
  return {
    async get(walletId, kind, key) {
      const row = read.get(walletId, kind, key);
      return row ? JSON.parse(row.json) : null;
    },
    put: (walletId, kind, key, value) =>
      queue.write(() => void write.run(walletId, kind, key, JSON.stringify(value))),
  };
}
