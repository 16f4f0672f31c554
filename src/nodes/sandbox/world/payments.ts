import { storedPayment } from '../../../model/description.ts';
import { ApiError } from '../../../model/errors.ts';
import {
  encodePayment,
  idOf,
  isAwaitingApproval,
  isFinal,
  type Payment,
} from '../../../model/payment.ts';
import {
  idOfIndex,
  type PaymentId,
  type PaymentIndex,
  type UpdatedIndex,
  updatedAtOfIndex,
  updatedIndex,
} from '../../../model/payment-index.ts';
import { type ShownPayment, shownPayment } from '../../shown-payment.ts';
import { allRows, change, firstRow, insertRow } from './rows.ts';
import type { World } from './world.ts';

/** Members that may still change after a payment is final. */
const AFTER_THE_END: ReadonlySet<keyof Payment> = new Set(['personalNote', 'replacement']);

/** What names a payment in this world. */
export interface PaymentKey {
  readonly userPk: string;
  readonly index: PaymentIndex;
}
/** The columns of a {@link PaymentKey}. */
export const PAYMENT_KEY = 'user_pk AS userPk, idx AS "index"';

const listeners = new WeakMap<World, Map<string, Set<() => void>>>();

/** Calls `listener` after every commit that changed a payment of the wallet, until the returned function is called. */
export function onPaymentChange(world: World, userPk: string, listener: () => void): () => void {
  const wallets = listeners.get(world) ?? new Map<string, Set<() => void>>();
  listeners.set(world, wallets);
  const own = wallets.get(userPk) ?? new Set();
  wallets.set(userPk, own.add(listener));
  return () => {
    own.delete(listener);
    if (own.size === 0) wallets.delete(userPk);
  };
}

/**
 * Records a payment and returns it as recorded. Its `updated_at` is greater than the wallet's last. It takes the place
 * of the one with its index that waited for approval, whose note stays.
 */
export function insertPayment(world: World, userPk: string, shown: ShownPayment): Payment {
  return world.transact(() => {
    const payment = shownPayment(shown);
    const recorded = record(world, userPk, payment);
    if (recorded !== null) return recorded;
    const waiting = requirePayment(world, userPk, payment.index);
    if (!isAwaitingApproval(waiting)) {
      throw new Error(`The payment ${payment.index} is there already.`);
    }
    const { personalNote } = waiting;
    return changePayment(world, userPk, waiting, { ...payment, personalNote });
  });
}

/** See {@link NodeHistory.putAwaiting}. */
export function putAwaiting(world: World, userPk: string, payment: Payment): Payment {
  return world.transact(() => {
    const recorded = record(world, userPk, payment);
    if (recorded !== null) return recorded;
    const there = requirePayment(world, userPk, payment.index);
    if (!isAwaitingApproval(there) || !isFinal(payment)) return there;
    const { status, statusMsg } = payment;
    return changePayment(world, userPk, there, { status, statusMsg });
  });
}

/** Inserts a payment in the caller's transaction. Null, with nothing changed, where there is one with its index. */
function record(world: World, userPk: string, payment: Payment): Payment | null {
  const recorded = { ...payment, updatedAtMs: nextUpdateMs(world, userPk) };
  const row = {
    user_pk: userPk,
    idx: recorded.index,
    id: idOf(recorded),
    updated_ms: recorded.updatedAtMs,
    status: recorded.status,
    json: JSON.stringify(encodePayment(recorded)),
    expires_ms: recorded.direction === 'inbound' ? recorded.expiresAtMs : null,
  };
  if (insertRow(world, 'payments', row, 'ON CONFLICT (user_pk, idx) DO NOTHING') === 0) return null;
  announce(world, userPk);
  return recorded;
}

/**
 * Changes a payment and returns it as recorded. The only transitions are from pending to completed or failed; of a
 * final payment only the note and the replacement change (docs/decisions.md 44). Throws `notFound`.
 */
export function updatePayment(
  world: World,
  userPk: string,
  index: PaymentIndex,
  changed: Partial<Payment>,
): Payment {
  return world.transact(() =>
    changePayment(world, userPk, requirePayment(world, userPk, index), changed),
  );
}

