import { ApiError } from '../../model/errors.ts';
import type { AttemptJson, DeliveryJson } from '../../model/webhooks/delivery.ts';
import type { AttemptQuery, DeliveryQuery } from '../../store/ports.ts';
import type { WalletRows } from '../session/session.ts';

/** Returns the webhook deliveries of the wallet, newest first (docs/api.md, Delivery). */
export function deliveriesOf(
  session: WalletRows,
  query: Omit<DeliveryQuery, 'walletId'>,
): Promise<DeliveryJson[]> {
  return session.store.outbox.list({ ...query, walletId: session.userPk });
}

/**
 * Returns attempts of the wallet's deliveries, in the order in which they ended (docs/api.md, Attempt). Throws
 * `notFound` (error 107) for an id that is not in the wallet's log.
 */
export async function attemptsOf(
  session: WalletRows,
  query: Omit<AttemptQuery, 'walletId'>,
): Promise<AttemptJson[]> {
  const { outbox } = session.store;
  const attempts = await outbox.attempts({ ...query, walletId: session.userPk });
  const isUnknown =
    attempts.length === 0 && query.id !== null && !(await outbox.has(session.userPk, query.id));
  if (isUnknown) throw deliveryNotFound();
  return attempts;
}

/** The deliveries to send again: of one webhook-id, or all since a time; to one endpoint, or to all (null). */
interface Redelivered {
  readonly id: string | null;
  readonly sinceMs: number;
  readonly endpoint: string | null;
}

/**
 * Makes deliveries due again, with all attempts left. Returns how many. Throws `notFound` (error 107) for an id that is
 * not in the wallet's log, or only with endpoints that are deleted.
 */
export async function redeliver(
  session: WalletRows,
  { id, sinceMs, endpoint }: Redelivered,
  nowMs: number,
): Promise<number> {
  const which = id === null ? { sinceMs } : { id };
  const { userPk, store } = session;
  const count = await store.outbox.redeliver({ walletId: userPk, nowMs, endpoint, ...which });
  if (id !== null && count === 0) throw deliveryNotFound();
  return count;
}

function deliveryNotFound(): ApiError {
  return new ApiError('notFound', 'Delivery not found');
}
