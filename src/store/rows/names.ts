import type { PaymentId } from '../../model/payment-index.ts';
import { columnsOfName, type NameColumns, nameOf } from '../columns/name.ts';
import type { NameStore } from '../ports.ts';
import { SIGNED } from '../signed-tables.ts';
import { NAMES, type RowDatabase, type Rows } from './rows.ts';
import { type Steps, together } from './steps.ts';
import { tableOf } from './table.ts';

/** Rows of the unpaid invoices of names, for the transaction that ends a payment. */
export interface NameInvoiceRows {
  remove(walletId: string, id: PaymentId): Steps<unknown>;
}

/** Prepares the statements of the table of unpaid invoices of names. */
export function nameInvoiceRows({ prepare }: Rows): NameInvoiceRows {
  const remove = prepare('DELETE FROM wallet_sidecar.name_invoice WHERE wallet = ? AND id = ?');
  return { remove: (walletId, id) => remove.run(walletId, id) };
}

/** Returns the {@link NameStore}. A name whose row does not fit is not there. */
export function nameStore(db: RowDatabase, rows: Rows, invoices: NameInvoiceRows): NameStore {
  const names = tableOf<NameColumns>(rows, SIGNED.name);
  const byWallet = names.select('WHERE wallet = ?', { of: nameOf });
  const byUsername = names.select('WHERE username = ?', { of: nameOf });
  const put = names.upsert();
  const forgetExpired = rows.prepare(
    'DELETE FROM wallet_sidecar.name_invoice WHERE wallet = ? AND expires_at <= ?',
  );
  const count = rows.prepare<{ open: number; of_source: number }>(
    `SELECT count(*) AS open, count(*) FILTER (WHERE source = ?) AS of_source
     FROM wallet_sidecar.name_invoice WHERE wallet = ? AND expires_at > ?`,
  );
  const insert = rows.prepare(
    'INSERT INTO wallet_sidecar.name_invoice (wallet, id, source, expires_at) VALUES (?, ?, ?, ?)',
  );
  return {
    ofWallet: (walletId) => db.read(() => byWallet.one(walletId)),
    find: (username) => db.read(() => byUsername.one(username)),
    claim: (walletId, username, decide) =>
      db.write(NAMES, function* () {
        const [current, holder] = yield* together([
          byWallet.one(walletId),
          byUsername.one(username),
        ]);
        const record = decide({ current, holder });
        yield* put(columnsOfName(record));
        return record;
      }),
    takePlace: (walletId, { id, source, expiresAtMs }, { nowMs, most, mostOfSource }) =>
      db.write(walletId, function* () {
        const [, taken] = yield* together([
          forgetExpired.run(walletId, nowMs),
          count.one(source, walletId, nowMs),
        ]);
        const { open = 0, of_source = 0 } = taken ?? {};
        if (open >= most || of_source >= mostOfSource) return false;
        yield* insert.run(walletId, id, source, expiresAtMs);
        return true;
      }),
    givePlaceBack: (walletId, id) =>
      db.write(walletId, function* () {
        yield* invoices.remove(walletId, id);
      }),
  };
}
