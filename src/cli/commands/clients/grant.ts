import { type Command, InvalidArgumentError, Option } from 'commander';
import type { BudgetJson, BudgetPeriod } from '../../../model/budget.ts';
import {
  PERMISSIONS,
  type Permission,
  SCOPE_NAMES,
  type Scope,
} from '../../../model/permissions.ts';
import { readFuture, readNames, readPositiveAmount } from '../../inputs.ts';
import { grouped, sats } from '../../terminal/words.ts';

/** What a client is called and may do, as `clients create` and `clients update` are told. */
export interface GrantFlags {
  readonly label?: string;
  readonly expires?: number;
  readonly scope?: readonly Scope[];
  readonly permission?: readonly Permission[];
  readonly budget?: BudgetFlag;
  readonly maxPayment?: string;
}

/** A budget as it is written on the command line: `10000/day`. */
interface BudgetFlag {
  readonly amount: string;
  readonly period: BudgetPeriod;
}

/** Gives a command the flags of {@link GrantFlags}. */
export function withGrant(command: Command): Command {
  return command
    .option('--label <text>', 'what to call it')
    .option('--expires <time>', 'when it ends: 2030-01-31, or 30d from now', readFuture)
    .addOption(
      new Option('--scope <names>', 'what it may do; repeatable, or with commas')
        .choices(SCOPE_NAMES)
        .argParser(readNames(SCOPE_NAMES)),
    )
    .addOption(
      new Option(
        '--permission <names>',
        'single permissions besides; repeatable, or with commas',
      ).argParser(readNames(PERMISSIONS)),
    )
    .option('--budget <sats/period>', 'what it may spend, fees included: 10000/day', readBudget)
    .option('--max-payment <sats>', 'what one payment may cost; with --budget', readPositiveAmount);
}

/** The members that both request bodies share; what was not said is left out. */
export function grantBody(flags: GrantFlags) {
  return {
    label: flags.label,
    expires_at: flags.expires,
    scopes: flags.scope,
    permissions: flags.permission,
    ...(flags.budget === undefined
      ? {}
      : { budget: { ...flags.budget, max_payment: flags.maxPayment } }),
  };
}

/** A limit on payments is part of a budget: alone it would silently limit nothing. */
export function requireBudget(command: Command, flags: GrantFlags): void {
  if (flags.maxPayment !== undefined && flags.budget === undefined) {
    command.error('--max-payment limits what a budget may spend at once: give --budget too');
  }
}

/** A budget and what is left of it, for people. */
export function budgetWords(budget: BudgetJson | null): string {
  if (budget === null) return '';
  const most = budget.max_payment === null ? '' : `, ${sats(budget.max_payment)} at once`;
  return `${grouped(budget.spent)} of ${sats(budget.amount)} ${PERIOD_WORDS[budget.period]}${most}`;
}

const PERIOD_WORDS: Readonly<Record<BudgetPeriod, string>> = {
  day: 'a day',
  week: 'a week',
  month: 'a month',
  total: 'in all',
};

function readBudget(text: string): BudgetFlag {
  const [amount = '', period = '', ...rest] = text.split('/');
  const known = (Object.keys(PERIOD_WORDS) as BudgetPeriod[]).find((name) => name === period);
  if (known !== undefined && rest.length === 0)
    return { amount: readPositiveAmount(amount), period: known };
  throw new InvalidArgumentError(
    'It must be satoshis and day, week, month or total, such as 10000/day',
  );
}
