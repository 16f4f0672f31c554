import type { PaymentJson } from '../../../model/payment.ts';
import { idOfIndex, type PaymentIndex } from '../../../model/payment-index.ts';
import type { Makers } from '../../ports.ts';
import { stateTable } from '../connector-state.ts';
import type { RawRow, RowDatabase, Rows } from '../rows.ts';
import type { Steps } from '../steps.ts';

/** The kind of these rows among what connectors keep. */
const KIND = 'maker';

/** Rows of makers, for ports that write them inside their own transactions. */
export type MakerRows = ReturnType<typeof makerRows>;

/** Prepares the statements of makers. */
export function makerRows(rows: Rows) {
  const table = stateTable(rows);
  const json = table.column('json');
  const state = [json, ...(rows.forms.hasMac('connector_state') ? ['mac'] : [])].map(
    (column) => `(SELECT ${column} FROM wallet_sidecar.connector_state
       WHERE wallet = ?1 AND kind = ?2 AND key = ?3) AS ${column}`,
  );
  const found = rows.prepare<RawRow>(
    `SELECT CAST(?1 AS TEXT) AS wallet, CAST(?2 AS TEXT) AS kind, CAST(?3 AS TEXT) AS key, ${state.join(', ')},
       (SELECT 1 FROM wallet_sidecar.cache WHERE wallet = ?1 AND idx = ?3) AS cached`,
  );
  const several = rows
    .prepare(
      `SELECT * FROM ${rows.eachText} ${rows.forEach(
        'wallet_sidecar.connector_state',
        'sqlite_autoindex_connector_state_1',
        'wallet = ? AND kind = ? AND key = value',
      )}`,
    )
    .read(table.read);
  const loosen = rows.prepare(
    'INSERT INTO wallet_sidecar.word_loose (wallet, idx) VALUES (?, ?) ON CONFLICT DO NOTHING',
  );
  const put = table.upsert();
  const removed = table.remove();
  return {
    /** Who made it, null where nobody is kept, and for a row that does not fit; and whether it is a cached payment. */
    *get(walletId: string, key: string): Steps<{ maker: string | null; isCached: boolean }> {
      const raw = yield* found.one(walletId, KIND, key);
      const row = raw && raw[json] !== null ? table.read(raw) : null;
      return { maker: row && (JSON.parse(row.json) as string), isCached: raw?.cached === 1 };
    },
    put: (wallet: string, key: string, caller: string) =>
      put({ wallet, kind: KIND, key, json: JSON.stringify(caller) }),
    remove: (walletId: string, key: string) => removed(walletId, KIND, key),
    /** Who made each of these, where anybody is kept. */
    *among(walletId: string, keys: readonly string[]): Steps<ReadonlyMap<string, string>> {
      const made = yield* several.all(JSON.stringify(keys), walletId, KIND);
      return new Map(made.map(({ key, json }) => [key, JSON.parse(json)]));
    },
    /** Has a cached payment found without its bundle, which does not know the maker. */
    loosen: (walletId: string, key: string) => loosen.run(walletId, key),
  };
}

/** Returns the {@link Makers}. */
export function makers(db: RowDatabase, { get, put, among, loosen }: MakerRows): Makers {
  return {
    keep: (walletId, key, caller) =>
      db.write(walletId, function* () {
        const { maker, isCached } = yield* get(walletId, key);
        if (maker !== null) return maker;
        yield* put(walletId, key, caller);
        if (isCached) yield* loosen(walletId, key);
        return caller;
      }),
    of: (walletId, caller, keys) =>
      db.read(function* () {
        const found = yield* among(walletId, keys);
        return new Set(keys.filter((key) => found.get(key) === caller));
      }),
  };
}

/** What says who made a payment: its index, and its JSON where {@link OFFER_JSON} has it. */
export interface Made {
  readonly idx: PaymentIndex;
  readonly json: string | null;
}

/** Selects the JSON of what arrived on an offer, whose maker is the offer's; else null. */
export const OFFER_JSON = `CASE WHEN substr(idx, 21, 3) = 'fr_' THEN json END AS json`;

/** Returns who made each of these payments of a wallet, or the offers on which they arrived, by index. */
export function* makersOf(
  { among }: Pick<MakerRows, 'among'>,
  walletId: string,
  payments: readonly Made[],
): Steps<ReadonlyMap<PaymentIndex, string>> {
  const keys = payments.map(({ idx, json }) => {
    const isOfOffer = json !== null && idOfIndex(idx).startsWith('fr_');
    return [idx, (isOfOffer && (JSON.parse(json) as PaymentJson).offer_id) || idx] as const;
  });
  const found = yield* among(walletId, [...new Set(keys.flat())]);
  const makers = new Map<PaymentIndex, string>();
  for (const [idx, key] of keys) {
    const maker = found.get(idx) ?? found.get(key);
    if (maker !== undefined) makers.set(idx, maker);
  }
  return makers;
}
