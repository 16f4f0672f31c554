import type { PaymentJson } from '../../../model/payment.ts';
import { idOfIndex, type PaymentIndex } from '../../../model/payment-index.ts';
import type { Makers } from '../../ports.ts';
import { stateTable } from '../connector-state.ts';
import type { RowDatabase, Rows } from '../rows.ts';
import { type Steps, together } from '../steps.ts';

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
  const several = select(`WHERE wallet = ? AND kind = ? AND ${rows.among('key', 'texts')}`);
  const loosen = rows.prepare(
    `INSERT INTO wallet_sidecar.word_loose (wallet, idx)
     SELECT wallet, idx FROM wallet_sidecar.cache WHERE wallet = ? AND idx = ? ON CONFLICT DO NOTHING`,
  );
  const put = upsert();
  const removed = remove();
  return {
    get: (walletId: string, key: string) => read.one(walletId, KIND, key),
    put: (wallet: string, key: string, caller: string) =>
      put({ wallet, kind: KIND, key, json: JSON.stringify(caller) }),
    remove: (walletId: string, key: string) => removed(walletId, KIND, key),
    /** Who made each of these, where anybody is kept. */
    *among(walletId: string, keys: readonly string[]): Steps<ReadonlyMap<string, string>> {
      const found = yield* several.all(walletId, KIND, JSON.stringify(keys));
      return new Map(found.map(({ key, json }) => [key, JSON.parse(json)]));
    },
    /** Makes a payment loose that is cached already: its bundle does not know the maker. */
    loosen: (walletId: string, key: string) => loosen.run(walletId, key),
  };
}

/** Returns the {@link Makers}. */
export function makers(db: RowDatabase, { get, put, among, loosen }: MakerRows): Makers {
  return {
    keep: (walletId, key, caller) =>
      db.write(walletId, function* () {
        const kept = yield* get(walletId, key);
        if (kept === null) yield* together([put(walletId, key, caller), loosen(walletId, key)]);
        return kept ?? caller;
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
