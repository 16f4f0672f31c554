import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import { decodePayment, encodePayment, type PaymentJson } from '../../src/model/payment.ts';

/** A row of a data file. */
export type FileRow = Readonly<Record<string, unknown>>;

/** Reads rows of a data file while a sidecar may use it. */
export function rowsOf(
  dataDir: string,
  file: 'sidecar' | 'sandbox',
  sql: string,
  bindings: readonly (string | number)[] = [],
): FileRow[] {
  const db = new Database(join(dataDir, `${file}.sqlite`), { readonly: true });
  try {
    return db.query(sql).all(...bindings) as FileRow[];
  } finally {
    db.close();
  }
}

/** The payments of a wallet by index, as the sandbox has them in its own file. */
export function sandboxPayments(dataDir: string, userPk: string): PaymentJson[] {
  const sql = 'SELECT json FROM payments WHERE user_pk = ? ORDER BY idx';
  return rowsOf(dataDir, 'sandbox', sql, [userPk]).map(({ json }) =>
    encodePayment(decodePayment(JSON.parse(`${json}`) as PaymentJson)),
  );
}
