import { createHash } from 'node:crypto';
import { hex } from '@scure/base';
import { formatNullableAmountMsat } from '../model/amount.ts';
import type { ClientInfoJson } from '../model/clients/client.ts';
import type { Permission } from '../model/clients/permissions.ts';
import type { PaymentJson } from '../model/payment.ts';
import type { CreatedInvoiceJson } from '../model/receive.ts';
import type { Caller } from '../phoenixd/caller.ts';
import { byHash, listed } from '../phoenixd/payments.ts';
import { msatOf, type Params, Problem, secsOf } from './params.ts';
import { type Call, paid } from './pay.ts';
import { transactionOf } from './transactions.ts';

/** An answer, which comes when it is known. Of several each has a name, `d`. */
interface Part {
  readonly d?: string;
  readonly result: Promise<object>;
}

interface Method {
  readonly run: (call: Call) => Promise<object> | Part[];
  /** What a client needs for it, beside being one. */
  readonly needs?: readonly Permission[];
  readonly ability?: 'spontaneous' | 'hold_invoices';
}

/** What a client may do at its node now. */
export interface Facts {
  readonly client: ClientInfoJson;
  readonly node: { readonly network: string; readonly abilities: readonly string[] };
}

/** The most bytes of a list: sealed it has to fit in an event of 64 KB. */
const MOST_LIST_BYTES = 40_000;
/** The most invoices of one request, as many as a client may have in progress. */
const MOST_INVOICES = 16;
const READS = ['get_updated_payments'] as const;
const PAYS = ['pay_invoice'] as const;
/** Who cannot find a held payment again cannot settle it. */
const HOLDS = { needs: ['create_invoice', ...READS], ability: 'hold_invoices' } as const;

const METHODS: ReadonlyMap<string, Method> = new Map<string, Method>(
  Object.entries({
    get_info: { run: getInfo },
    get_balance: { run: getBalance, needs: ['node_info'] },
    get_budget: { run: getBudget },
    make_invoice: { run: (call) => makeInvoice(call, {}), needs: ['create_invoice'] },
    lookup_invoice: {
      run: async ({ caller, params }) =>
        transactionOf(
          await found(caller, params.text('payment_hash') ?? params.invoice().paymentHash),
        ),
      needs: READS,
    },
    list_transactions: { run: list, needs: READS },
    pay_invoice: { run: (call) => payInvoice(call, call.params), needs: PAYS },
    multi_pay_invoice: { run: payInvoices, needs: PAYS },
    pay_keysend: {
      run: async (call) => {
        call.params.without('preimage', 'tlv_records');
        const to = { node_pk: call.params.required('pubkey') };
        return paid(call, '/v2/node/pay_spontaneous', {
          ...to,
          amount: call.params.amount('amount'),
        });
      },
      needs: PAYS,
      ability: 'spontaneous',
    },
    make_hold_invoice: {
      run: async (call) => {
        call.params.without('min_cltv_expiry_delta');
        return makeInvoice(call, { payment_hash: call.params.required('payment_hash') });
      },
      ...HOLDS,
    },
    settle_hold_invoice: {
      run: async (call) => {
        const preimage = call.params.bytes('preimage');
        const hash = createHash('sha256').update(preimage).digest('hex');
        return decide(call, 'settle_invoice', hash, { preimage: hex.encode(preimage) });
      },
      ...HOLDS,
    },
    cancel_hold_invoice: {
      run: async (call) => decide(call, 'cancel_payment', call.params.required('payment_hash'), {}),
      ...{ ...HOLDS, needs: [...HOLDS.needs, 'cancel_payment'] },
    },
  } satisfies Record<string, Method>),
);

/** Whether a method can cost money. */
export const spends = (method: string): boolean => METHODS.get(method)?.needs === PAYS;

/** Reads what the caller may do now. */
export async function factsOf(caller: Caller): Promise<Facts> {
  const client = await caller.read<ClientInfoJson>('GET', '/v2/node/client_info');
  return { client, node: await caller.read<Facts['node']>('GET', '/v2/console/about') };
}

/** The names of the methods that grant and node allow. */
export function offered({ client, node }: Facts): string[] {
  const isOffered = (name: string, { needs = [], ability }: Method) => {
    // Who sees only its own has no balance but what is left of its budget (docs/decisions.md 195).
    if (name === 'get_balance' && client.own) return client.budget !== null;
    const may = needs.every((one) => client.effective_permissions.includes(one));
    return may && (ability === undefined || node.abilities.includes(ability));
  };
  return [...METHODS].flatMap(([name, method]) => (isOffered(name, method) ? [name] : []));
}

/** The notifications that a client may have. */
export function toldOf({ client, node }: Facts): string[] {
  if (!client.effective_permissions.includes(READS[0])) return [];
  const held = node.abilities.includes('hold_invoices') ? ['hold_invoice_accepted'] : [];
  return ['payment_received', 'payment_sent', ...held];
}

