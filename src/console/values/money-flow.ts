import { type Payment, toMsat } from '../../client/index.ts';

/** Money that came in and went out, in millisatoshis. Fees paid count as money that went out. */
export interface Flow {
  readonly inMsat: bigint;
  readonly outMsat: bigint;
}

/** The money of one day. */
export interface DayFlow extends Flow {
  /** The first millisecond of the day, in the time zone of this machine. */
  readonly startMs: number;
}

const NOTHING: Flow = { inMsat: 0n, outMsat: 0n };

/** Returns the last `days` days to that of `nowMs`, oldest first, of completed payments, by their end. */
export function dailyFlow(payments: readonly Payment[], nowMs: number, days: number): DayFlow[] {
  const byDay = Map.groupBy(payments, (one) => dayStart(one.finalized_at ?? one.created_at));
  return lastDays(nowMs, days).map((startMs) => ({
    startMs,
    ...sumOf((byDay.get(startMs) ?? []).map(flowOf)),
  }));
}

/** Returns what several flows are together. */
export function sumOf(flows: readonly Flow[]): Flow {
  return flows.reduce(
    (sum, { inMsat, outMsat }) => ({
      inMsat: sum.inMsat + inMsat,
      outMsat: sum.outMsat + outMsat,
    }),
    NOTHING,
  );
}

/** Returns the money that a payment has moved: none before it is completed. */
function flowOf({ direction, status, amount, fees }: Payment): Flow {
  if (status !== 'completed' || amount === null) return NOTHING;
  if (direction === 'inbound') return { inMsat: toMsat(amount), outMsat: 0n };
  const amountMsat = direction === 'outbound' ? toMsat(amount) : 0n;
  return { inMsat: 0n, outMsat: amountMsat + toMsat(fees) };
}

/** Payments that were made on one day. */
interface Day {
  /** The first millisecond of the day, in the time zone of this machine. */
  readonly startMs: number;
  readonly payments: readonly Payment[];
  /** What was completed of them; null where not all payments of the day are there. */
  readonly flow: Flow | null;
}

/** Returns payments, newest first, by the day on which they were made. With `isMore` the last day may have others. */
export function paymentDays(payments: readonly Payment[], isMore: boolean): Day[] {
  const days = [...Map.groupBy(payments, ({ created_at }) => dayStart(created_at))];
  return days.map(([startMs, ofDay], place) => ({
    startMs,
    payments: ofDay,
    flow: isMore && place === days.length - 1 ? null : sumOf(ofDay.map(flowOf)),
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
