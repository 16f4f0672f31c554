import { randomInt } from 'node:crypto';
import type { Store } from '../../src/store/ports.ts';
import { SIGNED } from '../../src/store/signed-tables.ts';
import { periodStart, requireWithinBudget } from '../../src/wallet/budget/budget.ts';
import { CREATED, RUNNING } from './filled-store.ts';
import { sampleDone, samplePayment } from './sample-payment.ts';
import { CLIENT, observe, WALLET } from './store-steps.ts';

type Value = string | number | bigint | boolean | null;
type Row = Readonly<Record<string, Value>>;

/** What somebody who can write the database does to it: one row is changed, added or taken away. */
export interface Tampering {
  readonly table: string;
  readonly kind: 'change' | 'insert' | 'delete';
  /** The row as it was. */
  readonly before: Row;
  /** The row as it is; null where it is taken away. */
  readonly after: Row | null;
  readonly columns: readonly string[];
}

const pick = <T>(from: readonly T[]): T => from[randomInt(from.length)] as T;

/** Values that would mean something in some column. */
const TELLING: readonly Value[] = [
  ...[
    'completed',
    'pending',
    'failed',
    'owner',
    'none',
    'lifted',
    'set',
    'begun',
    'asked',
    'known',
  ],
  ...['configured', '["all"]', '[]', 'null', '', '{}', 'day', 'total', WALLET, CLIENT, 'x'],
  ...[0, 1, 2, 7, 250_000_000, null],
];

/** Returns another value for a column: one that means something, or the value with a digit or a letter changed. */
function otherValue(value: Value, isNumber: boolean): Value {
  const telling = TELLING.filter((one) => one === null || (typeof one === 'number') === isNumber);
  if (value === null || randomInt(3) === 0) return pick(telling);
  if (isNumber) return `${BigInt(value) + pick([1n, -1n, 1000n, -1_000_000n])}`;
  const text = String(value);
  if (randomInt(4) === 0) return text.replace('pending', 'completed').replace('false', 'true');
  const at = randomInt(Math.max(text.length, 1));
  return `${text.slice(0, at)}${pick(['0', '9', 'a', '"', ''])}${text.slice(at + 1)}`;
}

/** Draws a table, mostly one whose rows are signed. */
export function drawTable(tables: readonly string[]): string {
  const signed = Object.values(SIGNED).map(({ table }) => table);
  return pick(randomInt(5) === 0 ? tables : signed);
}

/** Draws what is done to a table with these rows. `numbers` are the columns that hold numbers or truth values. */
export function drawTampering(
  table: string,
  rows: readonly Row[],
  numbers: ReadonlySet<string>,
): Tampering | null {
  if (rows.length === 0) return null;
  const before = pick(rows);
  const kind = pick(['change', 'change', 'change', 'insert', 'delete'] as const);
  if (kind === 'delete') return { table, kind, before, after: null, columns: [] };
  const names = Object.keys(before);
  const columns = Array.from({ length: 1 + randomInt(kind === 'insert' ? 3 : 2) }, () =>
    pick(names),
  );
  const after: Record<string, Value> = { ...before };
  for (const name of columns) {
    after[name] =
      randomInt(3) === 0
        ? (pick(rows)[name] ?? null)
        : otherValue(before[name] ?? null, numbers.has(name));
  }
  return { table, kind, before, after, columns };
}

