import type { Database } from 'bun:sqlite';
import type { ConnectorState } from '../ports.ts';
import type { RowSigner } from '../row-signer.ts';
import { SIGNED } from '../signed-tables.ts';
import { columnList, rowWriter, type Stored } from './signed-table.ts';
import type { WriteQueue } from './write-queue.ts';

type Row = Stored<{
  readonly wallet: string;
  readonly kind: string;
  readonly key: string;
  readonly json: string;
}>;

/** Returns the {@link ConnectorState} over SQLite. */
export function sqliteConnectorState(
  db: Database,
  queue: WriteQueue,
  signer: RowSigner,
): ConnectorState {
  const read = db.prepare<Row, [string, string, string]>(
    `SELECT ${columnList(SIGNED.connectorState)} FROM connector_state WHERE wallet = ? AND kind = ? AND key = ?`,
  );
  const write = rowWriter(db, signer, SIGNED.connectorState, { verb: 'REPLACE' });
  return {
    async get(walletId, kind, key) {
      const row = read.get(walletId, kind, key);
      if (row === null) return null;
      if (!signer.fits(SIGNED.connectorState, row)) {
        throw new Error(`The row ${walletId} ${kind} ${key} of connector_state was changed.`);
      }
      return JSON.parse(row.json);
    },
    put: (walletId, kind, key, value) =>
      queue.write(() => void write({ wallet: walletId, kind, key, json: JSON.stringify(value) })),
  };
}
