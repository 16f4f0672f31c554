import { openLog } from '../../src/lib/log.ts';
import type { Budget } from '../../src/model/clients/budget.ts';
import type { ClientRecord } from '../../src/model/clients/client.ts';
import { ApiError } from '../../src/model/errors.ts';
import { isHeld, type Payment } from '../../src/model/payment.ts';
import type { BudgetRules, NewSpend, Store } from '../../src/store/ports.ts';
import { periodStart } from '../../src/wallet/budget/budget.ts';
import { observationRules } from '../../src/wallet/follow/observe.ts';

export const WALLET = 'ab'.repeat(32);
export const CLIENT = 'ef'.repeat(32);

export const rules = observationRules({
  log: openLog({ level: 'silent', format: 'text', write: () => undefined }),
  deliver: (payment) => ({
    id: `msg_${payment.index}${isHeld(payment) ? '/held' : ''}`,
    event: isHeld(payment) ? 'payment.held' : 'payment.finalized',
    body: '{}',
    createdAtMs: 1,
    endpoints: ['configured'],
  }),
});

/** Rules by which an amount above the client's budget throws; clients without one may spend every amount. */
export const fits: BudgetRules = {
  periodStart,
  requireWithinBudget({ budget, spentMsat }, amountMsat) {
    if (budget === null) return;
    if (spentMsat + amountMsat > budget.amountMsat) throw new ApiError('overBudget', 'over budget');
  },
};

/** The store's counter. */
export async function countOf({ identity }: Pick<Store, 'identity'>): Promise<number> {
  return (await identity.standing(null)).newest.count;
}

/** Applies observations of payments, all with the same attempt. */
export function observe(
  store: Store,
  payments: readonly Payment[],
  options: {
    journaled?: boolean;
    cursor?: string | null;
    attempt?: number | null;
    wallet?: string;
  } = {},
) {
  const { journaled = false, cursor = null, attempt = null, wallet = WALLET } = options;
  const observations = payments.map((payment) => ({ payment, attempt }));
  return store.observations.apply(wallet, { observations, cursor, journaled, nowMs: 1000 }, rules);
}

/**
 * A spend of the owner in the state `asked`, in the journal and without a reservation, unless `change` says otherwise.
 */
export function newSpend(payment: Payment, change: Partial<NewSpend> = {}): NewSpend {
  return {
    payment,
    state: 'asked',
    afterAttempt: null,
    plan: null,
    fetchedInvoice: null,
    caller: 'owner',
    idempotencyKey: null,
    journaled: true,
    approveUntilMs: null,
    reservation: null,
    previous: null,
    ...change,
  };
}

/** A client of {@link WALLET} with a token and no budget. */
export function clientRecord(change: Partial<ClientRecord> = {}): ClientRecord {
  return {
    walletId: WALLET,
    clientPk: CLIENT,
    nodeKind: 'sandbox',
    parentPk: null,
    secretHash: '12'.repeat(32),
    createdAtMs: 1,
    expiresAtMs: null,
    label: null,
    scopes: ['send'],
    permissions: [],
    revokedAtMs: null,
    budgetState: 'none',
    token: { id: '7', token: 'aa', exposed: false },
    endedTokenIds: [],
    approveAboveMsat: null,
    origins: null,
    own: false,
    ...change,
  };
}

/** Sets the client's budget, or removes it (null), and writes the client's record in the same change. */
export function setBudget(store: Store, budget: Budget | null, clientPk = CLIENT) {
  const budgetState = budget === null ? 'lifted' : 'set';
  return store.clients.change(WALLET, () => ({
    records: [clientRecord({ clientPk, budgetState })],
    budgets: [{ clientPk, budget, periodStart }],
  }));
}
