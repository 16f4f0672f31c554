import { createHash } from 'node:crypto';
import { hex } from '@scure/base';
import { decodeBolt11 } from '../codecs/bolt11/index.ts';
import { backoffDelayMs } from '../lib/backoff.ts';
import { sleep } from '../lib/sleep.ts';
import { formatAmountMsat } from '../model/amount.ts';
import type { BudgetPeriod } from '../model/clients/budget.ts';
import type { ClientInfoJson } from '../model/clients/client.ts';
import type { Permission } from '../model/clients/permissions.ts';
import type { PaymentJson } from '../model/payment.ts';
import type { CreatedInvoiceJson } from '../model/receive.ts';
import { type Caller, Refusal } from '../phoenixd/caller.ts';
import { byHash, listed } from '../phoenixd/payments.ts';
import { msatOf, type Params, Problem, problemOf, secsOf } from './params.ts';
import { transactionOf } from './transactions.ts';

/** One request of an application. */
export interface Call {
  readonly caller: Caller;
  readonly params: Params;
  /** The id of its event, which is its Idempotency-Key (docs/decisions.md 200). */
  readonly id: string;
  /** Whether it was written since this process began, so that no earlier one has begun to pay it. */
  readonly isFresh: boolean;
  /** Payments that were answered with an error, by key: what is in it is never asked for again. */
  readonly refusals: { has(key: string): boolean; add(key: string): Promise<void> };
  /** Aborts when the service stops. */
  readonly ended: AbortSignal;
}

/** An answer, which comes when it is known. Of several each has a name, `d`. */
export type Part = { readonly d?: string; readonly result: Promise<object> };

interface Method {
  /** What a client needs for it. */
  readonly needs: readonly Permission[];
  readonly ability?: 'spontaneous' | 'hold_invoices';
  readonly spends?: true;
  /** Throws {@link Problem}, {@link Refusal}, and {@link StillUnknown}. Null where there are several answers. */
  readonly run: ((call: Call) => Promise<object>) | null;
}

/** What became of a payment is not known and cannot be asked: nothing is answered, since no error would be true. */
class StillUnknown extends Error {}

/** What a client may do at its node now. */
export interface Facts {
  readonly client: ClientInfoJson;
  readonly node: { readonly network: string; readonly abilities: readonly string[] };
}

/** Without finding it again nobody could settle what is held. */
const HOLDS = ['create_invoice', 'get_updated_payments'] as const;
/** The most bytes of a list: sealed it has to fit in an event of 64 KB. */
const MOST_LIST_BYTES = 40_000;
/** The most invoices of one request, as many as a client may have in progress. */
const MOST_INVOICES = 16;
const AGAIN = { firstMs: 500, mostMs: 60_000, jitter: 0.4, random: Math.random };

/** The methods, by name. That of several invoices is answered by {@link partsOf}. */
const METHODS: ReadonlyMap<string, Method> = new Map<string, Method>(
  Object.entries({
    get_info: { needs: [], run: getInfo },
    get_balance: { needs: ['node_info'], run: getBalance },
    get_budget: { needs: [], run: getBudget },
    make_invoice: { needs: ['create_invoice'], run: (call) => makeInvoice(call, {}) },
    lookup_invoice: { needs: ['get_updated_payments'], run: lookUp },
    list_transactions: { needs: ['get_updated_payments'], run: list },
    pay_invoice: {
      needs: ['pay_invoice'],
      spends: true,
      run: (call) => payInvoice(call, call.params, call.id),
    },
    multi_pay_invoice: { needs: ['pay_invoice'], spends: true, run: null },
    pay_keysend: { needs: ['pay_invoice'], ability: 'spontaneous', spends: true, run: payKeysend },
    make_hold_invoice: {
      needs: HOLDS,
      ability: 'hold_invoices',
      run: (call) => makeInvoice(call, { payment_hash: call.params.required('payment_hash') }),
    },
    settle_hold_invoice: { needs: HOLDS, ability: 'hold_invoices', run: settle },
    cancel_hold_invoice: {
      needs: [...HOLDS, 'cancel_payment'],
      ability: 'hold_invoices',
      run: cancel,
    },
  } satisfies Record<string, Method>),
);

/** Whether a method can cost money. */
export const spends = (method: string): boolean => METHODS.get(method)?.spends === true;

/** Reads what the caller may do now. */
export async function factsOf(caller: Caller): Promise<Facts> {
  const client = await caller.read<ClientInfoJson>('GET', '/v2/node/client_info');
  return { client, node: await caller.read<Facts['node']>('GET', '/v2/console/about') };
}

/** The names of the methods that grant and node allow. */
export function offered({ client, node }: Facts): string[] {
  const isOwnBudget = (name: string) =>
    client.own && name === 'get_balance' && client.budget !== null;
  return [...METHODS].flatMap(([name, { needs, ability }]) => {
    const may = needs.every((one) => client.effective_permissions.includes(one));
    const can = ability === undefined || node.abilities.includes(ability);
    // Who sees only its own has no balance of the wallet (docs/decisions.md 195).
    const sees = name !== 'get_balance' || !client.own;
    return (may && can && sees) || isOwnBudget(name) ? [name] : [];
  });
}

