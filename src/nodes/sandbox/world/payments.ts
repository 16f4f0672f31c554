import { ApiError } from '../../../model/errors.ts';
import {
  decodePayment,
  encodePayment,
  idOf,
  isFinal,
  type Payment,
  type PaymentJson,
} from '../../../model/payment.ts';
import {
  idOfIndex,
  type PaymentId,
  type PaymentIndex,
  type UpdatedIndex,
  updatedAtOfIndex,
  updatedIndex,
} from '../../../model/payment-index.ts';
import type { World } from './world.ts';

/** Members that may still change after a payment is final. */
const AFTER_THE_END: ReadonlySet<keyof Payment> = new Set(['personalNote', 'replacement']);

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

/** Records a payment and returns it as recorded. Its `updated_at` is greater than the wallet's last. */
export function insertPayment(world: World, userPk: string, payment: Payment): Payment {
  return world.transact(() => {
    const recorded = { ...payment, updatedAtMs: nextUpdateMs(world, userPk) };
    world.db
      .query(
        `INSERT INTO payments (user_pk, idx, id, updated_ms, status, json, expires_ms)
         VALUES (?, ?, ?, ?, ?, ?, ?)`,
      )
      .run(
        userPk,
        recorded.index,
        idOf(recorded),
        recorded.updatedAtMs,
        recorded.status,
        JSON.stringify(encodePayment(recorded)),
        recorded.direction === 'inbound' ? recorded.expiresAtMs : null,
      );
    announce(world, userPk);
    return recorded;
  });
}

/**
 * Changes a payment and returns it as recorded. The only transitions are from pending to completed or failed; of a
 * final payment only the note and the replacement change (docs/decisions.md 44). Throws `notFound`.
 */
export function updatePayment(
  world: World,
  userPk: string,
  index: PaymentIndex,
  change: Partial<Payment>,
): Payment {
  return world.transact(() => {
    return changePayment(world, userPk, requirePayment(world, userPk, index), change);
  });
}

/** {@link updatePayment} of a payment that was read in the caller's transaction. */
export function changePayment(
  world: World,
  userPk: string,
  before: Payment,
  change: Partial<Payment>,
): Payment {
  const { index } = before;
  return world.transact(() => {
    const touched = Object.keys(change) as (keyof Payment)[];
    if (isFinal(before) && !touched.every((name) => AFTER_THE_END.has(name))) {
      throw new Error(`${index} is ${before.status} and cannot change any more`);
    }
    const updatedAtMs = nextUpdateMs(world, userPk);
    const merged = { ...before, ...change, updatedAtMs };
    const ends = isFinal(merged) && !isFinal(before);
    const after = ends ? { ...merged, finalizedAtMs: world.clock.now() } : merged;
    world.db
      .query(
        'UPDATE payments SET updated_ms = ?, status = ?, json = ? WHERE user_pk = ? AND idx = ?',
      )
      .run(updatedAtMs, after.status, JSON.stringify(encodePayment(after)), userPk, index);
    announce(world, userPk);
    return after;
  });
}

/** Returns the payment of an index, or null. */
export function findPayment(world: World, userPk: string, index: PaymentIndex): Payment | null {
  return decodeRow(
    world.db
      .query<Row, [string, string]>('SELECT json FROM payments WHERE user_pk = ? AND idx = ?')
      .get(userPk, index),
  );
}

/** Returns the payment of an index. Throws `notFound`. */
export function requirePayment(world: World, userPk: string, index: PaymentIndex): Payment {
  const payment = findPayment(world, userPk, index);
  if (payment === null) throw new ApiError('notFound', 'Payment not found');
  return payment;
}

/** Returns the newest payment of an id, or null. */
export function latestPayment(world: World, userPk: string, id: PaymentId): Payment | null {
  return decodeRow(
    world.db
      .query<Row, [string, string]>(
        `SELECT json FROM payments INDEXED BY payments_by_id
         WHERE user_pk = ? AND id = ? ORDER BY idx DESC LIMIT 1`,
      )
      .get(userPk, id),
  );
}

/** Payments updated after `after`, in the order of `updated_at`, which is unique in a wallet. */
export function updatedAfter(
  world: World,
  userPk: string,
  after: UpdatedIndex | null,
  limit: number,
): Payment[] {
  const afterMs = after === null ? -1 : updatedAtOfIndex(after);
  return world.db
    .query<Row, [string, number, number]>(
      'SELECT json FROM payments WHERE user_pk = ? AND updated_ms > ? ORDER BY updated_ms LIMIT ?',
    )
    .all(userPk, afterMs, limit)
    .map(decode);
}

/** Returns the newest update of the wallet, or null. */
export function newestUpdate(world: World, userPk: string): UpdatedIndex | null {
  const row = world.db
    .query<{ idx: string; updated_ms: number }, [string]>(
      'SELECT idx, updated_ms FROM payments WHERE user_pk = ? ORDER BY updated_ms DESC LIMIT 1',
    )
    .get(userPk);
  return row && updatedIndex(row.updated_ms, idOfIndex(row.idx as PaymentIndex));
}

interface Row {
  readonly json: string;
}

function decode(row: Row): Payment {
  return decodePayment(JSON.parse(row.json) as PaymentJson);
}

function decodeRow(row: Row | null): Payment | null {
  return row && decode(row);
}

function nextUpdateMs(world: World, userPk: string): number {
  const row = world.db
    .query<{ last: number | null }, [string]>(
      'SELECT max(updated_ms) AS last FROM payments WHERE user_pk = ?',
    )
    .get(userPk);
  return Math.max(world.clock.now(), (row?.last ?? 0) + 1);
}

function announce(world: World, userPk: string): void {
  world.afterCommit(() => {
    for (const listener of listeners.get(world)?.get(userPk) ?? []) listener();
  });
}