/** {@link updatePayment} of a payment that was read in the caller's transaction. */
export function changePayment(
  world: World,
  userPk: string,
  before: Payment,
  changed: Partial<Payment>,
): Payment {
  const { index } = before;
  return world.transact(() => {
    const touched = Object.keys(changed) as (keyof Payment)[];
    if (isFinal(before) && !touched.every((name) => AFTER_THE_END.has(name))) {
      throw new Error(`${index} is ${before.status} and cannot change any more`);
    }
    const updatedAtMs = nextUpdateMs(world, userPk);
    const merged = { ...before, ...changed, updatedAtMs };
    const ends = isFinal(merged) && !isFinal(before);
    const after = ends ? { ...merged, finalizedAtMs: world.clock.now() } : merged;
    const json = JSON.stringify(encodePayment(after));
    const sql =
      'UPDATE payments SET updated_ms = ?, status = ?, json = ? WHERE user_pk = ? AND idx = ?';
    change(world, sql, updatedAtMs, after.status, json, userPk, index);
    announce(world, userPk);
    return after;
  });
}

/** Returns the payment of an index, or null. */
export function findPayment(world: World, userPk: string, index: PaymentIndex): Payment | null {
  const sql = 'SELECT json FROM payments WHERE user_pk = ? AND idx = ?';
  return decodeRow(firstRow(world, sql, userPk, index));
}

/** Returns the payment of an index. Throws `notFound`. */
export function requirePayment(world: World, userPk: string, index: PaymentIndex): Payment {
  const payment = findPayment(world, userPk, index);
  if (payment === null) throw new ApiError('notFound', 'Payment not found');
  return payment;
}

/** Returns the newest payment of an id, or null. */
export function latestPayment(world: World, userPk: string, id: PaymentId): Payment | null {
  const sql = `SELECT json FROM payments INDEXED BY payments_by_id
    WHERE user_pk = ? AND id = ? ORDER BY idx DESC LIMIT 1`;
  return decodeRow(firstRow(world, sql, userPk, id));
}

/** The newest payment of the id, unless it waits for approval, so that it is not made yet. */
export function madePayment(world: World, userPk: string, index: PaymentIndex): Payment | null {
  const latest = latestPayment(world, userPk, idOfIndex(index));
  return latest && isAwaitingApproval(latest) ? null : latest;
}

/** Payments updated after `after`, in the order of `updated_at`, which is unique in a wallet. */
export function updatedAfter(
  world: World,
  userPk: string,
  after: UpdatedIndex | null,
  limit: number,
): Payment[] {
  const afterMs = after === null ? -1 : updatedAtOfIndex(after);
  const sql =
    'SELECT json FROM payments WHERE user_pk = ? AND updated_ms > ? ORDER BY updated_ms LIMIT ?';
  return allRows<Row>(world, sql, userPk, afterMs, limit).map(decode);
}

/** Returns the newest update of the wallet, or null. */
export function newestUpdate(world: World, userPk: string): UpdatedIndex | null {
  const row = firstRow<{ id: PaymentId; updatedMs: number }>(
    world,
    `SELECT id, updated_ms AS updatedMs FROM payments
     WHERE user_pk = ? ORDER BY updated_ms DESC LIMIT 1`,
    userPk,
  );
  return row && updatedIndex(row.updatedMs, row.id);
}

interface Row {
  readonly json: string;
}

function decode(row: Row): Payment {
  return storedPayment(row.json);
}

function decodeRow(row: Row | null): Payment | null {
  return row && decode(row);
}

/** The newest update of each wallet. One that was undone is passed over, so that the next is greater all the same. */
const lastUpdates = new WeakMap<World, Map<string, number>>();

function nextUpdateMs(world: World, userPk: string): number {
  const known = lastUpdates.get(world) ?? new Map<string, number>();
  lastUpdates.set(world, known);
  const newest = known.get(userPk) ?? newestUpdateMs(world, userPk);
  const next = Math.max(world.clock.now(), newest + 1);
  known.set(userPk, next);
  return next;
}

function newestUpdateMs(world: World, userPk: string): number {
  const sql = 'SELECT max(updated_ms) AS last FROM payments WHERE user_pk = ?';
  return firstRow<{ last: number | null }>(world, sql, userPk)?.last ?? 0;
}

function announce(world: World, userPk: string): void {
  world.afterCommit(() => {
    for (const listener of listeners.get(world)?.get(userPk) ?? []) listener();
  });
}
