import type { DeviceRecord, DeviceStore } from '../../ports.ts';
import { type ConnectorStateColumns, stateTable } from '../connector-state.ts';
import type { RowDatabase, Rows } from '../rows.ts';

/** The kind of these rows among what connectors keep. */
const KIND = 'device';

/** Returns the {@link DeviceStore}. */
export function deviceStore(db: RowDatabase, rows: Rows): DeviceStore {
  const { select, upsert, remove } = stateTable(rows);
  const of = ({ wallet: walletId, key: id, json }: ConnectorStateColumns): DeviceRecord => ({
    ...JSON.parse(json),
    walletId,
    id,
  });
  const read = select('WHERE wallet = ? AND kind = ? AND key = ?', { of });
  const all = select('WHERE wallet = ? AND kind = ? ORDER BY key', { of });
  const put = upsert();
  const removed = remove();
  const rowOf = ({ walletId: wallet, id: key, ...rest }: DeviceRecord) => ({
    wallet,
    kind: KIND,
    key,
    json: JSON.stringify(rest),
  });
  return {
    add: (record) =>
      db.write(record.walletId, function* () {
        yield* put(rowOf(record));
      }),
    find: (walletId, id) => db.read(() => read.one(walletId, KIND, id)),
    list: (walletId) => db.read(() => all.all(walletId, KIND)),
    used: (walletId, id, usedAtMs) =>
      db.write(walletId, function* () {
        const record = yield* read.one(walletId, KIND, id);
        if (record !== null) yield* put(rowOf({ ...record, usedAtMs }));
      }),
    remove: (walletId, id) =>
      db.write(walletId, function* () {
        yield* removed(walletId, KIND, id);
      }),
  };
}
