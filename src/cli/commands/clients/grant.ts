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

/** The flags of `clients create` and `clients update` that describe a client's label, expiry, grant and budget. */
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

/** Adds the flags of {@link GrantFlags} to a command. */
export function withGrant(command: Command): Command {
  return command
    .option('--label <text>', 'name of the client')
    .option(
      '--expires <time>',
      'when the client expires, such as 2030-01-31, or 30d for 30 days from now',
      readFuture,
    )
    .addOption(
      new Option('--scope <names>', 'what the client may do; repeatable, or separated by commas')
        .choices(SCOPE_NAMES)
        .argParser(readNames(SCOPE_NAMES)),
    )
    .addOption(
      new Option(
        '--permission <names>',
        'single permissions in addition; repeatable, or separated by commas',
      )
        .choices(PERMISSIONS)
        .argParser(readNames(PERMISSIONS)),
    )
    .option(
      '--budget <sats/period>',
      'what the client may spend, fees included, such as 10000/day',
      readBudget,
    )
    .option(
      '--max-payment <sats>',
      'what one payment may cost; needs --budget',
      readPositiveAmount,
    );
}

/** Returns the members that the two request bodies share. Flags that were not given are left out. */
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

/** Ends the command with an error if --max-payment is given without --budget, because it would limit nothing. */
export function requireBudget(command: Command, flags: GrantFlags): void {
  if (flags.maxPayment !== undefined && flags.budget === undefined) {
    command.error('--max-payment is part of a budget: give --budget too');
  }
}

/** Returns a budget and what is left of it, in words. */
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
    'It must be an amount in satoshis, a slash, and day, week, month or total, such as 10000/day',
  );
}
