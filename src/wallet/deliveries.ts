import type { DeliveryJson } from '../model/delivery.ts';
import { ApiError } from '../model/errors.ts';
import type { DeliveryQuery } from '../store/ports.ts';
import type { Session } from './session.ts';

/** Returns the webhook deliveries of the wallet, newest first (docs/api.md, Delivery). */
export function deliveriesOf(
  session: Session,
  query: Omit<DeliveryQuery, 'walletId'>,
): Promise<DeliveryJson[]> {
  return session.store.outbox.list({ ...query, walletId: session.userPk });
}

/**
 * Makes one delivery due again, or all that were created since a time, with all attempts left. Returns how many. Throws
 * `notFound` (error 107) for an id that is not in the wallet's log.
 */
export async function redeliver(
  session: Session,
  which: { readonly id: string } | { readonly sinceMs: number },
  nowMs: number,
): Promise<number> {
  const count = await session.store.outbox.redeliver({ walletId: session.userPk, nowMs, ...which });
  if ('id' in which && count === 0) throw new ApiError('notFound', 'Delivery not found');
  return count;
}