/** Everything that a store would authorize with, send, sign or show, one text for each fact. */
export async function factsOf(store: Store): Promise<string[]> {
  const { clients, spends, journal, outbox, idempotency, webhookEndpoints, names } = store;
  const facts: string[] = [];
  const add = (what: string, found: unknown) => {
    for (const one of Array.isArray(found) ? found : [found]) {
      if (one !== null) facts.push(`${what} ${JSON.stringify(one, withBigints)}`);
    }
  };
  const list = {
    after: null,
    direction: null,
    rail: null,
    sinceMs: null,
    untilMs: null,
    externalId: null,
  };
  const indexes = [1, 2, 3, 5, 6].map((number) => samplePayment(number).index);
  add('client', await clients.list(WALLET));
  for (const pk of [CLIENT, '01'.repeat(32), WALLET, 'x']) add('client', await clients.find(pk));
  add('endpoint', await webhookEndpoints.list(WALLET));
  add('name', await names.ofWallet(WALLET));
  add('name', await names.find('satoshi'));
  // Without its fetched invoice a spend is not sent again, and waits for the node.
  const unfinished = await spends.unfinished(WALLET);
  add(
    'spend',
    unfinished.map(({ fetchedInvoice: _, ...spend }) => spend),
  );
  add(
    'invoice',
    unfinished.map(({ fetchedInvoice }) => fetchedInvoice).filter((one) => one !== null),
  );
  add('payment', await journal.updatedAfter(WALLET, null, 100));
  add('payment', await journal.open(WALLET));
  for (const index of indexes) {
    add(`payment at ${index}`, await journal.get(WALLET, index));
    add('payment', await journal.latest(WALLET, index.slice(20) as never));
    add(`caller of ${index}`, await spends.callerOf(WALLET, index));
    add(`invoice of ${index}`, await spends.fetchedInvoice(WALLET, index));
    add('cached', (await store.cache.get(WALLET, index))?.json ?? null);
  }
  add(
    'cached',
    (await store.cache.list(WALLET, { filter: 'all', order: 'asc', limit: 10, ...list })).json,
  );
  add('state', await store.connectorState.get(WALLET, 'lnd', 'a').catch(() => null));
  const log = await outbox.list({
    walletId: WALLET,
    state: null,
    endpoint: null,
    limit: 100,
    before: null,
  });
  // What became of a delivery is not signed.
  add(
    'delivery',
    log.map(({ id, endpoint, type, index, created_at }) => [id, endpoint, type, index, created_at]),
  );
  const tried = await outbox.attempts({
    walletId: WALLET,
    id: null,
    endpoint: null,
    after: 0,
    limit: 100,
  });
  add(
    'tried',
    tried.map(({ id, endpoint, request }) => [id, endpoint, request.body]),
  );
  await store.observations.cursor(WALLET);
  await store.watches.wallets();
  await outbox.redeliver({ walletId: WALLET, sinceMs: 0, nowMs: 1, endpoint: null });
  for (const endpoint of ['configured', 'x', 'owner']) {
    const claim = { endpoint, nowMs: 1e12, leaseUntilMs: 2e12, lastPossibleMs: 3e12, limit: 50 };
    add(
      'sent',
      (await outbox.claim(claim)).map(({ id, body }) => [id, endpoint, body]),
    );
  }
  for (const scope of [CREATED, RUNNING]) {
    const state = await idempotency.begin(scope, 'print', 1).catch(() => ({ state: 'conflict' }));
    if (state.state !== 'new' && state.state !== 'conflict') add(`key ${scope.key}`, state);
  }
  return facts;
}

/** The most that the client may still reserve, in millisatoshis; null where nothing bounds it. */
export async function leftToSpend(store: Store): Promise<bigint | null> {
  const standing = await store.budgets.get(WALLET, CLIENT, 5, periodStart);
  if (standing.budgetState !== 'set') return null;
  try {
    requireWithinBudget(standing, 1n);
  } catch {
    return 0n;
  }
  const { amountMsat, maxPaymentMsat } = standing.budget ?? {
    amountMsat: 0n,
    maxPaymentMsat: null,
  };
  const left = amountMsat - standing.spentMsat;
  return maxPaymentMsat !== null && maxPaymentMsat < left ? maxPaymentMsat : left;
}

/** Ends the spend that has a reservation, which is given back. */
export async function failSpend(store: Store): Promise<void> {
  const failed = { ...sampleDone(1), status: 'failed' as const, statusMsg: 'no route' };
  await observe(store, [failed], { journaled: true }).catch(() => undefined);
}

function withBigints(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}n` : value;
}