/** Begins a call, and returns its answers. Throws {@link Problem}. */
export function partsOf(method: string, call: Call): Part[] {
  const run = METHODS.get(method)?.run;
  if (!run) throw new Problem('NOT_IMPLEMENTED', `There is no ${method.slice(0, 50)} here.`);
  const answer = run(call);
  return Array.isArray(answer) ? answer : [{ result: answer }];
}

type NodeInfo = { readonly node_pk: string; readonly lightning_max_sendable_balance: string };
const nodeOf = (caller: Caller) => caller.read<NodeInfo>('GET', '/v2/node/node_info');

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

async function getBalance({ caller }: Call): Promise<object> {
  const { own, budget } = (await factsOf(caller)).client;
  if (own && budget) return { balance: Math.max(0, msatOf(budget.amount) - msatOf(budget.spent)) };
  return { balance: msatOf((await nodeOf(caller)).lightning_max_sendable_balance) };
}

const PERIODS = { day: 'daily', week: 'weekly', month: 'monthly', total: 'never' } as const;

async function getBudget({ caller }: Call): Promise<object> {
  const { budget } = (await factsOf(caller)).client;
  return budget === null
    ? {}
    : {
        used_budget: msatOf(budget.spent),
        total_budget: msatOf(budget.amount),
        renewal_period: PERIODS[budget.period],
        renews_at: secsOf(budget.resets_at),
      };
}

async function makeInvoice({ caller, params, id }: Call, hold: object): Promise<object> {
  const description_hash = params.text('description_hash');
  const body = {
    ...hold,
    amount: params.amount('amount'),
    ...(description_hash ? { description_hash } : { description: params.text('description') }),
    expiration_secs: params.whole('expiry') ?? 3600,
  };
  const options = { body, headers: { 'idempotency-key': id } };
  const path = '/v2/node/create_invoice';
  const made = await caller.read<CreatedInvoiceJson>('POST', path, options);
  return {
    ...{ type: 'incoming', state: 'pending', invoice: made.invoice, description_hash },
    description: made.description ?? undefined,
    payment_hash: made.payment_hash,
    amount: msatOf(made.amount),
    created_at: secsOf(made.created_at),
    expires_at: secsOf(made.expires_at),
  };
}

async function found(caller: Caller, id: string): Promise<PaymentJson> {
  const call = { caller, id };
  const payment = (await byHash(call, 'inbound')) ?? (await byHash(call, 'outbound'));
  if (payment) return payment;
  throw new Problem('NOT_FOUND', 'There is no payment of this hash.');
}

async function decide({ caller, id }: Call, path: string, hash: string, how: object) {
  const body = { index: (await found(caller, hash)).index, ...how };
  const options = { body, headers: { 'idempotency-key': id } };
  return caller.read<object>('POST', `/v2/node/${path}`, options);
}

async function list({ caller, params }: Call): Promise<object> {
  const until = params.whole('until');
  const type = params.text('type');
  if (type && !['incoming', 'outgoing'].includes(type)) {
    throw new Problem('OTHER', 'type: must be incoming or outgoing');
  }
  const most = Math.min(params.whole('limit') ?? 20, 50);
  let skipped = params.whole('offset') ?? 0;
  const query = {
    ...{ limit: '1000', since: String((params.whole('from') ?? 0) * 1000) },
    ...(until !== undefined && { until: String((until + 1) * 1000) }),
    ...(type && { direction: type === 'incoming' ? 'inbound' : 'outbound' }),
    filter: params.isTrue('unpaid') ? 'all' : 'completed',
  };
  const transactions: object[] = [];
  let bytes = 0;
  for (let after: string | null = ''; after !== null; ) {
    const page = await listed(caller, { ...query, ...(after && { after }) });
    for (const payment of page.payments) {
      if (payment.hash === null || payment.direction === 'info' || skipped-- > 0) continue;
      const one = transactionOf(payment);
      bytes += Buffer.byteLength(JSON.stringify(one));
      if (transactions.length >= most || bytes > MOST_LIST_BYTES) return { transactions };
      transactions.push(one);
    }
    after = page.next_index ?? null;
  }
  return { transactions };
}

async function payInvoice(call: Call, params: Params, key = call.id): Promise<object> {
  const { text: invoice, amountMsat } = params.invoice();
  const asked = formatNullableAmountMsat(amountMsat) ?? undefined;
  const amount = params.amount('amount');
  if (asked !== undefined && (amount ?? asked) !== asked) {
    throw new Problem('OTHER', 'amount: must be that of the invoice');
  }
  const fallback_amount = asked === undefined ? amount : undefined;
  return paid(call, '/v2/node/pay_invoice', { invoice, fallback_amount }, key);
}

function payInvoices(call: Call): Part[] {
  const all = call.params.list('invoices');
  if (all.length === 0 || all.length > MOST_INVOICES) {
    throw new Problem('OTHER', `invoices: must be 1 to ${MOST_INVOICES}`);
  }
  // Nothing is paid before all of them were read, since an error there is an answer to all.
  const names = all.map((one) => one.text('id') ?? one.invoice().paymentHash);
  return names.map((d, at) => {
    const params = all[at] ?? call.params;
    return { d, result: payInvoice(call, params, `${call.id} ${at}`) };
  });
}