/** The notifications that a client may have. */
export function toldOf({ client, node }: Facts): string[] {
  if (!client.effective_permissions.includes('get_updated_payments')) return [];
  const held = node.abilities.includes('hold_invoices') ? ['hold_invoice_accepted'] : [];
  return ['payment_received', 'payment_sent', ...held];
}

/** Begins a call, and returns its answers. */
export function partsOf(method: string, call: Call): Part[] {
  const known = METHODS.get(method);
  if (known?.run === null) return payInvoices(call);
  const run = known?.run ?? (() => Promise.reject(unknownMethod(method)));
  return [{ result: run(call) }];
}

const unknownMethod = (method: string) =>
  new Problem('NOT_IMPLEMENTED', `There is no method ${method.slice(0, 50)} here.`);

async function getInfo({ caller }: Call): Promise<object> {
  const facts = await factsOf(caller);
  const { network } = facts.node;
  // Without the permission there is no key to tell.
  const node = await nodeOf(caller).catch(() => null);
  return {
    alias: facts.client.label ?? 'wallet-sidecar',
    pubkey: node?.node_pk ?? '',
    network: network === 'bitcoin' ? 'mainnet' : network,
    methods: offered(facts),
    notifications: toldOf(facts),
  };
}

type NodeInfo = { readonly node_pk: string; readonly lightning_max_sendable_balance: string };
const nodeOf = (caller: Caller) => caller.read<NodeInfo>('GET', '/v2/node/node_info');

async function getBalance({ caller }: Call): Promise<object> {
  const { own, budget } = await caller.read<ClientInfoJson>('GET', '/v2/node/client_info');
  if (own && budget) {
    return { balance: Math.max(0, msatOf(budget.amount) - msatOf(budget.spent)) };
  }
  return { balance: msatOf((await nodeOf(caller)).lightning_max_sendable_balance) };
}

const PERIODS: Readonly<Record<BudgetPeriod, string>> = {
  day: 'daily',
  week: 'weekly',
  month: 'monthly',
  total: 'never',
};

async function getBudget({ caller }: Call): Promise<object> {
  const { budget } = await caller.read<ClientInfoJson>('GET', '/v2/node/client_info');
  if (budget === null) return {};
  const { amount, spent, period, resets_at } = budget;
  return {
    used_budget: msatOf(spent),
    total_budget: msatOf(amount),
    renewal_period: PERIODS[period],
    ...(resets_at !== null && { renews_at: secsOf(resets_at) }),
  };
}

async function makeInvoice({ caller, params, id }: Call, hold: object): Promise<object> {
  if (params.given('min_cltv_expiry_delta')) throw notOffered('min_cltv_expiry_delta');
  const description_hash = params.text('description_hash');
  const body = {
    ...hold,
    amount: params.amount('amount') ?? undefined,
    ...(description_hash ? { description_hash } : { description: params.text('description') }),
    expiration_secs: params.whole('expiry') ?? 3600,
  };
  const headers = { 'idempotency-key': id };
  const path = '/v2/node/create_invoice';
  const made = await caller.read<CreatedInvoiceJson>('POST', path, { body, headers });
  return {
    type: 'incoming',
    state: 'pending',
    invoice: made.invoice,
    description: made.description ?? undefined,
    description_hash,
    payment_hash: made.payment_hash,
    amount: msatOf(made.amount),
    created_at: secsOf(made.created_at),
    expires_at: secsOf(made.expires_at),
  };
}

const notOffered = (name: string) =>
  new Problem('NOT_IMPLEMENTED', `${name}: is not offered: leave it out.`);

/** Returns the payment of a hash, received or sent. */
async function found(caller: Caller, id: string): Promise<PaymentJson> {
  const call = { caller, id };
  const payment = (await byHash(call, 'inbound')) ?? (await byHash(call, 'outbound'));
  if (payment) return payment;
  throw new Problem('NOT_FOUND', 'There is no payment of this hash.');
}

async function lookUp({ caller, params }: Call): Promise<object> {
  const hash = params.text('payment_hash') ?? invoiceIn(params).paymentHash;
  return transactionOf(await found(caller, hash));
}

async function list({ caller, params }: Call): Promise<object> {
  const [from, until] = [params.whole('from') ?? 0, params.whole('until')];
  const sides: Readonly<Record<string, string>> = { incoming: 'inbound', outgoing: 'outbound' };
  const direction = sides[params.text('type') ?? ''];
  const most = Math.min(params.whole('limit') ?? 20, 50);
  let skipped = params.whole('offset') ?? 0;
  const query = {
    ...{ limit: '1000', since: String(from * 1000) },
    ...(until !== undefined && { until: String((until + 1) * 1000) }),
    ...(direction && { direction }),
    filter: params.given('unpaid') ? 'all' : 'completed',
  };
  const shown: object[] = [];
  let bytes = 0;
  for (let after: string | null = ''; after !== null; ) {
    const page = await listed(caller, { ...query, ...(after && { after }) });
    for (const payment of page.payments) {
      if (payment.hash === null || payment.direction === 'info' || skipped-- > 0) continue;
      const one = transactionOf(payment);
      bytes += Buffer.byteLength(JSON.stringify(one));
      if (shown.length >= most || bytes > MOST_LIST_BYTES) return { transactions: shown };
      shown.push(one);
    }
    after = page.next_index ?? null;
  }
  return { transactions: shown };
}

