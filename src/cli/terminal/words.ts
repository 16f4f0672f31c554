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

/** Returns a time of the API (milliseconds since the epoch) in UTC, to the second; `none` for null. */
export function moment(atMs: number | null, none = ''): string {
  return atMs === null ? none : `${new Date(atMs).toISOString().slice(0, 19).replace('T', ' ')}Z`;
}
