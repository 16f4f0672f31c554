import type { Database } from 'bun:sqlite';
import type { ConnectorState } from '../ports.ts';
import type { RowSigner } from '../row-signer.ts';
import { SIGNED } from '../signed-tables.ts';
import type { WriteQueue } from './write-queue.ts';

interface Row {
  readonly wallet: string;
  readonly kind: string;
  readonly key: string;
  readonly json: string;
  readonly mac: string | null;
}

/** Returns the {@link ConnectorState} over SQLite. */
export function sqliteConnectorState(
  db: Database,
  queue: WriteQueue,
  signer: RowSigner,
): ConnectorState {
  const read = db.prepare<Row, [string, string, string]>(
    'SELECT wallet, kind, key, json, mac FROM connector_state WHERE wallet = ? AND kind = ? AND key = ?',
  );
  const write = db.prepare(
    'INSERT OR REPLACE INTO connector_state (wallet, kind, key, json, mac) VALUES (?, ?, ?, ?, ?)',
  );
  return {
    async get(walletId, kind, key) {
      const row = read.get(walletId, kind, key);
      if (row === null) return null;
      if (!signer.fits(SIGNED.connectorState, row))
        throw new Error(`The row ${walletId} ${kind} ${key} of connector_state was changed.`);
      return JSON.parse(row.json);
    },
    put: (walletId, kind, key, value) =>
      queue.write(() => {
        const row = { wallet: walletId, kind, key, json: JSON.stringify(value) };
        write.run(...Object.values(row), signer.mac(SIGNED.connectorState, row));
      }),
  };
}