function invoiceIn(params: Params) {
  try {
    return decodeBolt11(
      params
        .required('invoice')
        .toLowerCase()
        .replace(/^lightning:/, ''),
    );
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem('OTHER', 'invoice: cannot be read');
  }
}

async function payInvoice(call: Call, params: Params, key: string): Promise<object> {
  const { text: invoice, amountMsat } = invoiceIn(params);
  const amount = params.amount('amount');
  if (amount !== null && amountMsat !== null && amount !== formatAmountMsat(amountMsat)) {
    throw new Problem('OTHER', 'amount: must be that of the invoice');
  }
  const fallback = amountMsat === null && amount !== null ? { fallback_amount: amount } : {};
  return paid(call, '/v2/node/pay_invoice', { invoice, ...fallback }, key);
}

function payInvoices(call: Call): Part[] {
  const all = call.params.list('invoices');
  if (all.length === 0 || all.length > MOST_INVOICES) {
    throw new Problem('OTHER', `invoices: must be 1 to ${MOST_INVOICES}`);
  }
  return all.map((one, at) => {
    const pay = async () => payInvoice(call, one, `${call.id} ${at}`);
    return { d: one.text('id') ?? hashIn(one), result: pay() };
  });
}

function hashIn(params: Params): string {
  try {
    return invoiceIn(params).paymentHash;
  } catch {
    return '';
  }
}

async function payKeysend(call: Call): Promise<object> {
  const { params } = call;
  for (const name of ['preimage', 'tlv_records']) if (params.given(name)) throw notOffered(name);
  const body = { node_pk: params.required('pubkey'), amount: params.amount('amount') };
  return paid(call, '/v2/node/pay_spontaneous', body, call.id);
}

/** Pays once for a key, and returns what came of it when that is known. */
async function paid(call: Call, path: string, body: object, key: string): Promise<object> {
  const { caller, refusals, isFresh, ended } = call;
  // Whoever was told that it is not paid must not have it paid by a repeat.
  if (refusals.has(key) || refusals.has(call.id)) throw new StillUnknown();
  const headers = { 'idempotency-key': key };
  for (let attempt = 1; ; attempt += 1) {
    const payment = await caller
      .read<PaymentJson>('POST', path, { body, headers })
      .catch(async (error: unknown) => {
        const { data = {}, code = null } = error instanceof Refusal ? error : {};
        const isFirst = attempt === 1 && isFresh;
        if (data.sent === 'no' || (code === ENDED && isFirst)) {
          await refusals.add(key);
          throw error;
        }
        // It may have been sent, and nobody may ask any more in the name of this client.
        if (code !== null && NEVER_AGAIN.has(code)) throw new StillUnknown();
        return null;
      });
    if (payment?.status === 'failed') throw failed(payment.status_msg);
    if (payment?.status === 'completed') {
      return { preimage: payment.preimage, fees_paid: msatOf(payment.fees) };
    }
    await sleep(backoffDelayMs(attempt, AGAIN), ended);
    if (ended.aborted) throw new StillUnknown();
  }
}

/** Error 104: the client has ended. */
const ENDED = 104;
/** Rejected, ended, or not allowed: a repeat would be answered so too. */
const NEVER_AGAIN: ReadonlySet<number> = new Set([7, ENDED, 107, 108, 110, 111]);

function failed(reason: string): Problem {
  const isBalance = reason === 'not enough sendable balance';
  return new Problem(isBalance ? 'INSUFFICIENT_BALANCE' : 'PAYMENT_FAILED', reason);
}

async function settle({ caller, params, id }: Call): Promise<object> {
  const preimage = params.required('preimage');
  if (!/^[0-9a-f]{64}$/i.test(preimage)) {
    throw new Problem('OTHER', 'preimage: must be 64 hex characters');
  }
  const hash = createHash('sha256').update(hex.decode(preimage.toLowerCase())).digest('hex');
  const { index } = await found(caller, hash);
  const body = { index, preimage: preimage.toLowerCase() };
  const headers = { 'idempotency-key': id };
  return caller.read('POST', '/v2/node/settle_invoice', { body, headers });
}

async function cancel({ caller, params, id }: Call): Promise<object> {
  const { index } = await found(caller, params.required('payment_hash'));
  const headers = { 'idempotency-key': id };
  return caller.read('POST', '/v2/node/cancel_payment', { body: { index }, headers });
}

/** The error of NIP-47 for why a call was not done. */
export function errorOf(error: unknown): { code: string; message: string } | null {
  if (error instanceof StillUnknown) return null;
  if (error instanceof Problem) return { code: error.code, message: error.message };
  return error instanceof Refusal ? problemOf(error) : problemOf(null);
}
