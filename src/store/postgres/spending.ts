import type { SQL } from 'bun';
import type { BudgetPeriod } from '../../model/clients/budget.ts';
import { type BudgetSums, sumsOf } from '../budget-sums.ts';
import { type SpendingColumns, withoutCopies } from '../columns/spending.ts';
import type { BudgetReservation, PeriodStart } from '../ports.ts';
import { SIGNED } from '../signed-tables.ts';
import type { BudgetTable } from './budget-table.ts';
import type { RawRow, SignedRows } from './signed-rows.ts';
import { together } from './together.ts';

/** What clients have spent and reserved, for ports that write it inside their own transactions. */
export interface SpendingRows {
  /** Computes what the client has spent and reserved in each period. */
  sums(
    tx: SQL,
    walletId: string,
    clientPk: string,
    period: BudgetPeriod,
    periodStart: PeriodStart,
  ): Promise<BudgetSums>;
  /** Reserves an amount under a name, in the period of its time. */
  reserve(
    tx: SQL,
    walletId: string,
    name: string,
    reservation: BudgetReservation,
    periodStart: PeriodStart,
  ): Promise<void>;
  /** Replaces the reservation of that name by its cost, in the period in which it was reserved; 0 gives it back. */
  close(
    tx: SQL,
    walletId: string,
    name: string,
    costMsat: bigint,
    periodStart: PeriodStart,
  ): Promise<void>;
  /** Whether the cost of that name is settled. */
  isSettled(tx: SQL, walletId: string, name: string): Promise<boolean>;
  /** The client that reserved or spent under that name; null where none did. */
  clientOf(sql: SQL, walletId: string, name: string): Promise<string | null>;
  /** Gives back the reservation of that name. What is settled stays. */
  release(tx: SQL, walletId: string, name: string, periodStart: PeriodStart): Promise<void>;
  /** {@link release} that gives back what is settled too. */
  undo(tx: SQL, walletId: string, name: string, periodStart: PeriodStart): Promise<void>;
}

type Row = SpendingColumns & { readonly seq: bigint; readonly mac: string };

/**
 * Returns the rows of spending. The spending of every client is stored, so that a budget set later counts it; sums
 * exist only for clients with a budget.
 */
export function spendingRows(signed: SignedRows, budgets: BudgetTable): SpendingRows {
  /** The rows that fit, each with its number. */
  const fitting = (rows: readonly RawRow[]): Row[] =>
    rows.flatMap((raw) => {
      const row = signed.read<SpendingColumns>(SIGNED.spending, raw);
      return row ? { ...row, seq: raw.seq as bigint } : [];
    });
  const named = async (sql: SQL, walletId: string, name: string) =>
    fitting(
      await sql<RawRow[]>`
        SELECT seq, wallet, name, client_pk, at, amount_msat::text AS amount_msat, settled, mac
        FROM wallet_sidecar.spending WHERE wallet = ${walletId} AND name = ${name}`,
    );
  const held = async (sql: SQL, walletId: string, name: string) =>
    (await named(sql, walletId, name)).filter(({ settled }) => settled === 0);

  async function giveBack(
    tx: SQL,
    walletId: string,
    rows: readonly Row[],
    periodStart: PeriodStart,
  ): Promise<void> {
    for (const { seq } of rows) await tx`DELETE FROM wallet_sidecar.spending WHERE seq = ${seq}`;
    for (const { client_pk: clientPk, at: atMs, amount_msat: amount } of withoutCopies(rows)) {
      await budgets.add(tx, walletId, clientPk, { atMs, amountMsat: -BigInt(amount) }, periodStart);
    }
  }

  const release: SpendingRows['release'] = async (tx, walletId, name, periodStart) =>
    giveBack(tx, walletId, await held(tx, walletId, name), periodStart);

  return {
    async sums(tx, walletId, clientPk, period, periodStart) {
      const rows = fitting(
        await tx<RawRow[]>`
          SELECT seq, wallet, name, client_pk, at, amount_msat::text AS amount_msat, settled, mac
          FROM wallet_sidecar.spending WHERE wallet = ${walletId} AND client_pk = ${clientPk}`,
      );
      const spent = rows.map(({ at, amount_msat: amount }) => ({
        atMs: at,
        amountMsat: BigInt(amount),
      }));
      return sumsOf(spent, period, periodStart);
    },
    async reserve(tx, walletId, name, { clientPk, amountMsat, nowMs: atMs }, periodStart) {
      const amount = `${amountMsat}`;
      const mac = signed.mac(SIGNED.spending, {
        wallet: walletId,
        idx: name,
        client_pk: clientPk,
        at: atMs,
        amount_msat: amount,
        settled: 0,
      });
      await together([
        tx`INSERT INTO wallet_sidecar.spending (wallet, client_pk, at, name, amount_msat, settled, mac)
          VALUES (${walletId}, ${clientPk}, ${atMs}, ${name}, ${amount}::numeric, FALSE, ${mac})`,
        budgets.add(tx, walletId, clientPk, { atMs, amountMsat }, periodStart),
      ]);
    },
    async close(tx, walletId, name, costMsat, periodStart) {
      if (costMsat === 0n) return release(tx, walletId, name, periodStart);
      const rows = await held(tx, walletId, name);
      const own = withoutCopies(rows);
      // A copy that stayed would be given back by the next end that is told.
      const copies = rows.filter((row) => !own.includes(row));
      for (const { seq } of copies)
        await tx`DELETE FROM wallet_sidecar.spending WHERE seq = ${seq}`;
      for (const row of own) {
        const { seq, client_pk: clientPk, at: atMs, amount_msat: amount } = row;
        const closed: SpendingColumns = { ...row, amount_msat: `${costMsat}`, settled: 1 };
        await together([
          tx`UPDATE wallet_sidecar.spending SET amount_msat = ${`${costMsat}`}::numeric, settled = TRUE,
            mac = ${signed.mac(SIGNED.spending, closed)} WHERE seq = ${seq}`,
          budgets.add(
            tx,
            walletId,
            clientPk,
            { atMs, amountMsat: costMsat - BigInt(amount) },
            periodStart,
          ),
        ]);
      }
    },
    isSettled: async (tx, walletId, name) =>
      (await named(tx, walletId, name)).some(({ settled }) => settled === 1),
    clientOf: async (sql, walletId, name) =>
      (await named(sql, walletId, name))[0]?.client_pk ?? null,
    release,
    undo: async (tx, walletId, name, periodStart) =>
      giveBack(tx, walletId, await named(tx, walletId, name), periodStart),
  };
}
