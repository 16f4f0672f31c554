import type { IssuedOffers } from '../ports.ts';
import { type ConnectorStateColumns, stateTable } from './connector-state.ts';
import type { RowDatabase, Rows } from './rows.ts';
import type { Steps } from './steps.ts';

/** The kind of these rows among what connectors keep. */
const KIND = 'issued-offer';

/** Rows of issued offers, for ports that read them inside their own transactions. */
export interface IssuedOfferRows {
  /** The row of an offer; null where there is none, and for one that does not fit. */
  get(walletId: string, offerId: string): Steps<{ readonly externalId: string | null } | null>;
  put(row: ConnectorStateColumns): Steps<unknown>;
}

/** Prepares the statements of issued offers. */
export function issuedOfferRows(rows: Rows): IssuedOfferRows {
  const { select, upsert } = stateTable(rows);
  const read = select('WHERE wallet = ? AND kind = ? AND key = ?', {
    of: ({ json }) => JSON.parse(json) as { externalId: string | null },
  });
  return { get: (walletId, offerId) => read.one(walletId, KIND, offerId), put: upsert() };
}

/** Returns the {@link IssuedOffers}. */
export function issuedOffers(db: RowDatabase, { get, put }: IssuedOfferRows): IssuedOffers {
  return {
    keep: (wallet, key, externalId) =>
      db.write(wallet, function* () {
        const kept = yield* get(wallet, key);
        if (kept !== null) return kept.externalId === externalId;
        yield* put({ wallet, kind: KIND, key, json: JSON.stringify({ externalId }) });
        return true;
      }),
  };
}
