import type { SQL } from 'bun';
import type { BudgetPeriod } from '../../model/budget.ts';
import type { BudgetReservation, PeriodStart } from '../ports.ts';
import { together } from './together.ts';
import { numberOf } from './values.ts';

/** What is added to the sum of the period that contains `atMs`; it may be negative. */
interface SumChange {
  readonly clientPk: string;
  readonly atMs: number;
  readonly amountMsat: bigint;
}

interface Row {
  readonly at: bigint;
  readonly amount: string;
}

/** What is reserved or spent under a name, with the period of its client's budget. */
interface Held extends Row {
  readonly seq: bigint;
  readonly client_pk: string;
  readonly settled: boolean;
  readonly period: BudgetPeriod | null;
}

async function periodOf(tx: SQL, walletId: string, clientPk: string): Promise<BudgetPeriod | null> {
  const [row] = await tx<{ period: BudgetPeriod }[]>`
    SELECT period FROM wallet_sidecar.budget WHERE wallet = ${walletId} AND client_pk = ${clientPk}`;
  return row?.period ?? null;
}

/** Adds to the sum of a client whose budget has that period; null where the client has none, and then no sum. */
async function add(
  tx: SQL,
  walletId: string,
  { clientPk, atMs, amountMsat }: SumChange,
  period: BudgetPeriod | null,
  periodStart: PeriodStart,
): Promise<void> {
  if (period === null || amountMsat === 0n) return;
  const startsAtMs = periodStart(period, atMs);
  await tx`INSERT INTO wallet_sidecar.spent (wallet, client_pk, starts_at, amount_msat)
    VALUES (${walletId}, ${clientPk}, ${startsAtMs}, ${`${amountMsat}`}::numeric)
    ON CONFLICT (wallet, client_pk, starts_at) DO UPDATE SET amount_msat = spent.amount_msat + excluded.amount_msat`;
}

async function countedOf(tx: SQL, walletId: string, name: string): Promise<Held[]> {
  return tx<
    Held[]
  >`SELECT s.seq, s.client_pk, s.at, s.amount_msat::text AS amount, s.settled, b.period
    FROM wallet_sidecar.spending s LEFT JOIN wallet_sidecar.budget b ON b.wallet = s.wallet AND b.client_pk = s.client_pk
    WHERE s.wallet = ${walletId} AND s.name = ${name}`;
}

async function heldOf(tx: SQL, walletId: string, name: string): Promise<Held[]> {
  return (await countedOf(tx, walletId, name)).filter(({ settled }) => !settled);
}

async function giveBack(
  tx: SQL,
  walletId: string,
  rows: readonly Held[],
  periodStart: PeriodStart,
): Promise<void> {
  for (const { seq, client_pk: clientPk, at, amount, period } of rows) {
    const change = { clientPk, atMs: numberOf(at), amountMsat: -BigInt(amount) };
    await together([
      tx`DELETE FROM wallet_sidecar.spending WHERE seq = ${seq}`,
      add(tx, walletId, change, period, periodStart),
    ]);
  }
}

async function release(
  tx: SQL,
  walletId: string,
  name: string,
  periodStart: PeriodStart,
): Promise<void> {
  await giveBack(tx, walletId, await heldOf(tx, walletId, name), periodStart);
}

/**
 * What clients have spent and reserved, for ports that write it inside their own transactions. The spending of every
 * client is stored, so that a budget set later counts it; sums exist only for clients with a budget.
 */
export const spendingRows = {
  /**
   * What a client with a budget has spent and reserved in the period that starts at `startsAtMs` and in all later ones,
   * in millisatoshis. There is one row for each period, however many payments it had.
   */
  async sum(sql: SQL, walletId: string, clientPk: string, startsAtMs: number): Promise<bigint> {
    const [row] = await sql<{ total: string }[]>`
      SELECT coalesce(sum(amount_msat), 0)::text AS total FROM wallet_sidecar.spent
      WHERE wallet = ${walletId} AND client_pk = ${clientPk} AND starts_at >= ${startsAtMs}`;
    return BigInt(row?.total ?? '0');
  },
  /** Computes the client's sums again for the period of its budget. A client without a budget has none. */
  async sumUp(
    tx: SQL,
    walletId: string,
    clientPk: string,
    periodStart: PeriodStart,
  ): Promise<void> {
    await tx`DELETE FROM wallet_sidecar.spent WHERE wallet = ${walletId} AND client_pk = ${clientPk}`;
    const period = await periodOf(tx, walletId, clientPk);
    if (period === null) return;
    const rows = await tx<Row[]>`
      SELECT at, amount_msat::text AS amount FROM wallet_sidecar.spending WHERE wallet = ${walletId} AND client_pk = ${clientPk}`;
    const sums = new Map<number, bigint>();
    for (const { at, amount } of rows) {
      const startsAtMs = periodStart(period, numberOf(at));
      sums.set(startsAtMs, (sums.get(startsAtMs) ?? 0n) + BigInt(amount));
    }
    for (const [startsAtMs, total] of sums) {
      await tx`INSERT INTO wallet_sidecar.spent (wallet, client_pk, starts_at, amount_msat)
        VALUES (${walletId}, ${clientPk}, ${startsAtMs}, ${`${total}`}::numeric)`;
    }
  },
  /** Reserves an amount under a name, in the period of its time, for a client whose budget has that `period`. */
  async reserve(
    tx: SQL,
    walletId: string,
    name: string,
    { clientPk, amountMsat, nowMs: atMs }: BudgetReservation,
    { period, periodStart }: { period: BudgetPeriod | null; periodStart: PeriodStart },
  ): Promise<void> {
    await together([
      tx`INSERT INTO wallet_sidecar.spending (wallet, client_pk, at, name, amount_msat, settled)
        VALUES (${walletId}, ${clientPk}, ${atMs}, ${name}, ${`${amountMsat}`}::numeric, FALSE)`,
      add(tx, walletId, { clientPk, atMs, amountMsat }, period, periodStart),
    ]);
  },
  /** Replaces the reservation of that name by its cost, in the period in which it was reserved; 0 gives it back. */
  async close(
    tx: SQL,
    walletId: string,
    name: string,
    costMsat: bigint,
    periodStart: PeriodStart,
  ): Promise<void> {
    if (costMsat === 0n) return release(tx, walletId, name, periodStart);
    for (const { seq, client_pk: clientPk, at, amount, period } of await heldOf(
      tx,
      walletId,
      name,
    )) {
      const change = { clientPk, atMs: numberOf(at), amountMsat: costMsat - BigInt(amount) };
      await together([
        tx`UPDATE wallet_sidecar.spending SET amount_msat = ${`${costMsat}`}::numeric, settled = TRUE WHERE seq = ${seq}`,
        add(tx, walletId, change, period, periodStart),
      ]);
    }
  },
  /** Whether the cost of that name is settled. */
  async isSettled(tx: SQL, walletId: string, name: string): Promise<boolean> {
    const rows = await tx`
      SELECT 1 FROM wallet_sidecar.spending WHERE wallet = ${walletId} AND name = ${name} AND settled LIMIT 1`;
    return rows.length > 0;
  },
  /** Gives back the reservation of that name. What is settled stays. */
  release,
  /** {@link release} that gives back what is settled too. */
  async undo(tx: SQL, walletId: string, name: string, periodStart: PeriodStart): Promise<void> {
    await giveBack(tx, walletId, await countedOf(tx, walletId, name), periodStart);
  },
};
