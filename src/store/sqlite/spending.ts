import type { Database } from 'bun:sqlite';
import type { BudgetPeriod } from '../../model/budget.ts';
import type { BudgetReservation, PeriodStart } from '../ports.ts';

/** What clients have spent and reserved, for ports that write it inside their own transactions. */
export interface SpendingRows {
  /**
   * What a client with a budget has spent and reserved in the period that starts at `startsAtMs` and in all later ones,
   * in millisatoshis. There is one row for each period, however many payments it had.
   */
  sum(walletId: string, clientPk: string, startsAtMs: number): bigint;
  /** Computes the client's sums again for the period of its budget. A client without a budget has none. */
  sumUp(walletId: string, clientPk: string, periodStart: PeriodStart): void;
  /** Reserves an amount under a name, in the period of its time. */
  reserve(
    walletId: string,
    name: string,
    reservation: BudgetReservation,
    periodStart: PeriodStart,
  ): void;
  /** Replaces the reservation of that name by its cost, in the period in which it was reserved; 0 gives it back. */
  close(walletId: string, name: string, costMsat: bigint, periodStart: PeriodStart): void;
  /** Whether the cost of that name is settled. */
  isSettled(walletId: string, name: string): boolean;
  /** Gives back the reservation of that name. What is settled stays. */
  release(walletId: string, name: string, periodStart: PeriodStart): void;
  /** {@link release} that gives back what is settled too. */
  undo(walletId: string, name: string, periodStart: PeriodStart): void;
}

/** What is added to the sum of the period that contains `atMs`; it may be negative. */
interface SumChange {
  readonly clientPk: string;
  readonly atMs: number;
  readonly amountMsat: bigint;
}

interface Row {
  readonly seq: number;
  readonly client_pk: string;
  readonly at: number;
  readonly amount: string;
}

/**
 * Prepares the statements of spending and its sums. The spending of every client is stored, so that a budget set later
 * counts it; sums exist only for clients with a budget. Amounts are read as text, because they exceed what a double
 * holds.
 */
export function spendingRows(db: Database): SpendingRows {
  const readPeriod = db.prepare<{ period: string }, [string, string]>(
    'SELECT period FROM budget WHERE wallet = ? AND client_pk = ?',
  );
  const readSum = db.prepare<{ amount_msat: string }, [string, string, number]>(
    'SELECT amount_msat FROM spent WHERE wallet = ? AND client_pk = ? AND starts_at = ?',
  );
  const readSums = db.prepare<{ amount_msat: string }, [string, string, number]>(
    'SELECT amount_msat FROM spent WHERE wallet = ? AND client_pk = ? AND starts_at >= ?',
  );
  const writeSum = db.prepare(
    'INSERT OR REPLACE INTO spent (wallet, client_pk, starts_at, amount_msat) VALUES (?, ?, ?, ?)',
  );
  const clearSums = db.prepare('DELETE FROM spent WHERE wallet = ? AND client_pk = ?');
  const all = db.prepare<{ at: number; amount: string }, [string, string]>(
    'SELECT at, CAST(amount_msat AS TEXT) AS amount FROM spending WHERE wallet = ? AND client_pk = ?',
  );
  const ofName = `SELECT seq, client_pk, at, CAST(amount_msat AS TEXT) AS amount FROM spending
     WHERE wallet = ? AND idx = ?`;
  const held = db.prepare<Row, [string, string]>(`${ofName} AND NOT settled`);
  const counted = db.prepare<Row, [string, string]>(ofName);
  const settled = db.prepare(
    'SELECT 1 FROM spending WHERE wallet = ? AND idx = ? AND settled LIMIT 1',
  );
  const insert = db.prepare(
    'INSERT INTO spending (wallet, client_pk, at, idx, amount_msat, settled) VALUES (?, ?, ?, ?, ?, 0)',
  );
  const settle = db.prepare('UPDATE spending SET amount_msat = ?, settled = 1 WHERE seq = ?');
  const remove = db.prepare('DELETE FROM spending WHERE seq = ?');

  function periodOf(walletId: string, clientPk: string): BudgetPeriod | null {
    return (readPeriod.get(walletId, clientPk)?.period as BudgetPeriod | undefined) ?? null;
  }

  function sum(walletId: string, clientPk: string, startsAtMs: number): bigint {
    return BigInt(readSum.get(walletId, clientPk, startsAtMs)?.amount_msat ?? '0');
  }

  function add(
    walletId: string,
    { clientPk, atMs, amountMsat }: SumChange,
    periodStart: PeriodStart,
  ): void {
    const period = periodOf(walletId, clientPk);
    if (period === null || amountMsat === 0n) return;
    const startsAtMs = periodStart(period, atMs);
    const after = sum(walletId, clientPk, startsAtMs) + amountMsat;
    writeSum.run(walletId, clientPk, startsAtMs, `${after}`);
  }

  function giveBack(walletId: string, rows: readonly Row[], periodStart: PeriodStart): void {
    for (const { seq, client_pk: clientPk, at: atMs, amount } of rows) {
      remove.run(seq);
      add(walletId, { clientPk, atMs, amountMsat: -BigInt(amount) }, periodStart);
    }
  }

  const release: SpendingRows['release'] = (walletId, name, periodStart) =>
    giveBack(walletId, held.all(walletId, name), periodStart);

  return {
    sum: (walletId, clientPk, startsAtMs) =>
      readSums
        .all(walletId, clientPk, startsAtMs)
        .reduce((total, row) => total + BigInt(row.amount_msat), 0n),
    sumUp(walletId, clientPk, periodStart) {
      clearSums.run(walletId, clientPk);
      const period = periodOf(walletId, clientPk);
      if (period === null) return;
      const sums = new Map<number, bigint>();
      for (const { at, amount } of all.iterate(walletId, clientPk)) {
        const startsAtMs = periodStart(period, at);
        sums.set(startsAtMs, (sums.get(startsAtMs) ?? 0n) + BigInt(amount));
      }
      for (const [startsAtMs, total] of sums) {
        writeSum.run(walletId, clientPk, startsAtMs, `${total}`);
      }
    },
    reserve(walletId, name, { clientPk, amountMsat, nowMs: atMs }, periodStart) {
      insert.run(walletId, clientPk, atMs, name, amountMsat);
      add(walletId, { clientPk, atMs, amountMsat }, periodStart);
    },
    close(walletId, name, costMsat, periodStart) {
      if (costMsat === 0n) return release(walletId, name, periodStart);
      for (const { seq, client_pk: clientPk, at: atMs, amount } of held.all(walletId, name)) {
        settle.run(costMsat, seq);
        const amountMsat = costMsat - BigInt(amount);
        add(walletId, { clientPk, atMs, amountMsat }, periodStart);
      }
    },
    isSettled: (walletId, name) => settled.get(walletId, name) !== null,
    release,
    undo: (walletId, name, periodStart) =>
      giveBack(walletId, counted.all(walletId, name), periodStart),
  };
}
