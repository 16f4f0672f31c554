import type { Makers } from '../../ports.ts';
import { stateTable } from '../connector-state.ts';
import type { RowDatabase, Rows } from '../rows.ts';
import { together } from '../steps.ts';

/** The kind of these rows among what connectors keep. */
const KIND = 'maker';

/** Rows of makers, for ports that write them inside their own transactions. */
export type MakerRows = ReturnType<typeof makerRows>;

/** Prepares the statements of makers. What is read is null where nobody is kept, and for a row that does not fit. */
export function makerRows(rows: Rows) {
  const { select, upsert, remove } = stateTable(rows);
  const read = select('WHERE wallet = ? AND kind = ? AND key = ?', {
    of: ({ json }) => JSON.parse(json) as string,
  });
  const put = upsert();
  const removed = remove();
  return {
    get: (walletId: string, key: string) => read.one(walletId, KIND, key),
    put: (wallet: string, key: string, caller: string) =>
      put({ wallet, kind: KIND, key, json: JSON.stringify(caller) }),
    remove: (walletId: string, key: string) => removed(walletId, KIND, key),
  };
}

/** Returns the {@link Makers}. */
export function makers(db: RowDatabase, { get, put }: MakerRows): Makers {
  return {
    keep: (walletId, key, caller) =>
      db.write(walletId, function* () {
        const kept = yield* get(walletId, key);
        if (kept === null) yield* put(walletId, key, caller);
        return kept ?? caller;
      }),
    of: (walletId, caller, keys) =>
      db.read(function* () {
        const found = yield* together(keys.map((key) => get(walletId, key)));
        return new Set(keys.filter((_, at) => found[at] === caller));
      }),
  };
}
