import type { Database } from 'bun:sqlite';
import type { BudgetPeriod } from '../../model/clients/budget.ts';
import { type BudgetSums, sumsOf } from '../budget-sums.ts';
import { type SpendingColumns, withoutCopies } from '../columns/spending.ts';
import type { BudgetReservation, PeriodStart } from '../ports.ts';
import type { RowSigner } from '../row-signer.ts';
import { SIGNED } from '../signed-tables.ts';
import type { BudgetTable } from './budget-table.ts';
import { rowWriter, type Stored } from './signed-table.ts';

/** What clients have spent and reserved, for ports that write it inside their own transactions. */
export interface SpendingRows {
  /** Computes what the client has spent and reserved in each period. */
  sums(
    walletId: string,
    clientPk: string,
    period: BudgetPeriod,
    periodStart: PeriodStart,
  ): BudgetSums;
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
  /** The client that reserved or spent under that name; null where none did. */
  clientOf(walletId: string, name: string): string | null;
  /** Gives back the reservation of that name. What is settled stays. */
  release(walletId: string, name: string, periodStart: PeriodStart): void;
  /** {@link release} that gives back what is settled too. */
  undo(walletId: string, name: string, periodStart: PeriodStart): void;
}

type Row = Stored<SpendingColumns> & { readonly seq: number };

/**
 * Prepares the statements of spending. The spending of every client is stored, so that a budget set later counts it;
 * sums exist only for clients with a budget. Amounts are read as text, because they exceed what a double holds.
 */
export function spendingRows(db: Database, signer: RowSigner, budgets: BudgetTable): SpendingRows {
  const columns =
    'seq, wallet, idx, client_pk, at, CAST(amount_msat AS TEXT) AS amount_msat, settled, mac';
  const ofClient = db.prepare<Row, [string, string]>(
    `SELECT ${columns} FROM spending WHERE wallet = ? AND client_pk = ?`,
  );
  const ofName = db.prepare<Row, [string, string]>(
    `SELECT ${columns} FROM spending WHERE wallet = ? AND idx = ?`,
  );
  const insert = rowWriter(db, signer, SIGNED.spending);
  const settle = db.prepare(
    'UPDATE spending SET amount_msat = ?, settled = 1, mac = ? WHERE seq = ?',
  );
  const remove = db.prepare('DELETE FROM spending WHERE seq = ?');

  const fitting = (rows: Row[]) => rows.filter((row) => signer.fits(SIGNED.spending, row));
  const named = (walletId: string, name: string) => fitting(ofName.all(walletId, name));

  function giveBack(walletId: string, rows: readonly Row[], periodStart: PeriodStart): void {
    for (const { seq } of rows) remove.run(seq);
    for (const { client_pk: clientPk, at: atMs, amount_msat: amount } of withoutCopies(rows)) {
      budgets.add(walletId, clientPk, { atMs, amountMsat: -BigInt(amount) }, periodStart);
    }
  }

  const release: SpendingRows['release'] = (walletId, name, periodStart) =>
    giveBack(
      walletId,
      named(walletId, name).filter(({ settled }) => settled === 0),
      periodStart,
    );

  return {
    sums: (walletId, clientPk, period, periodStart) =>
      sumsOf(
        fitting(ofClient.all(walletId, clientPk)).map(({ at, amount_msat: amount }) => ({
          atMs: at,
          amountMsat: BigInt(amount),
        })),
        period,
        periodStart,
      ),
    reserve(walletId, name, { clientPk, amountMsat, nowMs: atMs }, periodStart) {
      insert({
        wallet: walletId,
        idx: name,
        client_pk: clientPk,
        at: atMs,
        amount_msat: `${amountMsat}`,
        settled: 0,
      });
      budgets.add(walletId, clientPk, { atMs, amountMsat }, periodStart);
    },
    close(walletId, name, costMsat, periodStart) {
      if (costMsat === 0n) return release(walletId, name, periodStart);
      const held = named(walletId, name).filter(({ settled }) => settled === 0);
      const own = withoutCopies(held);
      // A copy that stayed would be given back by the next end that is told.
      for (const row of held) if (!own.includes(row)) remove.run(row.seq);
      for (const row of own) {
        const closed = { ...row, amount_msat: `${costMsat}`, settled: 1 };
        settle.run(costMsat, signer.mac(SIGNED.spending, closed), row.seq);
        const amountMsat = costMsat - BigInt(row.amount_msat);
        budgets.add(walletId, row.client_pk, { atMs: row.at, amountMsat }, periodStart);
      }
    },
    isSettled: (walletId, name) => named(walletId, name).some(({ settled }) => settled === 1),
    clientOf: (walletId, name) => named(walletId, name)[0]?.client_pk ?? null,
    release,
    undo: (walletId, name, periodStart) => giveBack(walletId, named(walletId, name), periodStart),
  };
}
