import { expect } from 'bun:test';
import type { PaymentJson } from '../../src/model/payment.ts';
import { sendOk } from '../support/requests.ts';
import { until } from '../support/until.ts';
import type { ReadPaymentRows } from './rows.ts';
import type { Tail } from './tails.ts';

/** A wallet of a running sidecar, as one of its callers reaches it. */
export interface WalletPlace {
  readonly baseUrl: string;
  readonly credentials?: string | undefined;
}

/** All that tells of a wallet's payments. */
export interface Tellers extends WalletPlace {
  /** What the store has of the wallet's payments. */
  readonly rows: ReadPaymentRows;
  /** Readers of the wallet's updates since its first payment. */
  readonly tails: readonly Tail[];
  /** Throws unless the node itself has these payments. */
  readonly atNode: (payments: readonly PaymentJson[], userPk: string) => void;
  /** Whether the end of the payment must be delivered, once. */
  readonly isWatched: (payment: PaymentJson) => boolean;
  /** Whether the outgoing payment may be pending, because something outside has not ended it; none may unless given. */
  readonly mayBePending?: (payment: PaymentJson) => boolean;
}

/** How long tails and the last observations of the node may take to arrive. */
const SETTLED_WITHIN_MS = 30_000;
/** How long after a payment has ended at the node the sidecar may tell of it. */
const CHANGED_WITHIN_MS = 30_000;

/**
 * Checks that all who tell of a wallet's payments agree, when nothing is under way: the node, `updated_payments` from
 * the start, `list_payments` after a sync, what each tail was told last, and what the store has not finished
 * (docs/decisions.md 33, 35, 44, 144). Returns the payments by index.
 */
export async function expectOneTruth(wallet: Tellers): Promise<readonly PaymentJson[]> {
  const { mayBePending = () => false } = wallet;
  for (;;) {
    let payments: readonly PaymentJson[] = [];
    let open: readonly PaymentJson[] = [];
    await eventually(async () => {
      payments = await walked(wallet);
      open = payments.filter((one) => isOutgoing(one) && !mayBePending(one));
      return open.length === 0;
    });
    expect(open).toEqual([]);
    try {
      await expectAllAgree(wallet, payments);
      return payments;
    } catch (error) {
      // What may be pending may also end meanwhile, at the node first, and then all are asked again.
      const hasChanged = async () => !Bun.deepEquals(await walked(wallet), payments);
      await eventually(hasChanged, CHANGED_WITHIN_MS);
      if (!(await hasChanged())) throw error;
    }
  }
}

async function expectAllAgree(wallet: Tellers, payments: readonly PaymentJson[]): Promise<void> {
  for (const tail of wallet.tails) await expectTold(tail, payments);
  await expectListed(wallet, payments);
  const { user_pk: userPk } = (await get(wallet, '/v2/node/node_info')) as { user_pk: string };
  wallet.atNode(payments, userPk);
  await expectNoRowLeft(wallet, userPk, payments);
}

/** The payments as they were without refunds, which are no updates of what they refund (docs/decisions.md 194). */
export function unrefunded(payments: readonly PaymentJson[]): PaymentJson[] {
  return payments.map((payment) => ({ ...payment, refunded: null }));
}

/** Checks that what a tail was told last are exactly these payments. */
export async function expectTold(
  { told, problems }: Tail,
  payments: readonly PaymentJson[],
): Promise<void> {
  await eventually(() =>
    payments.every(({ index, updated_at: at }) => told.get(index)?.updated_at === at),
  );
  expect(unrefunded(byIndex([...told.values()]))).toEqual(unrefunded(payments));
  expect(problems).toEqual([]);
}

