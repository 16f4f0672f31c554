/**
 * Returns when a client expires that is to work until the end of a day such as `2027-01-31`, in the time zone of this
 * machine, in milliseconds. It is never later than `latestMs`. An empty day stands for the latest, and null for never.
 */
export function endOfDayMs(day: string, latestMs: number | null): number | null {
  const [, year, month, date] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day) ?? [];
  if (date === undefined) return latestMs;
  const endMs = new Date(Number(year), Number(month) - 1, Number(date) + 1).getTime();
  return latestMs === null ? endMs : Math.min(endMs, latestMs);
}

/** By how much a client's life is renewed, in milliseconds: 30 days. */
const RENEWAL_MS = 30 * 86_400_000;

/**
 * Returns when a client that expires at `ms` expires after it was renewed: 30 days later, but not after `latestMs`.
 * Null where that is no later, and for a client that never expires.
 */
export function renewedMs(ms: number | null, latestMs: number | null): number | null {
  if (ms === null) return null;
  const laterMs = Math.min(ms + RENEWAL_MS, latestMs ?? Number.POSITIVE_INFINITY);
  return laterMs > ms ? laterMs : null;
}

/** Returns the last day on which something works that ends at `ms`, such as `2027-01-31`; empty for null. */
export function lastDay(ms: number | null): string {
  if (ms === null) return '';
  const last = new Date(ms - 1);
  const digits = (value: number, places: number) => String(value).padStart(places, '0');
  return `${digits(last.getFullYear(), 4)}-${digits(last.getMonth() + 1, 2)}-${digits(last.getDate(), 2)}`;
}
