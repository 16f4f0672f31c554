import type { Budget } from '../../model/clients/budget.ts';
import type { ClientRecord } from '../../model/clients/client.ts';
import type { PeriodStart } from './budgets.ts';

/** A client's budget to set; null removes it. */
export interface BudgetChange {
  readonly clientPk: string;
  readonly budget: Budget | null;
  /** The rule by which the client's spending is summed up again when the period changes. */
  readonly periodStart: PeriodStart;
}

/** What {@link ClientStore.change} writes in one transaction. */
export interface ClientChanges {
  /**
   * Clients to write, new or changed. When a client is revoked, the stored outcomes of its own requests are deleted,
   * and so is the outcome that holds its credentials (docs/decisions.md 53).
   */
  readonly records: readonly ClientRecord[];
  readonly budgets: readonly BudgetChange[];
}

/** The clients of all wallets, with their grants and their tokens of the node. */
export interface ClientStore {
  /** The client with that public key, of any wallet and in any state; null when there is none. */
  find(clientPk: string): Promise<ClientRecord | null>;
  /** Every client of the wallet, oldest first, revoked and expired ones included. */
  list(walletId: string): Promise<ClientRecord[]>;
  /**
   * Reads every client of the wallet, passes them to `decide`, and writes the changes that it returns, in one
   * transaction. When `decide` throws, nothing is written and the error is passed on. Returns the changes.
   */
  change(
    walletId: string,
    decide: (records: readonly ClientRecord[]) => ClientChanges,
  ): Promise<ClientChanges>;
  /** Whether any client that is active at `nowMs` has a budget. */
  anyBudget(nowMs: number): Promise<boolean>;
}