/** Every payment by index, from a walk over its last updates, whose times must only go forward. */
export async function walked(wallet: WalletPlace): Promise<PaymentJson[]> {
  const payments = new Map<string, PaymentJson>();
  let start: string | null = '';
  let lastMs = 0;
  while (start !== null) {
    const query = { limit: '100', ...(start === '' ? {} : { start_index: start }) };
    const page = (await get(wallet, '/v2/node/updated_payments', query)) as Walk;
    for (const payment of page.payments) {
      expect(payment.updated_at).toBeGreaterThan(lastMs);
      lastMs = payment.updated_at;
      payments.set(payment.index, payment);
    }
    start = page.updated_index;
  }
  return byIndex([...payments.values()]);
}

interface Walk {
  readonly payments: PaymentJson[];
  readonly updated_index: string | null;
}

/** Checks that after a sync the lists are these payments: all, those of each status, and those that are over. */
export async function expectListed(
  wallet: WalletPlace,
  payments: readonly PaymentJson[],
): Promise<void> {
  const { baseUrl, credentials } = wallet;
  await sendOk(baseUrl, 'PUT', '/v2/node/sync_payments', { credentials });
  expect(await listed(wallet, 'all')).toEqual([...payments]);
  for (const filter of ['pending', 'completed', 'failed'] as const) {
    const expected = payments.filter(({ status }) => status === filter);
    expect(await listed(wallet, filter)).toEqual(expected);
  }
  const over = payments.filter((one) => !isPending(one));
  expect(await listed(wallet, 'finalized')).toEqual(over);
}

async function listed(wallet: WalletPlace, filter: Filter): Promise<PaymentJson[]> {
  const found: PaymentJson[] = [];
  let after: string | null = '';
  while (after !== null) {
    const query = { filter, order: 'asc', limit: '1000', ...(after === '' ? {} : { after }) };
    const page = (await get(wallet, '/v2/node/list_payments', query)) as List;
    found.push(...page.payments);
    after = page.next_index;
  }
  return found;
}

type Filter = 'all' | 'pending' | 'completed' | 'failed' | 'finalized';

interface List {
  readonly payments: PaymentJson[];
  readonly next_index: string | null;
}

/** Checks that a payment has a spend and a watch exactly while it is pending, and one delivery when it is over. */
async function expectNoRowLeft(
  { rows, isWatched }: Tellers,
  userPk: string,
  payments: readonly PaymentJson[],
): Promise<void> {
  const indexes = (isWanted: (payment: PaymentJson) => boolean) =>
    payments.filter(isWanted).map(({ index }) => index);
  const outgoing = indexes(isOutgoing);
  const expected = {
    spends: outgoing,
    // The wallet's owner has no budget.
    reservedForOthers: [],
    watched: indexes((one) => isPending(one) && isWatched(one)),
    deliveries: indexes((one) => !isPending(one) && isWatched(one)),
  };
  const found = async () => {
    const { reserved, ...rest } = await rows(userPk);
    return { ...rest, reservedForOthers: reserved.filter((index) => !outgoing.includes(index)) };
  };
  // A wait may see the end at the node before the feed stores it, and a feed whose write failed opens again in a moment.
  await eventually(async () => Bun.deepEquals(await found(), expected));
  expect(await found()).toEqual(expected);
}

function get(
  { baseUrl, credentials }: WalletPlace,
  path: string,
  query: Readonly<Record<string, string>> = {},
): Promise<unknown> {
  return sendOk(baseUrl, 'GET', path, { query, credentials });
}

function byIndex(payments: readonly PaymentJson[]): PaymentJson[] {
  return payments.toSorted((a, b) => (a.index < b.index ? -1 : 1));
}

/**
 * Waits until `holds` returns true, at most for the given time. It does not throw: the check that follows tells what is
 * missing.
 */
export async function eventually(
  holds: () => boolean | Promise<boolean>,
  mostMs = SETTLED_WITHIN_MS,
): Promise<void> {
  await until(holds, 'it held', mostMs).catch(() => undefined);
}

function isPending({ status }: PaymentJson): boolean {
  return status === 'pending';
}

/** Whether it is a payment to somebody that is not over. */
export function isOutgoing(payment: PaymentJson): boolean {
  return isPending(payment) && payment.direction === 'outbound';
}
