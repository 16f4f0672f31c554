import type { Budget } from '../../model/budget.ts';
import type { BudgetState } from '../../model/client.ts';

/** An amount that is held back from a client's budget until the cost is known (docs/decisions.md 66). */
export interface BudgetReservation {
  readonly clientPk: string;
  readonly amountMsat: bigint;
  readonly nowMs: number;
}

/** The state of a client's budget, from which a {@link BudgetRule} decides. */
export interface BudgetStanding {
  readonly budgetState: BudgetState;
  /** Null when the client has no budget, or its row is missing. */
  readonly budget: Budget | null;
  /** What is spent and reserved in the current period, in millisatoshis. */
  readonly spentMsat: bigint;
}

/** Throws ApiError `overBudget` (error 109) when a reservation of this amount is not allowed. A pure function. */
export type BudgetRule = (standing: BudgetStanding, amountMsat: bigint) => void;

/** The budgets of clients (docs/decisions.md 66). `ClientStore.change` sets them. */
export interface BudgetStore {
  /**
   * The state of the client's budget. Reading it costs the same after any number of payments (docs/decisions.md 67).
   */
  get(walletId: string, clientPk: string, nowMs: number): Promise<BudgetStanding>;
}
