import { type Payment, toMsat } from '../../client/index.ts';

/** The money that came in and went out on one day, in millisatoshis. Fees paid count as money that went out. */
export interface DayFlow {
  /** The first millisecond of the day, in the time zone of this machine. */
  readonly startMs: number;
  readonly inMsat: bigint;
  readonly outMsat: bigint;
}

/**
 * Returns the last `days` days up to and including the day of `nowMs`, oldest first. Only completed payments count, on
 * the day of their end.
 */
export function dailyFlow(payments: Iterable<Payment>, nowMs: number, days: number): DayFlow[] {
  const starts = lastDays(nowMs, days);
  const sums = new Map(starts.map((startMs) => [startMs, { inMsat: 0n, outMsat: 0n }]));
  for (const payment of payments) {
    const sum = sums.get(dayStart(payment.finalized_at ?? payment.created_at));
    if (sum === undefined || payment.status !== 'completed' || payment.amount === null) continue;
    const amountMsat = toMsat(payment.amount);
    if (payment.direction === 'inbound') sum.inMsat += amountMsat;
    if (payment.direction === 'outbound') sum.outMsat += amountMsat + toMsat(payment.fees);
    if (payment.direction === 'info') sum.outMsat += toMsat(payment.fees);
  }
  return starts.map((startMs) => ({
    startMs,
    ...(sums.get(startMs) ?? { inMsat: 0n, outMsat: 0n }),
  }));
}

/** Returns the first millisecond of the day of a time, in the time zone of this machine. */
export function dayStart(ms: number): number {
  return new Date(ms).setHours(0, 0, 0, 0);
}

function lastDays(nowMs: number, days: number): number[] {
  return Array.from({ length: days }, (_, place) => {
    const day = new Date(nowMs);
    // Days of 23 and 25 hours make a subtraction of milliseconds wrong.
    day.setDate(day.getDate() - (days - 1 - place));
    return day.setHours(0, 0, 0, 0);
  });
}
