import {
  type Amount,
  type Budget,
  type BudgetInput,
  type ClientInfo,
  type CreateClientRequest,
  fromMsat,
  type Permission,
  type Scope,
  toMsat,
  type UpdateClientRequest,
} from '../../client/index.ts';
import { endOfDayMs, lastDay } from './expiry.ts';
import { canSpend } from './grant.ts';
import { satsOf, typedMsat, typedMsatOrZero } from './sats.ts';

/** What a person has put into the form of a client. */
export interface ClientForm {
  readonly label: string;
  readonly scopes: readonly Scope[];
  readonly permissions: readonly Permission[];
  /** Whether it sees only what it made. */
  readonly own: boolean;
  /** Whether an application is paired with it over Nostr, and its relay, as typed; only where it is made. */
  readonly isPaired?: boolean;
  readonly relay?: string;
  readonly hasBudget: boolean;
  /** Sats, as typed. */
  readonly amount: string;
  readonly period: Budget['period'];
  /** Sats, as typed; empty for no such limit. */
  readonly maxPayment: string;
  /** The sats, as typed, above which a payment waits for approval; empty for no such limit. */
  readonly approveAbove: string;
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
  own: false,
  isPaired: false,
  hasBudget: true,
  amount: '',
  period: 'day',
  maxPayment: '',
  approveAbove: '',
  lastDay: '',
};

/** Returns the form of a client as it is. */
export function formOf(client: ClientInfo): ClientForm {
  const { label, scopes, permissions, own, budget, approve_above, expires_at } = client;
  return {
    label: label ?? '',
    scopes,
    permissions,
    own,
    hasBudget: budget !== null,
    amount: budget === null ? '' : satsOf(budget.amount),
    period: budget?.period ?? 'day',
    maxPayment: satsOrNone(budget?.max_payment ?? null),
    approveAbove: satsOrNone(approve_above),
    lastDay: lastDay(expires_at),
  };
}

/** Returns an amount as a person types it; empty for null. */
export function satsOrNone(amount: Amount | null): string {
  return amount === null ? '' : satsOf(amount);
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
  readonly approveAbove: boolean;
  readonly lastDay: boolean;
}

/** What a form is held to besides itself. */
export interface Limits {
  readonly nowMs: number;
  /** The cost above which the granter's own payments wait; null for none. */
  readonly approveAbove: Amount | null;
}

/** Returns what is missing or wrong. */
export function wrongIn(form: ClientForm, { nowMs, approveAbove }: Limits): Wrong {
  const counts = form.hasBudget && spends(form);
  const endMs = endOfDayMs(form.lastDay, null);
  return {
    grant: form.scopes.length + form.permissions.length === 0,
    amount: counts && typedMsat(form.amount) === null,
    maxPayment: counts && form.maxPayment.trim() !== '' && typedMsat(form.maxPayment) === null,
    approveAbove: spends(form) && !isWithin(form.approveAbove, approveAbove),
    lastDay: endMs !== null && endMs <= nowMs,
  };
}

/** Returns whether a payment waits at that cost or a lower one; the cost is as typed, and empty for none. */
function isWithin(typed: string, limit: Amount | null): boolean {
  if (typed.trim() === '') return limit === null;
  const msat = typedMsatOrZero(typed);
  return msat !== null && (limit === null || msat <= toMsat(limit));
}

/** Returns the request for a new client, which expires at `latestMs` at the latest. Nothing may be wrong. */
export function createRequest(form: ClientForm, latestMs: number | null): CreateClientRequest {
  const relay = form.relay?.trim();
  return {
    scopes: form.scopes,
    permissions: form.permissions.length === 0 ? undefined : form.permissions,
    label: form.label.trim() || undefined,
    expires_at: endOfDayMs(form.lastDay, latestMs) ?? undefined,
    budget: form.hasBudget && spends(form) ? budgetOf(form) : undefined,
    approve_above: spends(form) ? approveAboveOf(form) : undefined,
    own: form.own || undefined,
    nwc: form.isPaired ? { relays: relay ? [relay] : undefined } : undefined,
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
    ...approvalChange(before, form),
    ...(form.own === before.own ? {} : { own: form.own }),
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

function approvalChange(
  before: ClientForm,
  form: ClientForm,
): Pick<UpdateClientRequest, 'approve_above' | 'clear_approve_above'> {
  // Like a budget, a limit that is hidden stays as it is.
  if (form.approveAbove === before.approveAbove || !spends(form)) return {};
  const approve_above = approveAboveOf(form);
  return approve_above === undefined ? { clear_approve_above: true } : { approve_above };
}

function approveAboveOf({ approveAbove }: ClientForm): Amount | undefined {
  const msat = typedMsatOrZero(approveAbove);
  return msat === null ? undefined : fromMsat(msat);
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
