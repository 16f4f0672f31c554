import type { Payment } from '../model/payment.ts';
import type { NewSpend } from './ports.ts';

/** Whether the newest payment of an id is not the one any more that was seen when a spend of it was decided. */
export function isOvertaken(seen: NewSpend['previous'], latest: Payment | null): boolean {
  return seen?.index !== latest?.index || seen?.status !== latest?.status;
}
