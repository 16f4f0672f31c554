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
  const all = values.select('WHERE wallet = ? AND kind = ? ORDER BY key');
  const remove = values.remove();
  const put = values.upsert();
  const rowOf = (wallet: string, kind: string, key: string, value: unknown) => ({
    wallet,
    kind,
    key,
    json: JSON.stringify(value),
  });
  function* valueAt(...place: readonly [walletId: string, kind: string, key: string]) {
    const raw = yield* read.raw.one(...place);
    if (raw === null) return null;
    const row = read.read(raw);
    if (row === null) throw new Error(`The row ${place.join(' ')} of connector_state was changed.`);
    return JSON.parse(row.json);
  }
  return {
    get: (walletId, kind, key) => db.read(() => valueAt(walletId, kind, key)),
    put: (walletId, kind, key, value) =>
      db.write(walletId, function* () {
        yield* put(rowOf(walletId, kind, key, value));
      }),
    putFirst: (walletId, kind, key, value) =>
      db.write(walletId, function* () {
        const first = yield* valueAt(walletId, kind, key);
        if (first !== null) return first;
        yield* put(rowOf(walletId, kind, key, value));
        return value;
      }),
    list: (walletId, kind) =>
      db.read(function* () {
        const found = yield* all.all(walletId, kind);
        const values = found.map(({ key, json }) => [key, JSON.parse(json)] as const);
        return new Map(values.filter(([, value]) => value !== null));
      }),
    change: (walletId, kind, key, change) =>
      db.write(walletId, function* () {
        const value = yield* valueAt(walletId, kind, key);
        const next = value === null ? null : change(value);
        if (next !== null) yield* put(rowOf(walletId, kind, key, next));
        else if (value !== null) yield* remove(walletId, kind, key);
      }),
  };
}
