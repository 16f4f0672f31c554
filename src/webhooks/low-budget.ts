import { budgetWindow, encodeBudget } from '../model/clients/budget.ts';
import { encodeClient } from '../model/clients/client.ts';
import type { LowBudgetPayload } from '../model/webhooks/delivery.ts';
import type { LowBudgetRules } from '../store/ports.ts';
import { type DeliveryRuleOptions, hearers, webhookId } from './draft.ts';

/**
 * Returns the rule by which a budget that is low gets its delivery. The webhook-id follows from wallet, client, period
 * and size of the budget, so that a period has one, and another one after the budget was changed
 * (docs/decisions.md 190).
 */
export function lowBudgetRule(options: DeliveryRuleOptions): LowBudgetRules['deliver'] {
  return (client, { budget, spentMsat }, atMs, endpoints) => {
    const type = 'client.budget_low';
    const to = hearers(type, endpoints, options);
    if (budget === null || to.length === 0) return null;
    const { walletId, clientPk } = client;
    const { period, amountMsat } = budget;
    const { startsAtMs } = budgetWindow(period, atMs);
    const payload: LowBudgetPayload = {
      ...encodeClient(client, encodeBudget(budget, spentMsat, atMs)),
      type,
      timestamp: new Date(atMs).toISOString(),
      user_pk: walletId,
    };
    return {
      id: webhookId(`${walletId}/${clientPk}/budget_low/${period}/${startsAtMs}/${amountMsat}`),
      event: type,
      body: JSON.stringify(payload),
      createdAtMs: options.clock.now(),
      endpoints: to,
    };
  };
}
