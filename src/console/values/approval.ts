import { type ClientInfo, type Payment, toMsat } from '../../client/index.ts';

/** The filter of payments that wait for approval, and what follows the page's name for them. */
export const AWAITING = 'awaiting';

/** Returns whether a payment waits for approval: nothing of it is sent. */
export function isAwaiting({
  direction,
  status,
  status_msg,
}: Pick<Payment, 'direction' | 'status' | 'status_msg'>): boolean {
  return direction === 'outbound' && status === 'pending' && status_msg === 'awaiting approval';
}

/** Returns whether somebody approves and rejects payments. Whose own payments wait decides nothing. */
export function decides({
  effective_permissions,
  approve_above,
}: Pick<ClientInfo, 'effective_permissions' | 'approve_above'>): boolean {
  return approve_above === null && effective_permissions.includes('approve_payments');
}

/** Returns whether a payment of somebody waits for approval, by the most that it may cost with its fees. */
export function mustWait(
  { approve_above }: Pick<ClientInfo, 'approve_above'>,
  costMsat: bigint,
): boolean {
  return approve_above !== null && costMsat > toMsat(approve_above);
}
