import type { Budget, BudgetPeriod } from '../../model/clients/budget.ts';
import type { BudgetState, ClientRecord } from '../../model/clients/client.ts';
import type { DeliveryDraft } from './outbox.ts';
import type { EndpointFilter } from './webhook-endpoints.ts';

/** An amount that is held back from a client's budget until the cost is known (docs/decisions.md 66). */
export interface BudgetReservation {
  readonly clientPk: string;
  readonly amountMsat: bigint;
  readonly nowMs: number;
}

/** The state of a client's budget, from which {@link BudgetRules} decide. */
export interface BudgetStanding {
  readonly budgetState: BudgetState;
  /** Null when the client has no budget, or its row is missing. */
  readonly budget: Budget | null;
  /**
   * What is spent and reserved in the current period and in all later ones, in millisatoshis. Later ones count because
   * the clock may have been ahead (docs/decisions.md 67).
   */
  readonly spentMsat: bigint;
}

/**
 * Returns when the period that contains a time began, both in milliseconds. The store keeps one sum for each of these
 * times, and adds a cost to the sum of the period in which it was reserved. A pure function.
 */
export type PeriodStart = (period: BudgetPeriod, atMs: number) => number;

/** Rules of budgets that the store runs inside its transactions. All functions are pure. */
export interface BudgetRules {
  readonly periodStart: PeriodStart;
  /** Throws ApiError `overBudget` (error 109) when a reservation of this amount is not allowed. */
  readonly requireWithinBudget: (standing: BudgetStanding, amountMsat: bigint) => void;
  /** Absent where nobody is told of budgets that are low. */
  readonly low?: LowBudgetRules;
}

/** How endpoints are told of a budget that is low after a reservation (docs/decisions.md 190). */
export interface LowBudgetRules {
  /** The delivery, for those of the wallet's endpoints that hear of it; null when none does. A pure function. */
  readonly deliver: (
    client: ClientRecord,
    standing: BudgetStanding,
    atMs: number,
    endpoints: readonly EndpointFilter[],
  ) => DeliveryDraft | null;
  /** Called when deliveries were stored. */
  readonly onDelivery: () => void;
}

/** The budgets of clients (docs/decisions.md 66). `ClientStore.change` sets them. */
export interface BudgetStore {
  /**
   * The state of the client's budget. Reading it costs the same after any number of payments (docs/decisions.md 67).
   */
  get(
    walletId: string,
    clientPk: string,
    nowMs: number,
    periodStart: PeriodStart,
  ): Promise<BudgetStanding>;
}
