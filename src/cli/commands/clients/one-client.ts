import { formatAmountMsat, parseAmountMsat } from '../../../model/amount.ts';
import type { BudgetJson } from '../../../model/clients/budget.ts';
import type { ClientInfoJson } from '../../../model/clients/client.ts';
import { fields } from '../../terminal/table.ts';
import { moment, sats } from '../../terminal/words.ts';
import { budgetWords, originWords } from './grant.ts';

/** Returns a client's scopes and permissions in words. */
export function grantWords({ scopes, permissions }: ClientInfoJson): string {
  return [...scopes, ...permissions].join(', ');
}

/** Returns lines that describe one client, and what is left of its budget. */
export function clientLines(client: ClientInfoJson): string[] {
  const { client_pk, label, created_at, expires_at, budget, approve_above: above } = client;
  return fields({
    Client: client_pk ?? 'none: the owner of the wallet',
    Label: label,
    May: grantWords(client),
    Created: created_at === null ? null : moment(created_at),
    Expires: client_pk === null ? null : moment(expires_at, 'never'),
    Budget: budget && budgetWords(budget),
    Left: budget && sats(leftOf(budget)),
    'Asks above': above && sats(above),
    'Fetches from': client.origins && originWords(client.origins),
    Sees: client.own ? 'only what it made' : null,
    'Renewed at': budget && moment(budget.resets_at, 'never'),
  });
}

/** Returns what may still be spent, in sats; a budget that was made smaller may be overdrawn. */
function leftOf({ amount, spent }: BudgetJson): string {
  const leftMsat = (parseAmountMsat(amount) ?? 0n) - (parseAmountMsat(spent) ?? 0n);
  return formatAmountMsat(leftMsat > 0n ? leftMsat : 0n);
}
