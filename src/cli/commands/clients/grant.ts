import { InvalidArgumentError } from 'commander';
import type { BudgetJson, BudgetPeriod } from '../../../model/clients/budget.ts';
import type { ClientInfoJson } from '../../../model/clients/client.ts';
import { isWebOrigin, ORIGIN_RULE } from '../../../model/clients/origins.ts';
import { PERMISSIONS, SCOPE_NAMES } from '../../../model/clients/permissions.ts';
import { CallFailed } from '../../call-failed.ts';
import { flag, type Given } from '../../command.ts';
import { readAmount, readFuture, readPositiveAmount } from '../../inputs.ts';
import type { CliIo } from '../../io.ts';
import { namesFlag } from '../../options.ts';
import { grouped, sats } from '../../terminal/words.ts';

/** A budget as it is written on the command line: `10000/day`. */
interface BudgetFlag {
  readonly amount: string;
  readonly period: BudgetPeriod;
}

/** What `clients update` takes in place of a limit to remove it. */
const NO_LIMIT = 'none';
const ABOUT_BUDGET = 'what the client may spend, fees included, such as 10000/day';
const ABOUT_APPROVAL = 'a payment that may cost more, fees included, waits until it is approved';
const NEEDS_BUDGET = '--max-payment is part of a budget: give --budget too';

/** The flags of `clients create` and `clients update` that describe a client's label, expiry, grant and limits. */
export const GRANT_WORDS = {
  label: flag('--label <text>', 'name of the client'),
  expires_at: flag(
    '--expires <time>',
    'when the client expires, such as 2030-01-31, or 30d for 30 days from now',
    readFuture,
  ),
  scopes: namesFlag(
    '--scope <names>',
    'what the client may do; repeatable, or separated by commas',
    SCOPE_NAMES,
  ),
  permissions: namesFlag(
    '--permission <names>',
    'single permissions in addition; repeatable, or separated by commas',
    PERMISSIONS,
  ),
  budget: flag('--budget <sats/period>', ABOUT_BUDGET, readBudget),
  max_payment: flag(
    '--max-payment <sats>',
    'what one payment may cost; needs --budget',
    readPositiveAmount,
  ),
  approve_above: flag('--approve-above <sats>', ABOUT_APPROVAL, readAmount),
  origins: flag(
    '--origin <origin>',
    'a web origin that "fetch" may ask, such as https://api.example; repeatable',
    readOrigins,
  ),
  own: flag('--own', 'let the client see only what it made, and no balance'),
};

/** The same flags of `clients update`. */
export const CHANGE_WORDS = {
  ...GRANT_WORDS,
  max_payment: flag(
    '--max-payment <sats>',
    'what one payment may cost; "none" removes this limit, and without the flag it stays',
    (text: string) => (text === NO_LIMIT ? text : readPositiveAmount(text)),
  ),
  own: flag('--own <yes|no>', 'whether the client sees only what it made, and no balance', readYes),
  budget: flag('--budget <sats/period>', ABOUT_BUDGET, unlessCleared('--clear-budget', readBudget)),
  approve_above: flag(
    '--approve-above <sats>',
    ABOUT_APPROVAL,
    unlessCleared('--clear-approve-above', readAmount),
  ),
};

/** Reads the value of a limit of `clients update`; "none" names the flag that removes it. */
function unlessCleared<T>(clear: string, read: (text: string) => T): (text: string) => T {
  return (text) => {
    if (text === NO_LIMIT) throw new InvalidArgumentError(`${clear} removes the limit`);
    return read(text);
  };
}

/** Returns what is wrong with the flags; null when nothing is. A limit without a budget would limit nothing. */
export function grantProblem({ budget, max_payment }: Given<typeof GRANT_WORDS>): string | null {
  if (max_payment === undefined || budget !== undefined) return null;
  return NEEDS_BUDGET;
}

/** Says what limits without a budget hold against; of a budget health says it, where it knows more of the sidecar. */
export function tellOfLimits(
  {
    budget,
    approve_above,
    origins,
  }: Pick<Given<typeof GRANT_WORDS>, 'budget' | 'approve_above' | 'origins'>,
  io: Pick<CliIo, 'stderr'>,
): void {
  if (budget !== undefined || (approve_above === undefined && origins === undefined)) return;
  io.stderr(
    'These limits hold where the sidecar requires credentials (--require-auth), and only against programs that run as another user of the operating system than it.',
  );
}

/** Returns the budget of a changed client for the API, which replaces all of it: a limit that is not named is kept. */
export async function changedBudget(
  { budget, max_payment }: Pick<Given<typeof CHANGE_WORDS>, 'budget' | 'max_payment'>,
  io: Pick<CliIo, 'stderr'>,
  clientNow: () => Promise<ClientInfoJson>,
) {
  if (budget === undefined && max_payment === undefined) return undefined;
  const limit = max_payment === NO_LIMIT ? undefined : max_payment;
  if (budget !== undefined && max_payment !== undefined) return { ...budget, max_payment: limit };
  const before = (await clientNow()).budget;
  if (budget === undefined) {
    if (before === null) throw new CallFailed(`The client has no budget, and ${NEEDS_BUDGET}`);
    const { amount, period } = before;
    return { amount, period, max_payment: limit };
  }
  const kept = before?.max_payment ?? null;
  if (kept === null) return budget;
  io.stderr(
    `One payment may still cost ${sats(kept)} at most: "--max-payment none" removes this limit.`,
  );
  return { ...budget, max_payment: kept };
}

/** Returns a budget and what is left of it, in words. */
export function budgetWords(budget: BudgetJson | null): string {
  if (budget === null) return '';
  const most = budget.max_payment === null ? '' : `, ${sats(budget.max_payment)} at once`;
  return `${grouped(budget.spent)} of ${sats(budget.amount)} ${PERIOD_WORDS[budget.period]}${most}`;
}

/** Returns the origins that a client may fetch from, in words; nothing for any. */
export function originWords(origins: readonly string[] | null): string {
  return origins?.length === 0 ? 'nowhere' : (origins?.join(', ') ?? '');
}

const PERIOD_WORDS: Readonly<Record<BudgetPeriod, string>> = {
  day: 'a day',
  week: 'a week',
  month: 'a month',
  total: 'in all',
};

function readYes(text: string): boolean {
  if (text === 'yes' || text === 'no') return text === 'yes';
  throw new InvalidArgumentError('It must be yes or no');
}

function readOrigins(text: string, before: readonly string[] = []): readonly string[] {
  if (isWebOrigin(text)) return [...before, text];
  throw new InvalidArgumentError(`It ${ORIGIN_RULE}`);
}

function readBudget(text: string): BudgetFlag {
  const [amount = '', period = '', ...rest] = text.split('/');
  const known = (Object.keys(PERIOD_WORDS) as BudgetPeriod[]).find((name) => name === period);
  if (known !== undefined && rest.length === 0)
    return { amount: readPositiveAmount(amount), period: known };
  throw new InvalidArgumentError(
    'It must be an amount in satoshis, a slash, and day, week, month or total, such as 10000/day',
  );
}
