import { Database } from 'bun:sqlite';

/** A client with a budget. */
interface Spender {
  /** The user_pk of its wallet. */
  readonly wallet: string;
  readonly client: string;
}

/**
 * Writes settled payments of a client directly into the sidecar's file, each of 1 msat, until it has `rows` of them. The
 * sum of the budget's period is brought up to date by the change of its period. No sidecar may have the file open.
 */
export function seedSpending(path: string, { wallet, client }: Spender, rows: number): void {
  const db = new Database(path);
  const [{ count } = { count: 0 }] = db
    .query<{ count: number }, [string]>(
      `SELECT count(*) AS count FROM spending WHERE client_pk = ? AND idx LIKE 'seeded-%'`,
    )
    .all(client);
  db.run(
    `WITH RECURSIVE numbers (at) AS (SELECT ?1 + 1 UNION ALL SELECT at + 1 FROM numbers WHERE at < ?2)
     INSERT INTO spending (wallet, client_pk, at, idx, amount_msat, settled)
     SELECT ?3, ?4, at, 'seeded-' || at, 1, 1 FROM numbers`,
    [count, rows, wallet, client],
  );
  db.close();
}
