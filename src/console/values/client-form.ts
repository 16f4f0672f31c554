import {
  type Budget,
  type BudgetInput,
  type ClientInfo,
  type CreateClientRequest,
  fromMsat,
  type Permission,
  type Scope,
  type UpdateClientRequest,
} from '../../client/index.ts';
import { endOfDayMs, lastDay } from './expiry.ts';
import { canSpend } from './grant.ts';
import { satsOf, typedMsat } from './sats.ts';

/** What a person has put into the form of a client. */
export interface ClientForm {
  readonly label: string;
  readonly scopes: readonly Scope[];
  readonly permissions: readonly Permission[];
  readonly hasBudget: boolean;
  /** Sats, as typed. */
  readonly amount: string;
  readonly period: Budget['period'];
  /** Sats, as typed; empty for no such limit. */
  readonly maxPayment: string;
  /** The last day, such as `2027-01-31`; empty for never. */
  readonly lastDay: string;
}

/**
 * The form of a new client. It suits a till, which shows an invoice and has to learn that it is paid. Where a client
 * may spend it has a budget, unless the person takes that away.
 */
export const EMPTY_FORM: ClientForm = {
  label: '',
  scopes: ['read_info', 'read_payments', 'receive'],
  permissions: [],
  hasBudget: true,
  amount: '',
  period: 'day',
  maxPayment: '',
  lastDay: '',
};

/** Returns the form of a client as it is. */
export function formOf({ label, scopes, permissions, budget, expires_at }: ClientInfo): ClientForm {
  return {
    label: label ?? '',
    scopes,
    permissions,
    hasBudget: budget !== null,
    amount: budget === null ? '' : satsOf(budget.amount),
    period: budget?.period ?? 'day',
    maxPayment: budget?.max_payment == null ? '' : satsOf(budget.max_payment),
    lastDay: lastDay(expires_at),
  };
}

/** Returns whether the client of the form may spend, so that a budget makes sense. */
export function spends({ scopes, permissions }: ClientForm): boolean {
  return canSpend(scopes, permissions);
}

/** What is missing or wrong in a form. */
export interface Wrong {
  readonly grant: boolean;
  readonly amount: boolean;
  readonly maxPayment: boolean;
}

/** Returns what is missing or wrong. */
export function wrongIn(form: ClientForm): Wrong {
  const counts = form.hasBudget && spends(form);
  return {
    grant: form.scopes.length + form.permissions.length === 0,
    amount: counts && typedMsat(form.amount) === null,
    maxPayment: counts && form.maxPayment.trim() !== '' && typedMsat(form.maxPayment) === null,
  };
}

/**
 * Returns the request for a new client, which expires at `latestMs` at the latest. The form must have nothing wrong.
 */
export function createRequest(form: ClientForm, latestMs: number | null): CreateClientRequest {
  return {
    scopes: form.scopes,
    permissions: form.permissions.length === 0 ? undefined : form.permissions,
    label: form.label.trim() || undefined,
    expires_at: endOfDayMs(form.lastDay, latestMs) ?? undefined,
    budget: form.hasBudget && spends(form) ? budgetOf(form) : undefined,
  };
}

/**
 * Returns the request that makes a client what the form says. What the person left as it was is left out, so that it
 * cannot change by this. The form must have nothing wrong.
 */
export function updateRequest(
  client: ClientInfo,
  form: ClientForm,
  latestMs: number | null,
): UpdateClientRequest {
  const before = formOf(client);
  const label = form.label.trim();
  const expires_at = endOfDayMs(form.lastDay, latestMs);
  const { scopes, permissions } = form;
  const isSameGrant = isSame(scopes, before.scopes) && isSame(permissions, before.permissions);
  return {
    client_pk: client.client_pk ?? '',
    ...(label === before.label ? {} : label === '' ? { clear_label: true } : { label }),
    ...(form.lastDay === before.lastDay
      ? {}
      : expires_at === null
        ? { clear_expiration: true }
        : { expires_at }),
    ...(isSameGrant ? {} : { scopes, permissions }),
    ...budgetChange(before, form),
  };
}

function budgetChange(
  before: ClientForm,
  form: ClientForm,
): Pick<UpdateClientRequest, 'budget' | 'clear_budget'> {
  if (!form.hasBudget) return before.hasBudget ? { clear_budget: true } : {};
  const isUnchanged =
    before.hasBudget &&
    form.amount === before.amount &&
    form.period === before.period &&
    form.maxPayment === before.maxPayment;
  // A budget that is hidden, because the client spends nothing, stays as it is.
  return isUnchanged || !spends(form) ? {} : { budget: budgetOf(form) };
}

function budgetOf({ amount, period, maxPayment }: ClientForm): BudgetInput | undefined {
  const amountMsat = typedMsat(amount);
  const maxPaymentMsat = typedMsat(maxPayment);
  if (amountMsat === null) return undefined;
  return {
    amount: fromMsat(amountMsat),
    period,
    max_payment: maxPaymentMsat === null ? undefined : fromMsat(maxPaymentMsat),
  };
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((one) => others.includes(one));
}
