import { LEAST_TIME_US } from '../../../model/payment.ts';
import type { LndPayment } from './wire.ts';

const NS_PER_US = 1000n;

/**
 * Returns the number of the attempt for which LND keeps this payment: the time of its creation, in microseconds since
 * the epoch (docs/decisions.md 150). LND sets it anew for each attempt, and keeps it when it moves to another database.
 * Its `payment_index` it may use again.
 */
export function attemptOf({ creation_time_ns }: Pick<LndPayment, 'creation_time_ns'>): number {
  // A PostgreSQL database of LND cuts the time to microseconds.
  return Number(creation_time_ns / NS_PER_US);
}

/** Returns whether a stored number of an attempt is a `payment_index`, as version 0.2 stored it; 0 is none at all. */
export function isPaymentIndex(attempt: number): boolean {
  return attempt > 0 && attempt < LEAST_TIME_US;
}
