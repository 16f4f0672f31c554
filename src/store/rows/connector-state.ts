import type { ConnectorState } from '../ports.ts';
import { SIGNED } from '../signed-tables.ts';
import type { RowDatabase, Rows } from './rows.ts';
import { tableOf } from './table.ts';

/** The columns of a row, the same in both engines. */
export interface ConnectorStateColumns {
  readonly wallet: string;
  readonly kind: string;
  readonly key: string;
  readonly json: string;
}

/** Returns the table. */
export function stateTable(rows: Rows) {
  return tableOf<ConnectorStateColumns>(rows, SIGNED.connectorState);
}

/** Returns the {@link ConnectorState}. */
export function connectorState(db: RowDatabase, rows: Rows): ConnectorState {
  const values = stateTable(rows);
  const read = values.select('WHERE wallet = ? AND kind = ? AND key = ?');
  const put = values.upsert();
  return {
    async get(walletId, kind, key) {
      const raw = await db.read(() => read.raw.one(walletId, kind, key));
      if (raw === null) return null;
      const row = read.read(raw);
      if (row === null) {
        throw new Error(`The row ${walletId} ${kind} ${key} of connector_state was changed.`);
      }
      return JSON.parse(row.json);
    },
    put: (walletId, kind, key, value) =>
      db.write(walletId, function* () {
        yield* put({ wallet: walletId, kind, key, json: JSON.stringify(value) });
      }),
  };
}
