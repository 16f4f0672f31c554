import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import { decodePayment, encodePayment, type PaymentJson } from '../../src/model/payment.ts';
import type { TestPostgres } from '../support/postgres.ts';

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

/** Indexes of a wallet's payments in the tables of a store, in their order. */
export interface PaymentRows {
  /** Payments that have a spend. */
  readonly spends: readonly string[];
  /** Payments, and costs of other calls, for which a budget holds money back. */
  readonly reserved: readonly string[];
  readonly watched: readonly string[];
  /** Payments whose end is delivered, or to be; one for each delivery. */
  readonly deliveries: readonly string[];
}

/** Reads the {@link PaymentRows} of a wallet. */
export type ReadPaymentRows = (userPk: string) => Promise<PaymentRows>;

export function sqlitePaymentRows(dataDir: string): ReadPaymentRows {
  return (userPk) => paymentRows(userPk, 'idx', async (sql) => rowsOf(dataDir, 'sidecar', sql, []));
}

export function postgresPaymentRows(server: TestPostgres, databaseUrl: string): ReadPaymentRows {
  return (userPk) =>
    paymentRows(userPk, 'name', (sql) =>
      server.run(databaseUrl, sql.replace(' FROM ', ' FROM wallet_sidecar.')),
    );
}

async function paymentRows(
  userPk: string,
  nameOfSpending: string,
  run: (sql: string) => Promise<FileRow[]>,
): Promise<PaymentRows> {
  const column = async (select: string, where = 'true') =>
    (await run(`SELECT ${select} WHERE wallet = '${userPk}' AND ${where}`))
      .map(({ idx }) => `${idx}`)
      .toSorted();
  return {
    spends: await column('idx FROM spend'),
    reserved: await column(`${nameOfSpending} AS idx FROM spending`, 'NOT settled'),
    watched: await column('key AS idx FROM watch', "kind = 'payment'"),
    deliveries: await column(
      'idx FROM delivery',
      "endpoint = 'configured' AND event = 'payment.finalized'",
    ),
  };
}
