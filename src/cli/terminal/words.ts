import type { Price } from '../../model/prices/price.ts';

/** Returns an amount of the API with thousands separators, such as `1,234,567.5`; `none` for null. */
export function grouped(amount: string | null, none = ''): string {
  if (amount === null) return none;
  const [whole = '', decimals] = amount.split('.');
  const separated = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return decimals === undefined ? separated : `${separated}.${decimals}`;
}

/** Returns {@link grouped} with the unit. */
export function sats(amount: string): string {
  return `${grouped(amount)} ${amount === '1' ? 'sat' : 'sats'}`;
}

/** Returns a price as it is typed, such as `12.50 EUR`. */
export function priceWords({ amount, currency }: Price): string {
  return `${amount} ${currency}`;
}

/**
 * Returns a time of the API (milliseconds since the epoch) in the time zone of the process, to the second and with the
 * zone's distance from UTC; `none` for null. With --utc that zone is UTC.
 */
export function moment(atMs: number | null, none = ''): string {
  return atMs === null ? none : `${localTime(atMs)}${zoneOf(atMs)}`;
}

/** Returns {@link moment} to the minute and without the zone, for columns of tables. */
export function minute(atMs: number | null, none = ''): string {
  return atMs === null ? none : localTime(atMs).slice(0, 'YYYY-MM-DD HH:MM'.length);
}

/** ISO 8601 without zone and with a space in the middle. */
function localTime(atMs: number): string {
  const shifted = new Date(atMs - new Date(atMs).getTimezoneOffset() * MS_PER_MINUTE);
  return shifted.toISOString().slice(0, 19).replace('T', ' ');
}

function zoneOf(atMs: number): string {
  const minutes = -new Date(atMs).getTimezoneOffset();
  if (minutes === 0) return 'Z';
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  const digits = [hours, rest].map((part) => String(part).padStart(2, '0')).join(':');
  return ` ${minutes < 0 ? '-' : '+'}${digits}`;
}

const MS_PER_MINUTE = 60_000;
